// The dual objective of the built-in losses at weights shrunk by tau.
#include "dispatch.h"
#include "row_tile.h"
#include "threads.h"

namespace DB_SPACE {

// Sums of the terms and of tau U, both without the own classes.
struct DualSum {
  double terms, mass;
};

template <int kLoss, int N, class Real>
class DualTile {
 public:
  DualTile(const DbLossRows& rows, Real tau)
      : rows_(rows),
        k_(rows.k),
        tau_(tau),
        tile_(k_, tile_rows(k_)),
        v_(tile_.size()),
        terms_(tile_.size()),
        in_(tile_.size()),
        unit_(tile_rows(k_)),
        scale_(tile_rows(k_)) {}

  DualSum sum(const Real* U, int64_t first, int32_t n) {
    shares(U, first, n);
    const int32_t size = registers<Real>(n * k_) * Register<Real>::kLanes;
    const Real* __restrict v = v_.get();
    Real* __restrict terms = terms_.get();
    for (int32_t i = 0; i < size; ++i) terms[i] = dual_term<kLoss>(v[i]);
    const double mass = tile_.weighted_sum(v, unit_.get(), n);
    double value = tile_.weighted_sum(terms, unit_.get(), n);
    if (kLoss == kMultinomial) value += own_terms(n);
    return {value, mass};
  }

 private:
  // v = tau U / c (c k for the multinomial loss), 0 at the own classes and in rows without weight.
  void shares(const Real* U, int64_t first, int32_t n) {
    const Real* c = static_cast<const Real*>(rows_.c) + first;
    std::memcpy(in_.get(), U + first * k_, static_cast<size_t>(n) * k_ * sizeof(Real));
    // Lanes after the last row are read too: values of an earlier tile there must not overflow.
    for (int j = 0; j < Register<Real>::kLanes; ++j) in_[n * k_ + j] = 0;
    for (int32_t i = 0; i < n; ++i) {
      unit_[i] = kLoss == kMultinomial ? c[i] * k_ : c[i];
      scale_[i] = unit_[i] > 0 ? tau_ / unit_[i] : 0;
    }
    tile_.scale_rows(in_.get(), scale_.get(), n, v_.get());
    if (rows_.labels == nullptr) return;
    for (int32_t i = 0; i < n; ++i) v_[tile_.row_at(i) + rows_.labels[first + i]] = 0;
  }

  // Multinomial loss: the own class holds the rest of the row.
  double own_terms(int32_t n) {
    for (int32_t i = 0; i < n; ++i) scale_[i] = tile_.row_sum(v_.get() + tile_.row_at(i));
    double sum = 0.0;
    for (int32_t i = 0; i < n; ++i)
      scale_[i] = unit_[i] * entropy_of(scale_[i] < 1 ? 1 - scale_[i] : Real(0));
    for (int32_t i = 0; i < n; ++i) sum -= scale_[i];
    return sum;
  }

  const DbLossRows& rows_;
  const int32_t k_;
  const Real tau_;
  RowTile<N, Real> tile_;
  Scratch<Real> v_, terms_, in_, unit_, scale_;
};

template <int kLoss, class Real>
DualSum dual_rows(const DbLossRows& rows, const Real* U, double tau, int64_t begin, int64_t end) {
  DualSum total{0.0, 0.0};
  const int32_t most = tile_rows(rows.k);
  with_registers<Real>(rows.k, [&](auto registers) {
    DualTile<kLoss, decltype(registers)::value, Real> tile(rows, static_cast<Real>(tau));
    for (int64_t first = begin; first < end; first += most) {
      const int64_t n = end - first < most ? end - first : most;
      const DualSum part = tile.sum(U, first, static_cast<int32_t>(n));
      total = {total.terms + part.terms, total.mass + part.mass};
    }
  });
  return total;
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(dual_parts)(DbTeam* team, const DbLossRows* rows, const void* U,
                                      int32_t real_bytes, double tau, double* terms, double* mass) {
  using namespace DB_SPACE;
  return status_of([&] {
    constexpr int64_t size = 4096;
    const int32_t pieces = static_cast<int32_t>((rows->m + size - 1) / size);
    Scratch<DualSum> sums(pieces);
    with_reals(real_bytes, [&](auto* real) {
      auto u = static_cast<decltype(real)>(U);
      share(team, pieces, [&](int32_t piece) {
        const int64_t begin = piece * size, end = begin + size < rows->m ? begin + size : rows->m;
        DualSum* sum = &sums[piece];
        with_loss(rows->loss, [&](auto loss) {
          *sum = dual_rows<decltype(loss)::value>(*rows, u, tau, begin, end);
        });
      });
    });
    DualSum total{0.0, 0.0};
    for (int32_t piece = 0; piece < pieces; ++piece)
      total = {total.terms + sums[piece].terms, total.mass + sums[piece].mass};
    *terms = total.terms;
    *mass = total.mass;
  });
}
