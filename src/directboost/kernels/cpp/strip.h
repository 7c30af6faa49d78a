// One vector register of numbers: eight floats or four doubles.
#pragma once

#include "common.h"

namespace DB_SPACE {

#if defined(__GNUC__)
template <class Real>
struct Strip {
  static constexpr int kLanes = 32 / sizeof(Real);
  typedef Real Value __attribute__((vector_size(32)));
  typedef Real Loose __attribute__((vector_size(32), aligned(sizeof(Real)), may_alias));
  Value x;
  static DB_INLINE Strip load(const Real* from) { return {*reinterpret_cast<const Loose*>(from)}; }
  DB_INLINE void store(Real* to) const { *reinterpret_cast<Loose*>(to) = x; }
  static DB_INLINE Strip all(Real value) { return {Value{} + value}; }
  DB_INLINE Strip operator+(Strip o) const { return {x + o.x}; }
  DB_INLINE Strip operator-(Strip o) const { return {x - o.x}; }
  DB_INLINE Strip operator*(Strip o) const { return {x * o.x}; }
  DB_INLINE Strip max(Strip o) const { return {x > o.x ? x : o.x}; }
#else
template <class Real>
struct Strip {
  static constexpr int kLanes = 32 / sizeof(Real);
  Real x[kLanes];
  template <class Function>
  static Strip each(Function f) {
    Strip out;
    for (int j = 0; j < kLanes; ++j) out.x[j] = f(j);
    return out;
  }
  static Strip load(const Real* from) {
    return each([&](int j) { return from[j]; });
  }
  void store(Real* to) const { std::memcpy(to, x, sizeof x); }
  static Strip all(Real value) {
    return each([&](int) { return value; });
  }
  Strip operator+(Strip o) const {
    return each([&](int j) { return x[j] + o.x[j]; });
  }
  Strip operator-(Strip o) const {
    return each([&](int j) { return x[j] - o.x[j]; });
  }
  Strip operator*(Strip o) const {
    return each([&](int j) { return x[j] * o.x[j]; });
  }
  Strip max(Strip o) const {
    return each([&](int j) { return x[j] > o.x[j] ? x[j] : o.x[j]; });
  }
#endif
  DB_INLINE Real sum() const {
    if constexpr (kLanes == 8)
      return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    else
      return (x[0] + x[2]) + (x[1] + x[3]);
  }
  DB_INLINE Real highest() const {
    Real top = x[0];
    for (int j = 1; j < kLanes; ++j) top = x[j] > top ? x[j] : top;
    return top;
  }
};

// How many of them hold n numbers.
template <class Real>
inline int32_t strips(int32_t n) {
  return (n + Strip<Real>::kLanes - 1) / Strip<Real>::kLanes;
}

// Calls f with the number of strips of a row as a constant where it is small (0: it is not).
template <class Real, class Function>
inline void with_strips(int32_t k, Function f) {
  switch (strips<Real>(k)) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    default: return f(std::integral_constant<int, 0>());
  }
}

}  // namespace DB_SPACE
