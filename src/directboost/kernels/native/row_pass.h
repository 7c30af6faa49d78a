// The fused pass of block descent over the rows, for one type of codes and one precision.
#pragma once

#include "losses.h"

namespace DB_SPACE {

// What the descent sees of a pass; it does not depend on the types of the data.
class Pass {
 public:
  virtual ~Pass() = default;

  // Adds change[code of feature `previous`] to the scores (previous < 0: nothing), evaluates the
  // loss there, and writes the sums of gradient and curvature by the codes of feature `next`
  // (next < 0: none). Features are positions in the working set. Returns the loss.
  virtual double run(int32_t previous, const double* change, int32_t next, double* G,
                     double* D) = 0;
};

template <class Code, class Real>
class RowPass final : public Pass {
 public:
  RowPass(const DbRows& rows, const DbEpoch& epoch, int32_t widest)
      : rows_(rows),
        epoch_(epoch),
        k_(rows.k),
        hist_(2 * static_cast<size_t>(widest) * k_),
        step_(static_cast<size_t>(widest) * k_),
        z_(static_cast<size_t>(kBlock) * k_),
        u_(static_cast<size_t>(kBlock) * k_),
        h_(static_cast<size_t>(kBlock) * k_) {
    if (logarithmic()) shift_ = highest_exponent();
  }

  double run(int32_t previous, const double* change, int32_t next, double* G,
             double* D) override {
    if (previous >= 0) {
      const size_t size = static_cast<size_t>(epoch_.n_bins[previous]) * k_;
      for (size_t i = 0; i < size; ++i) step_[i] = static_cast<Real>(change[i]);
    }
    if (next >= 0) {
      const size_t size = 2 * static_cast<size_t>(epoch_.n_bins[next]) * k_;
      std::memset(hist_.get(), 0, sizeof(Real) * size);
    }
    double loss = 0.0;
    Real top = -1e30f;
    with_width(k_, [&](auto width) {
      loss = over_rows<decltype(width)::value>(codes(previous), codes(next), &top);
    });
    return finish(loss, top, next, G, D);
  }

 private:
  bool logarithmic() const { return rows_.loss == kExponential && rows_.labels != nullptr; }

  const Code* codes(int32_t w) const {
    if (w < 0) return nullptr;
    return static_cast<const Code*>(epoch_.codes) +
           static_cast<size_t>(epoch_.features[w]) * rows_.m;
  }

  int32_t block_size(int64_t first) const {
    return static_cast<int32_t>(rows_.m - first < kBlock ? rows_.m - first : kBlock);
  }

  Real highest_exponent() {
    Real top = -1e30f;
    const Real* F = static_cast<const Real*>(epoch_.F);
    for (int64_t first = 0; first < rows_.m; first += kBlock) {
      const Real* f = F + first * k_;
      const Real high = negative_margins<0>(rows_, f, first, block_size(first), z_.get());
      top = high > top ? high : top;
    }
    return top;
  }

  template <int K>
  double over_rows(const Code* previous, const Code* next, Real* top) {
    Real* F = static_cast<Real*>(epoch_.F);
    const Real* c = static_cast<const Real*>(rows_.c);
    const LossBlock<Real> block{z_.get(), u_.get(), h_.get()};
    double loss = 0.0;
    for (int64_t first = 0; first < rows_.m; first += kBlock) {
      const int32_t n = block_size(first);
      Real* f = F + first * k_;
      if (previous != nullptr) add_change<K>(previous + first, n, f);
      const Real high = negative_margins<K>(rows_, f, first, n, z_.get());
      *top = high > *top ? high : *top;
      loss += loss_of_block<K>(rows_.loss, block, c + first, n, k_, shift_);
      if (next == nullptr) continue;
      to_scores<K>(rows_, c + first, first, n, u_.get(), h_.get());
      gather<K>(next + first, n);
    }
    return loss;
  }

  template <int K>
  void add_change(const Code* code, int32_t n, Real* f) {
    const size_t k = K > 0 ? K : k_;
    for (int32_t i = 0; i < n; ++i) add_row<K>(f + i * k, step_.get() + code[i] * k, k_);
  }

  template <int K>
  void gather(const Code* code, int32_t n) {
    const size_t k = K > 0 ? K : k_;
    for (int32_t i = 0; i < n; ++i) {
      Real* bin = hist_.get() + 2 * code[i] * k;
      add_row<K>(bin, u_.get() + i * k, k_);
      add_row<K>(bin + k, h_.get() + i * k, k_);
    }
  }

  // The log of the exponential loss divides everything by the sum; the next pass shifts by the
  // largest exponent seen in this one.
  double finish(double loss, Real top, int32_t next, double* G, double* D) {
    double scale = 1.0, value = loss;
    if (logarithmic()) {
      scale = 1.0 / loss;
      value = std::log(loss) + static_cast<double>(shift_);
      shift_ = top;
    }
    const size_t bins = next >= 0 ? static_cast<size_t>(epoch_.n_bins[next]) : 0;
    for (size_t t = 0; t < bins; ++t) {
      for (int32_t r = 0; r < k_; ++r) {
        G[t * k_ + r] = scale * hist_[2 * t * k_ + r];
        D[t * k_ + r] = scale * epoch_.damping * hist_[2 * t * k_ + k_ + r];
      }
    }
    return value;
  }

  const DbRows& rows_;
  const DbEpoch& epoch_;
  const int32_t k_;
  Scratch<Real> hist_, step_, z_, u_, h_;
  Real shift_ = 0;
};

}  // namespace DB_SPACE
