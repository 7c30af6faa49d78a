// Small pieces shared by the kernels of one instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "directboost.h"

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

// hist[code, :] += A[i, :] for every row, hist (n_bins, k). A compile-time width for few classes
// lets the compiler keep a row in registers.
template <int K, class Code, class Real>
inline void add_rows(const Code* codes, int64_t m, int32_t k, const Real* A, Real* hist) {
  const int32_t width = K > 0 ? K : k;
  for (int64_t i = 0; i < m; ++i) {
    Real* bin = hist + static_cast<size_t>(codes[i]) * width;
    const Real* row = A + i * width;
    for (int32_t r = 0; r < width; ++r) bin[r] += row[r];
  }
}

template <class Code, class Real>
inline void histogram_rows(const Code* codes, int64_t m, int32_t k, const Real* A, Real* hist) {
  switch (k) {
    case 2: return add_rows<2>(codes, m, k, A, hist);
    case 3: return add_rows<3>(codes, m, k, A, hist);
    case 4: return add_rows<4>(codes, m, k, A, hist);
    case 5: return add_rows<5>(codes, m, k, A, hist);
    case 6: return add_rows<6>(codes, m, k, A, hist);
    case 7: return add_rows<7>(codes, m, k, A, hist);
    case 8: return add_rows<8>(codes, m, k, A, hist);
    case 10: return add_rows<10>(codes, m, k, A, hist);
    default: return add_rows<0>(codes, m, k, A, hist);
  }
}

}  // namespace DB_SPACE
