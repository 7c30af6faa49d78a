// Eight numbers at a time: rows of classes are padded to a multiple of eight, so that loops over
// classes have no remainder and a row of up to 32 classes stays in registers.
#pragma once

#include "common.h"

namespace DB_SPACE {

constexpr int kLanes = 8;

inline int32_t padded(int32_t k) { return (k + kLanes - 1) / kLanes * kLanes; }

#if defined(__GNUC__)
template <class Real>
struct Lanes {
  typedef Real Vector __attribute__((vector_size(kLanes * sizeof(Real)), aligned(sizeof(Real)),
                                     may_alias));
  typedef Real Value __attribute__((vector_size(kLanes * sizeof(Real))));
  Value x;
  static DB_INLINE Lanes load(const Real* from) {
    return {*reinterpret_cast<const Vector*>(from)};
  }
  DB_INLINE void store(Real* to) const { *reinterpret_cast<Vector*>(to) = x; }
  static DB_INLINE Lanes all(Real v) { return {Value{v, v, v, v, v, v, v, v}}; }
  DB_INLINE Lanes operator+(Lanes o) const { return {x + o.x}; }
  DB_INLINE Lanes operator-(Lanes o) const { return {x - o.x}; }
  DB_INLINE Lanes operator*(Lanes o) const { return {x * o.x}; }
  DB_INLINE Real sum() const {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
  }
};
#else
template <class Real>
struct Lanes {
  Real x[kLanes];
  static Lanes load(const Real* from) {
    Lanes out;
    for (int j = 0; j < kLanes; ++j) out.x[j] = from[j];
    return out;
  }
  void store(Real* to) const {
    for (int j = 0; j < kLanes; ++j) to[j] = x[j];
  }
  static Lanes all(Real value) {
    Lanes out;
    for (int j = 0; j < kLanes; ++j) out.x[j] = value;
    return out;
  }
  Lanes operator+(Lanes o) const {
    for (int j = 0; j < kLanes; ++j) o.x[j] = x[j] + o.x[j];
    return o;
  }
  Lanes operator-(Lanes o) const {
    for (int j = 0; j < kLanes; ++j) o.x[j] = x[j] - o.x[j];
    return o;
  }
  Lanes operator*(Lanes o) const {
    for (int j = 0; j < kLanes; ++j) o.x[j] = x[j] * o.x[j];
    return o;
  }
  Real sum() const {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
  }
};
#endif

// Calls f with the number of vectors of a row as a constant where it is small (0: it is not).
template <class Function>
inline void with_vectors(int32_t k, Function f) {
  switch (padded(k) / kLanes) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    default: return f(std::integral_constant<int, 0>());
  }
}

// into += from, both of `n` vectors.
template <int N, class Real>
DB_INLINE void add_vectors(Real* into, const Real* from, int32_t n) {
  using V = Lanes<Real>;
  if constexpr (N > 0) {
    V sum[N];
    for (int v = 0; v < N; ++v) sum[v] = V::load(into + v * kLanes) + V::load(from + v * kLanes);
    for (int v = 0; v < N; ++v) sum[v].store(into + v * kLanes);
  } else {
    for (int32_t v = 0; v < n; ++v)
      (V::load(into + v * kLanes) + V::load(from + v * kLanes)).store(into + v * kLanes);
  }
}

}  // namespace DB_SPACE
