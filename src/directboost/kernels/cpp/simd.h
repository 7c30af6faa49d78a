// Vectors of numbers, and sums of rows of numbers.
#pragma once

#include <cstddef>
#include <cstring>

#include "directboost.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define DB_SHUFFLES 1
#endif
#endif
#ifndef DB_SHUFFLES
#define DB_SHUFFLES 0
#endif

#if defined(__GNUC__)
#define DB_INLINE inline __attribute__((always_inline))
#else
#define DB_INLINE inline
#endif

namespace DB_SPACE {

// N numbers at a time, read from and written to any address.
template <class Real, int N>
struct Vector {
  static constexpr int kLanes = N;
#if defined(__GNUC__)
  typedef Real Value __attribute__((vector_size(N * sizeof(Real))));
  typedef Real Loose __attribute__((vector_size(N * sizeof(Real)), aligned(sizeof(Real)),
                                    may_alias));
  Value x;
  static DB_INLINE Vector load(const Real* from) { return {*reinterpret_cast<const Loose*>(from)}; }
  DB_INLINE void store(Real* to) const { *reinterpret_cast<Loose*>(to) = x; }
  static DB_INLINE Vector all(Real value) { return {value - Value{}}; }
  DB_INLINE Vector operator+(Vector o) const { return {x + o.x}; }
  DB_INLINE Vector operator-(Vector o) const { return {x - o.x}; }
  DB_INLINE Vector operator*(Vector o) const { return {x * o.x}; }
  DB_INLINE Vector max(Vector o) const { return {x > o.x ? x : o.x}; }
#else
  Real x[N];
  template <class Function>
  static Vector each(Function f) {
    Vector out;
    for (int j = 0; j < N; ++j) out.x[j] = f(j);
    return out;
  }
  static Vector load(const Real* from) {
    return each([&](int j) { return from[j]; });
  }
  void store(Real* to) const { std::memcpy(to, x, sizeof x); }
  static Vector all(Real value) {
    return each([&](int) { return value; });
  }
  Vector operator+(Vector o) const {
    return each([&](int j) { return x[j] + o.x[j]; });
  }
  Vector operator-(Vector o) const {
    return each([&](int j) { return x[j] - o.x[j]; });
  }
  Vector operator*(Vector o) const {
    return each([&](int j) { return x[j] * o.x[j]; });
  }
  Vector max(Vector o) const {
    return each([&](int j) { return x[j] > o.x[j] ? x[j] : o.x[j]; });
  }
#endif
  DB_INLINE Real sum() const {
    static_assert(N == 4 || N == 8, "the order of the additions is written out");
#if DB_SHUFFLES
    if constexpr (N == 8) {  // the same additions, on halves and quarters of the vector
      const Value half = x + __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7);
      const Value quarter = half + __builtin_shufflevector(half, half, 2, 3, 2, 3, 2, 3, 2, 3);
      return quarter[0] + quarter[1];
    }
#endif
    if constexpr (N == 8)
      return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    else
      return (x[0] + x[2]) + (x[1] + x[3]);
  }
  DB_INLINE Real highest() const {
    Real top = x[0];
    for (int j = 1; j < N; ++j) top = x[j] > top ? x[j] : top;
    return top;
  }
};

// Eight doubles are two registers of four: compilers spill vectors of 64 bytes if registers have 32.
template <>
struct Vector<double, 8> {
  using Half = Vector<double, 4>;
  static constexpr int kLanes = 8;
  Half low, high;
  static DB_INLINE Vector load(const double* from) {
    return {Half::load(from), Half::load(from + 4)};
  }
  DB_INLINE void store(double* to) const { low.store(to), high.store(to + 4); }
  static DB_INLINE Vector all(double value) { return {Half::all(value), Half::all(value)}; }
  DB_INLINE Vector operator+(Vector o) const { return {low + o.low, high + o.high}; }
  DB_INLINE Vector operator-(Vector o) const { return {low - o.low, high - o.high}; }
  DB_INLINE Vector operator*(Vector o) const { return {low * o.low, high * o.high}; }
  DB_INLINE Vector max(Vector o) const { return {low.max(o.low), high.max(o.high)}; }
  DB_INLINE double sum() const { return (low + high).sum(); }
  DB_INLINE double highest() const { return low.max(high).highest(); }
};

// Eight numbers. Rows of classes that are padded to a multiple of eight leave no remainder, and a
// row of up to 32 classes stays in registers.
constexpr int kRowLanes = 8;
template <class Real>
using RowVector = Vector<Real, kRowLanes>;

inline int32_t padded(int32_t k) { return (k + kRowLanes - 1) / kRowLanes * kRowLanes; }

// One register of 32 bytes: eight floats or four doubles. For rows that are not padded.
template <class Real>
using Register = Vector<Real, 32 / sizeof(Real)>;

// Number of registers that hold n numbers.
template <class Real>
inline int32_t registers(int32_t n) {
  return (n + Register<Real>::kLanes - 1) / Register<Real>::kLanes;
}

// into += from, both of `n` row vectors. N is n where it is known to the compiler, else 0.
template <int N, class Real>
DB_INLINE void add_vectors(Real* into, const Real* from, int32_t n) {
  using V = RowVector<Real>;
  if constexpr (N > 0) {
    V sum[N];
    for (int v = 0; v < N; ++v)
      sum[v] = V::load(into + v * kRowLanes) + V::load(from + v * kRowLanes);
    for (int v = 0; v < N; ++v) sum[v].store(into + v * kRowLanes);
  } else {
    for (int32_t v = 0; v < n; ++v)
      (V::load(into + v * kRowLanes) + V::load(from + v * kRowLanes)).store(into + v * kRowLanes);
  }
}

// into[r] += from[r]. All loads precede the stores, so the compiler can assume that the two arrays
// do not overlap, which is 2 to 4 times faster.
template <int K, class Real, class Other>
DB_INLINE void add_block(Real* into, const Other* from) {
  Real sum[K];
  for (int r = 0; r < K; ++r) sum[r] = into[r] + static_cast<Real>(from[r]);
  for (int r = 0; r < K; ++r) into[r] = sum[r];
}

// The same for k numbers. K is k where it is known to the compiler, else 0.
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
