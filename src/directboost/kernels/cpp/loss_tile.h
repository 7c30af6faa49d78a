// The loss of a tile of rows, and its derivatives.
#pragma once

#include "row_tile.h"

namespace DB_SPACE {

// Input scores F + step * change, and the output arrays (null: not wanted).
template <class Real>
struct LossArrays {
  const Real* F;
  const Real* change;
  Real step;
  Real* moved;
  Real* U;
  Real* A;
  Real* C;
  bool full() const { return U != nullptr || A != nullptr || C != nullptr; }
};

template <int N, class Real>
class LossTile {
 public:
  explicit LossTile(const DbLossRows& rows)
      : rows_(rows),
        k_(rows.k),
        tile_(k_, tile_rows(k_)),
        z_(tile_.size()),
        u_(tile_.size()),
        h_(tile_.size()),
        unit_(tile_rows(k_)),
        row_(tile_rows(k_)),
        top_(tile_rows(k_)) {}

  // Loads n rows starting at `first`: z = -rho, which is F_r - F_y (labels) or -t_r F_r (targets).
  void load(const LossArrays<Real>& a, int64_t first, int32_t n) {
    first_ = first;
    n_ = n;
    size_ = registers<Real>(n * k_) * kLanes;
    const Real* c = static_cast<const Real*>(rows_.c) + first;
    const Real factor = rows_.loss == kMultinomial ? static_cast<Real>(k_) : 1;
    for (int32_t i = 0; i < n; ++i) unit_[i] = c[i] * factor;
    read_scores(a);
    if (rows_.labels != nullptr) {
      pairwise_margins();
    } else {
      const int8_t* t = rows_.targets + offset();
      for (int32_t i = 0; i < n_ * k_; ++i) z_[i] = -t[i] * u_[i];
    }
    // Lanes after the last row have no weight, but must not hold the highest entry.
    for (int32_t i = n_ * k_; i < size_; ++i) z_[i] = z_[0];
  }

  // Largest entry of z, for the exponential loss.
  Real highest() const {
    V top = V::load(z_.get());
    for (int32_t i = kLanes; i < size_; i += kLanes) top = top.max(V::load(z_.get() + i));
    return top.highest();
  }

  // Weighted sum of the loss over the rows. With kFull u and h are ready for `write`.
  template <bool kFull>
  double value(Real shift) {
    Real *z = z_.get(), *u = u_.get(), *h = h_.get();
    if (rows_.loss == kMultinomial) return multinomial<kFull>();
    loss_entries<kFull>(rows_.loss, size_, shift, z, u, h);
    return tile_.weighted_sum(z, unit_.get(), n_);
  }

  // U, A = -dL/dF and the diagonal curvature C in F. Pairwise, class y_i gets the sum of the
  // others.
  void write(const LossArrays<Real>& a) {
    const Real along = rows_.labels != nullptr ? -1 : 1;
    if (rows_.labels != nullptr) {
      set_own_apart();
      if (a.U != nullptr) write_with_own(u_.get(), 1, a.U + offset());
    } else {
      if (a.U != nullptr) tile_.write_rows(u_.get(), unit_.get(), 1, n_, a.U + offset());
      const int8_t* t = rows_.targets + offset();
      for (int32_t i = 0; i < n_ * k_; ++i) u_[i] *= t[i];
    }
    if (a.A != nullptr) write_with_sums(u_.get(), along, a.A + offset());
    if (a.C != nullptr) write_with_sums(h_.get(), 1, a.C + offset());
  }

 private:
  using V = Register<Real>;
  static constexpr int kLanes = V::kLanes;

  size_t offset() const { return static_cast<size_t>(first_) * k_; }
  const int32_t* labels() const { return rows_.labels + first_; }

  // The scores use the memory of u until u is computed.
  void read_scores(const LossArrays<Real>& a) {
    const int32_t size = n_ * k_;
    Real* __restrict scores = u_.get();
    const Real* F = a.F + offset();
    if (a.change != nullptr) {
      const Real* change = a.change + offset();
      for (int32_t i = 0; i < size; ++i) scores[i] = F[i] + a.step * change[i];
    } else {
      std::memcpy(scores, F, size * sizeof(Real));
    }
    if (a.moved != nullptr) std::memcpy(a.moved + offset(), scores, size * sizeof(Real));
    for (int j = 0; j < kLanes; ++j) scores[size + j] = 0;
  }

  // For the multinomial loss the largest entry is subtracted from z.
  void pairwise_margins() {
    for (int32_t i = 0; i < n_; ++i) {
      const Real* scores = u_.get() + tile_.row_at(i);
      V own = V::all(scores[labels()[i]]);
      if (rows_.loss == kMultinomial) {
        top_[i] = row_top(scores, own);
        own = own + V::all(top_[i]);
      }
      Real* z = z_.get() + tile_.row_at(i);
      for (int32_t v = 0; v < tile_.vectors; ++v)
        (V::load(scores + v * kLanes) - own).store(z + v * kLanes);
    }
  }

  // Largest difference of an entry of a row to the own one; at least 0.
  DB_INLINE Real row_top(const Real* scores, V own) const {
    V top = V::all(0);
    for (int32_t v = 0; v < tile_.vectors; ++v)
      top = top.max(tile_.keep(V::load(scores + v * kLanes) - own, v));
    return top.highest();
  }

  // The loss is top + log sum e^z, u = p and h = p (1 - p) with p = e^z / sum.
  template <bool kFull>
  double multinomial() {
    Real *u = u_.get(), *h = h_.get();
    exponential_entries<false, Real>(size_, 0, z_.get(), u, h);
    for (int32_t i = 0; i < n_; ++i) row_[i] = tile_.row_sum(z_.get() + tile_.row_at(i));
    for (int32_t i = 0; i < n_; ++i) top_[i] = unit_[i] * (top_[i] + log_of(row_[i]));
    double loss = 0.0;
    for (int32_t i = 0; i < n_; ++i) loss += top_[i];
    if (kFull) {
      for (int32_t i = 0; i < n_; ++i) row_[i] = 1 / row_[i];
      tile_.scale_rows(z_.get(), row_.get(), n_, u);
      for (int32_t i = 0; i < size_; ++i) h[i] = u[i] * (1 - u[i]);
    }
    return loss;
  }

  // Moves the entries of the own classes out of u, and sets those of h to zero.
  void set_own_apart() {
    for (int32_t i = 0; i < n_; ++i) {
      const size_t own = tile_.row_at(i) + labels()[i];
      row_[i] = unit_[i] * u_[own];
      u_[own] = h_[own] = 0;
    }
  }

  void write_with_own(const Real* from, Real sign, Real* to) {
    tile_.write_rows(from, unit_.get(), sign, n_, to);
    for (int32_t i = 0; i < n_; ++i) to[tile_.row_at(i) + labels()[i]] = row_[i];
  }

  void write_with_sums(const Real* from, Real sign, Real* to) {
    tile_.write_rows(from, unit_.get(), sign, n_, to);
    if (rows_.labels == nullptr) return;
    for (int32_t i = 0; i < n_; ++i)
      to[tile_.row_at(i) + labels()[i]] = unit_[i] * tile_.row_sum(from + tile_.row_at(i));
  }

  const DbLossRows& rows_;
  const int32_t k_;
  RowTile<N, Real> tile_;
  Scratch<Real> z_, u_, h_, unit_, row_, top_;
  int64_t first_ = 0;
  int32_t n_ = 0, size_ = 0;
};

}  // namespace DB_SPACE
