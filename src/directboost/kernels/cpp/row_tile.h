// A few rows of the loss whose numbers all stay in the first-level cache.
//
// Rows of k entries lie one after the other. Operations on entries run over the whole tile as one
// vector loop. Operations on rows (own classes, weights, sums) also use whole vectors: the last
// vector of a row reaches into the next row, which is written later and overwrites the excess.
#pragma once

#include "losses.h"
#include "scratch.h"
#include "simd.h"

namespace DB_SPACE {

// Rows of a tile of about a thousand entries.
inline int32_t tile_rows(int32_t k) { return k < 8 ? 128 : (k < 256 ? 1024 / k : 4); }

// N: vectors of a row, or 0 if the compiler does not know it.
template <int N, class Real>
class RowTile {
 public:
  using V = Register<Real>;
  static constexpr int kLanes = V::kLanes;

  RowTile(int32_t classes, int32_t n)
      : k(classes), vectors(N > 0 ? N : registers<Real>(classes)), spare_(classes + kLanes) {
    for (int j = 0; j < kLanes; ++j) mask_[j] = j < k - (vectors - 1) * kLanes ? 1 : 0;
    size_ = static_cast<size_t>(n) * k + 2 * kLanes;
  }

  // Size of the arrays for the entries of a tile.
  size_t size() const { return size_; }

  // Vector v of a row, with zeros for the entries of the next row.
  DB_INLINE V keep(V x, int32_t v) const { return v + 1 == vectors ? x * V::load(mask_) : x; }

  DB_INLINE V part(const Real* row, int32_t v) const { return keep(V::load(row + v * kLanes), v); }

  DB_INLINE Real row_sum(const Real* row) const {
    V sum = part(row, 0);
    for (int32_t v = 1; v < vectors; ++v) sum = sum + part(row, v);
    return sum.sum();
  }

  // Sum of all entries, those of row i times weights[i].
  double weighted_sum(const Real* entries, const Real* weights, int32_t n) const {
    V sum = V::all(0);
    for (int32_t i = 0; i < n; ++i) {
      V row = part(entries + row_at(i), 0);
      for (int32_t v = 1; v < vectors; ++v) row = row + part(entries + row_at(i), v);
      sum = sum + V::all(weights[i]) * row;
    }
    return static_cast<double>(sum.sum());
  }

  // to = from, row i times factors[i]; `to` has spare memory after its last row.
  void scale_rows(const Real* from, const Real* factors, int32_t n, Real* to) const {
    for (int32_t i = 0; i < n; ++i) scale_row(from, V::all(factors[i]), i, to + row_at(i));
  }

  // The same times `sign`, into an array without spare memory: the last rows use a buffer.
  void write_rows(const Real* from, const Real* factors, Real sign, int32_t n, Real* to) {
    const int32_t reach = (vectors * kLanes + k - 1) / k, safe = n > reach ? n - reach + 1 : 0;
    for (int32_t i = 0; i < safe; ++i)
      scale_row(from, V::all(sign * factors[i]), i, to + row_at(i));
    for (int32_t i = safe; i < n; ++i) {
      scale_row(from, V::all(sign * factors[i]), i, spare_.get());
      std::memcpy(to + row_at(i), spare_.get(), k * sizeof(Real));
    }
  }

  size_t row_at(int32_t i) const { return static_cast<size_t>(i) * k; }

  const int32_t k, vectors;

 private:
  DB_INLINE void scale_row(const Real* from, V factor, int32_t i, Real* to) const {
    for (int32_t v = 0; v < vectors; ++v)
      (factor * V::load(from + row_at(i) + v * kLanes)).store(to + v * kLanes);
  }

  Scratch<Real> spare_;
  Real mask_[kLanes];
  size_t size_;
};

}  // namespace DB_SPACE
