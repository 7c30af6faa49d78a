// Small pieces shared by the kernels of one instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "directboost.h"

#if defined(__GNUC__)
#define DB_INLINE inline __attribute__((always_inline))
#else
#define DB_INLINE inline
#endif

namespace DB_SPACE {

// Scratch memory. Not std::vector: a template of the standard library compiled for a new processor
// could be picked by the linker for the old one as well.
template <class T>
class Scratch {
 public:
  explicit Scratch(size_t n) : data_(static_cast<T*>(std::calloc(n ? n : 1, sizeof(T)))) {}
  ~Scratch() { std::free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() { return data_; }
  const T* get() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_;
};

// Calls f with a typed null pointer for the code type, so that one switch serves all kernels.
template <class Function>
inline void with_codes(int32_t code_bytes, Function f) {
  if (code_bytes == 1) {
    f(static_cast<const uint8_t*>(nullptr));
  } else if (code_bytes == 2) {
    f(static_cast<const uint16_t*>(nullptr));
  } else {
    f(static_cast<const uint32_t*>(nullptr));
  }
}

template <class Function>
inline void with_types(int32_t code_bytes, int32_t real_bytes, Function f) {
  with_codes(code_bytes, [&](auto* code) {
    if (real_bytes == 4) {
      f(code, static_cast<const float*>(nullptr));
    } else {
      f(code, static_cast<const double*>(nullptr));
    }
  });
}

// Calls f with the number of classes as a compile-time constant where it is small (0: it is not),
// so that the compiler keeps a row in registers.
template <class Function>
inline void with_width(int32_t k, Function f) {
  switch (k) {
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    case 5: return f(std::integral_constant<int, 5>());
    case 6: return f(std::integral_constant<int, 6>());
    case 7: return f(std::integral_constant<int, 7>());
    case 8: return f(std::integral_constant<int, 8>());
    case 9: return f(std::integral_constant<int, 9>());
    case 10: return f(std::integral_constant<int, 10>());
    case 11: return f(std::integral_constant<int, 11>());
    case 12: return f(std::integral_constant<int, 12>());
    case 16: return f(std::integral_constant<int, 16>());
    default: return f(std::integral_constant<int, 0>());
  }
}

// into[r] += from[r]. All loads come before the stores: the compiler need not fear that the two
// overlap, which makes it 2 to 4 times faster.
template <int K, class Real, class Other>
DB_INLINE void add_block(Real* into, const Other* from) {
  Real sum[K];
  for (int r = 0; r < K; ++r) sum[r] = into[r] + static_cast<Real>(from[r]);
  for (int r = 0; r < K; ++r) into[r] = sum[r];
}

// How many jumps a feature of a kind has; see BinnedData.
inline int32_t count_jumps(int32_t n_bins, uint8_t kind) {
  if (n_bins < 2) return 0;
  if (kind == DB_LEVELS) return n_bins;
  return n_bins - 1 + (kind == DB_GAPS ? n_bins - 2 : 0);
}

template <int K, class Real, class Other>
DB_INLINE void add_row(Real* into, const Other* from, int32_t k) {
  if constexpr (K > 0) {
    add_block<K>(into, from);
  } else {
    int32_t r = 0;
    for (; r + 8 <= k; r += 8) add_block<8>(into + r, from + r);
    for (; r + 2 <= k; r += 2) add_block<2>(into + r, from + r);
    for (; r < k; ++r) into[r] += static_cast<Real>(from[r]);
  }
}

}  // namespace DB_SPACE
