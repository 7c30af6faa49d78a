// The quadratic model of the loss on a few rows: its second derivative, row by row, and the pass
// that keeps H dF up to date while the tables of the features change.
#pragma once

#include "common.h"
#include "team.h"

namespace DB_SPACE {

// How the classes of one row are coupled in the second derivative of the loss in F.
enum Coupling : int32_t {
  kDiagonal = 0,  // one-vs-all: h_r d_r
  kPairs = 1,     // pairwise, one term per margin: h_r (d_r - d_y), class y gets minus the sum
  kSimplex = 2    // w p_r (d_r - sum_l p_l d_l): soft maxima
};

// Sum of k numbers in a fixed order that leaves eight independent chains.
template <int K, class Real>
DB_INLINE Real sum_of(const Real* x, int32_t width) {
  const int32_t k = K > 0 ? K : width;
  Real lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int32_t r = 0;
  for (; r + 8 <= k; r += 8)
    for (int j = 0; j < 8; ++j) lane[j] += x[r + j];
  for (int j = 0; r + j < k; ++j) lane[j] += x[r + j];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// The second derivative of the model: one record per row.
template <class Real>
class RowCurvature {
 public:
  explicit RowCurvature(const DbModel& model)
      : k_(model.k),
        coupling_(model.coupling),
        labels_(model.labels),
        h_(static_cast<const Real*>(model.H)),
        weight_(static_cast<const Real*>(model.weight)) {}

  int32_t coupling() const { return coupling_; }

  // out = H_i d, and sizes[r] += the terms of d' H_i d. `out` and `d` must not overlap.
  template <int K, int kCoupling>
  DB_INLINE void apply(int64_t i, const Real* __restrict d, Real* __restrict out,
             Real* __restrict sizes) const {
    const int32_t k = K > 0 ? K : k_;
    const Real* __restrict h = h_ + i * k;
    if constexpr (kCoupling == kDiagonal) {
      for (int32_t r = 0; r < k; ++r) out[r] = h[r] * d[r];
      for (int32_t r = 0; r < k; ++r) sizes[r] += out[r] * d[r];
    } else if constexpr (kCoupling == kPairs) {
      const int32_t own = labels_[i];
      const Real base = d[own];
      for (int32_t r = 0; r < k; ++r) out[r] = h[r] * (d[r] - base);
      for (int32_t r = 0; r < k; ++r) sizes[r] += out[r] * (d[r] - base);
      out[own] -= sum_of<K>(out, k);
    } else {
      for (int32_t r = 0; r < k; ++r) out[r] = h[r] * d[r];
      const Real mean = sum_of<K>(out, k), w = weight_[i];
      for (int32_t r = 0; r < k; ++r) out[r] = w * h[r] * (d[r] - mean);
      for (int32_t r = 0; r < k; ++r) sizes[r] += out[r] * d[r];
    }
  }

 private:
  int32_t k_, coupling_;
  const int32_t* labels_;
  const Real *h_, *weight_;
};

// Calls f with the coupling as a constant.
template <class Function>
inline void with_coupling(int32_t coupling, Function f) {
  switch (coupling) {
    case kDiagonal: return f(std::integral_constant<int, kDiagonal>());
    case kPairs: return f(std::integral_constant<int, kPairs>());
    default: return f(std::integral_constant<int, kSimplex>());
  }
}

constexpr int64_t kModelRows = 2048;  // rows per piece

inline int32_t model_pieces(int64_t n) {
  return static_cast<int32_t>((n + kModelRows - 1) / kModelRows);
}

// What the descent sees of a pass; it does not depend on the types of the data.
class Pass {
 public:
  virtual ~Pass() = default;

  // Adds H dF of the change (n_bins, k) of feature `previous` to Q (previous < 0: nothing), and
  // writes the sums of Q by the codes of feature `next` (next < 0: none). Features are positions
  // in the working set. Returns the curvature dF' H dF of the change.
  virtual double run(int32_t previous, const double* change, int32_t next, double* sums) = 0;
};

template <class Code, class Real>
class ModelPass final : public Pass {
 public:
  ModelPass(DbTeam* team, const DbModel& model, int32_t widest)
      : team_(team),
        model_(model),
        curvature_(model),
        k_(model.k),
        pieces_(model_pieces(model.n)),
        table_(static_cast<size_t>(widest) * k_),
        step_(table_),
        hist_(table_ * pieces_),
        sizes_(static_cast<size_t>(pieces_) * k_) {}

  double run(int32_t previous, const double* change, int32_t next, double* sums) override {
    if (previous >= 0) {
      const size_t size = static_cast<size_t>(model_.n_bins[previous]) * k_;
      for (size_t i = 0; i < size; ++i) step_[i] = static_cast<Real>(change[i]);
    }
    with_width(k_, [&](auto width) {
      with_coupling(curvature_.coupling(), [&](auto coupling) {
        share(team_, pieces_, [&](int32_t piece) {
          over_rows<decltype(width)::value, decltype(coupling)::value>(piece, codes(previous), next,
                                                                       codes(next));
        });
      });
    });
    if (next >= 0) add_pieces(static_cast<size_t>(model_.n_bins[next]) * k_, sums);
    if (previous < 0) return 0.0;
    double curvature = 0.0;
    for (size_t i = 0; i < static_cast<size_t>(pieces_) * k_; ++i) curvature += sizes_[i];
    return curvature;
  }

 private:
  const Code* codes(int32_t w) const {
    if (w < 0) return nullptr;
    return static_cast<const Code*>(model_.codes) + static_cast<size_t>(model_.rows[w]) * model_.n;
  }

  template <int K, int kCoupling>
  void over_rows(int32_t piece, const Code* previous, int32_t next, const Code* codes) {
    const size_t k = K > 0 ? K : k_;
    const int64_t begin = piece * kModelRows;
    const int64_t end = begin + kModelRows < model_.n ? begin + kModelRows : model_.n;
    Real* Q = static_cast<Real*>(model_.Q);
    Real* hist = hist_.get() + piece * table_;
    if (next >= 0)
      std::memset(hist, 0, sizeof(Real) * static_cast<size_t>(model_.n_bins[next]) * k);
    if (previous == nullptr) {
      for (int64_t i = begin; i < end; ++i) add_row<K>(hist + codes[i] * k, Q + i * k, k_);
      return;
    }
    Real small[K > 0 ? 2 * K : 1];
    Scratch<Real> large(K > 0 ? 0 : 2 * k);
    Real* image = K > 0 ? small : large.get();
    Real* sizes = image + k;
    for (size_t r = 0; r < k; ++r) sizes[r] = 0;
    const Real* step = step_.get();
    for (int64_t i = begin; i < end; ++i) {
      curvature_.template apply<K, kCoupling>(i, step + previous[i] * k, image, sizes);
      Real* q = Q + i * k;
      add_row<K>(q, image, k_);
      if (next >= 0) add_row<K>(hist + codes[i] * k, q, k_);
    }
    for (size_t r = 0; r < k; ++r) sizes_[piece * k + r] = sizes[r];
  }

  void add_pieces(size_t size, double* sums) const {
    for (size_t i = 0; i < size; ++i) sums[i] = hist_[i];
    for (int32_t piece = 1; piece < pieces_; ++piece) {
      const Real* hist = hist_.get() + piece * table_;
      for (size_t i = 0; i < size; ++i) sums[i] += hist[i];
    }
  }

  DbTeam* team_;
  const DbModel& model_;
  const RowCurvature<Real> curvature_;
  const int32_t k_, pieces_;
  const size_t table_;
  Scratch<Real> step_, hist_, sizes_;
};

}  // namespace DB_SPACE
