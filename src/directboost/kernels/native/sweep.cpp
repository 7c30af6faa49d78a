// Block descent: one fused pass over the rows per feature, one block solve per pass.
#include "block.h"
#include "losses.h"

namespace DB_SPACE {

constexpr double kLargestStep = 2.0;  // cap on the change of a score in one block
constexpr int kHalvings = 8;
// A step counts where the objective falls by this share of what the quadratic model promised:
// without it a model with half the true curvature steps back and forth for ever.
constexpr double kEnough = 1e-3;

// Blocks this easy get one full sweep and few segment sweeps.
constexpr int32_t kFewBins = 64, kFewLive = 10, kFewSweeps = 5;

template <class Code, class Real, class Norm>
class Descent {
 public:
  Descent(const DbRows& rows, const DbEpoch& epoch)
      : rows_(rows),
        epoch_(epoch),
        k_(rows.k),
        widest_(widest(epoch)),
        solver_(widest_, rows.k),
        hist_(2 * static_cast<size_t>(widest_) * k_),
        G_(static_cast<size_t>(widest_) * k_),
        D_(static_cast<size_t>(widest_) * k_),
        change_(static_cast<size_t>(widest_) * k_),
        step_(static_cast<size_t>(widest_) * k_),
        old_(2 * static_cast<size_t>(widest_) * k_),
        new_(2 * static_cast<size_t>(widest_) * k_),
        z_(static_cast<size_t>(kBlock) * k_),
        u_(static_cast<size_t>(kBlock) * k_),
        h_(static_cast<size_t>(kBlock) * k_) {}

  int32_t run(double* objective) {
    loss_ = objective[0];
    penalty_ = objective[1];
    if (logarithmic()) shift_ = highest_exponent();
    for (int32_t w = 0; w <= epoch_.n_work; ++w) {
      int32_t next = w < epoch_.n_work ? w : -1;
      pass(next);
      if (w > 0) check_step(w - 1, next);
      else loss_ = seen_;
      if (next >= 0) solve(w);
    }
    objective[0] = loss_;
    objective[1] = penalty_;
    return halvings_;
  }

 private:
  static int32_t widest(const DbEpoch& epoch) {
    int32_t n = 2;
    for (int32_t w = 0; w < epoch.n_work; ++w) n = epoch.n_bins[w] > n ? epoch.n_bins[w] : n;
    return n;
  }

  bool logarithmic() const { return rows_.loss == kExponential && rows_.labels != nullptr; }

  const Code* codes(int32_t w) const {
    return static_cast<const Code*>(epoch_.codes) +
           static_cast<size_t>(epoch_.features[w]) * rows_.m;
  }

  size_t jump_count(int32_t w) const {
    const int32_t n = epoch_.n_bins[w];
    return n < 2 ? 0 : static_cast<size_t>(n - 1 + (epoch_.missing[w] ? n - 2 : 0));
  }

  Real highest_exponent() {
    Real top = -1e30f;
    const Real* F = static_cast<const Real*>(epoch_.F);
    for (int64_t first = 0; first < rows_.m; first += kBlock) {
      const int32_t n = static_cast<int32_t>(rows_.m - first < kBlock ? rows_.m - first : kBlock);
      const Real high = negative_margins(rows_, F + first * k_, first, n, z_.get());
      top = high > top ? high : top;
    }
    return top;
  }

  // One pass: adds the pending change of the previous feature to F, evaluates the loss there, and
  // gathers gradient and curvature by the codes of feature `next` (-1: none).
  void pass(int32_t next) {
    Real* F = static_cast<Real*>(epoch_.F);
    const Real* c = static_cast<const Real*>(rows_.c);
    const Code* previous = pending_ >= 0 ? codes(pending_) : nullptr;
    const Code* upcoming = next >= 0 ? codes(next) : nullptr;
    const LossBlock<Real> block{z_.get(), u_.get(), h_.get()};
    if (next >= 0)
      std::memset(hist_.get(), 0, 2 * sizeof(Real) * static_cast<size_t>(epoch_.n_bins[next]) * k_);
    double loss = 0.0;
    Real top = -1e30f;
    for (int64_t first = 0; first < rows_.m; first += kBlock) {
      const int32_t n = static_cast<int32_t>(rows_.m - first < kBlock ? rows_.m - first : kBlock);
      Real* f = F + first * k_;
      if (previous != nullptr) add_change(previous + first, n, f);
      const Real high = negative_margins(rows_, f, first, n, z_.get());
      top = high > top ? high : top;
      loss += loss_of_block(rows_.loss, block, c + first, n, k_, shift_);
      if (upcoming == nullptr) continue;
      to_scores(rows_, c + first, first, n, u_.get(), h_.get());
      gather(upcoming + first, n);
    }
    pending_ = -1;
    finish_pass(loss, top, next);
  }

  void add_change(const Code* code, int32_t n, Real* f) {
    for (int32_t i = 0; i < n; ++i) {
      const Real* row = step_.get() + static_cast<size_t>(code[i]) * k_;
      for (int32_t r = 0; r < k_; ++r) f[i * k_ + r] += row[r];
    }
  }

  void gather(const Code* code, int32_t n) {
    for (int32_t i = 0; i < n; ++i) {
      Real* bin = hist_.get() + 2 * static_cast<size_t>(code[i]) * k_;
      const Real *a = u_.get() + i * k_, *d = h_.get() + i * k_;
      for (int32_t r = 0; r < k_; ++r) bin[r] += a[r];
      for (int32_t r = 0; r < k_; ++r) bin[k_ + r] += d[r];
    }
  }

  // The log of the exponential loss divides everything by the sum; the next pass shifts by the
  // largest exponent seen here.
  void finish_pass(double loss, Real top, int32_t next) {
    scale_ = 1.0;
    seen_ = loss;
    if (logarithmic()) {
      scale_ = 1.0 / loss;
      seen_ = std::log(loss) + static_cast<double>(shift_);
      shift_ = top;
    }
    if (next < 0) return;
    const size_t bins = static_cast<size_t>(epoch_.n_bins[next]);
    for (size_t t = 0; t < bins; ++t)
      for (int32_t r = 0; r < k_; ++r) {
        G_[t * k_ + r] = scale_ * hist_[2 * t * k_ + r];
        D_[t * k_ + r] = scale_ * epoch_.damping * hist_[2 * t * k_ + k_ + r];
      }
  }

  // Solves the block of feature w and leaves its change pending.
  void solve(int32_t w) {
    const size_t size = jump_count(w) * k_;
    double* jumps = epoch_.jumps[w];
    if (size == 0) return set_pending(w, 0.0);
    std::memcpy(old_.get(), jumps, size * sizeof(double));
    const bool easy = epoch_.n_bins[w] <= kFewBins && live_count(jumps, w) <= kFewLive &&
                      epoch_.full_sweeps <= 2;
    solver_.solve(G_.get(), D_.get(), epoch_.n_bins[w], epoch_.missing[w] != 0, epoch_.nu[w],
                  epoch_.p, easy ? 1 : epoch_.full_sweeps,
                  easy ? kFewSweeps : epoch_.segment_sweeps, epoch_.block_tolerance, jumps,
                  change_.get());
    std::memcpy(new_.get(), jumps, size * sizeof(double));
    old_penalty_ = epoch_.nu[w] * jump_penalty<Norm>(old_.get(), jump_count(w), k_, epoch_.p);
    double largest = 0.0;
    for (size_t i = 0; i < static_cast<size_t>(epoch_.n_bins[w]) * k_; ++i)
      largest = std::fabs(change_[i]) > largest ? std::fabs(change_[i]) : largest;
    step_size_ = largest > kLargestStep ? kLargestStep / largest : 1.0;
    promised_ = model_decrease(w, size);
    interpolate(w, step_size_);
    set_pending(w, step_size_);
  }

  // What the quadratic model says the full step gains.
  double model_decrease(int32_t w, size_t size) {
    double gain = 0.0;
    for (size_t i = 0; i < static_cast<size_t>(epoch_.n_bins[w]) * k_; ++i)
      gain += change_[i] * (G_[i] - 0.5 * D_[i] * change_[i]);
    const double* jumps = new_.get();
    gain -= epoch_.nu[w] * jump_penalty<Norm>(jumps, size / k_, k_, epoch_.p) - old_penalty_;
    return gain > 0.0 ? gain : 0.0;
  }

  int32_t live_count(const double* jumps, int32_t w) const {
    int32_t live = 0;
    for (size_t j = 0; j < jump_count(w) && live <= kFewLive; ++j)
      for (int32_t r = 0; r < k_; ++r)
        if (jumps[j * k_ + r] != 0.0) {
          ++live;
          break;
        }
    return live;
  }

  // Sets the jumps of feature w to the share `alpha` of the way, and the penalty with them.
  void interpolate(int32_t w, double alpha) {
    double* jumps = epoch_.jumps[w];
    const size_t size = jump_count(w) * k_;
    for (size_t i = 0; i < size; ++i)
      jumps[i] = alpha == 1.0 ? new_[i]
                              : (alpha == 0.0 ? old_[i] : old_[i] + alpha * (new_[i] - old_[i]));
    new_penalty_ = epoch_.nu[w] * jump_penalty<Norm>(jumps, jump_count(w), k_, epoch_.p);
  }

  // Lets the next pass add `share` of the change of feature w.
  void set_pending(int32_t w, double share) {
    pending_ = share == 0.0 ? -1 : w;
    const size_t size = static_cast<size_t>(epoch_.n_bins[w]) * k_;
    for (size_t i = 0; i < size; ++i) step_[i] = static_cast<Real>(share * change_[i]);
    if (share == 0.0 && jump_count(w) == 0) old_penalty_ = new_penalty_ = 0.0;
  }

  // The pass just made shows the loss after the step of feature w: if it gained too little, halve
  // the step and look again. Saturated rows have next to no curvature, so this does happen.
  void check_step(int32_t w, int32_t next) {
    const double before = loss_ + penalty_;
    const double limit = before + epoch_.slack * std::fabs(before);
    for (int h = 0; jump_count(w) > 0 && h <= kHalvings; ++h) {
      const double wanted = limit - kEnough * step_size_ * promised_;
      if (seen_ + penalty_ + (new_penalty_ - old_penalty_) <= wanted) break;
      const double smaller = h == kHalvings ? 0.0 : 0.5 * step_size_;
      interpolate(w, smaller);
      set_pending(w, smaller - step_size_);
      step_size_ = smaller;
      ++halvings_;
      pass(next);
    }
    loss_ = seen_;
    penalty_ += new_penalty_ - old_penalty_;
  }

  const DbRows& rows_;
  const DbEpoch& epoch_;
  const int32_t k_, widest_;
  BlockSolver<Norm> solver_;
  Scratch<Real> hist_;
  Scratch<double> G_, D_, change_;
  Scratch<Real> step_;
  Scratch<double> old_, new_;
  Scratch<Real> z_, u_, h_;
  double loss_ = 0.0, penalty_ = 0.0, seen_ = 0.0, scale_ = 1.0;
  double old_penalty_ = 0.0, new_penalty_ = 0.0, step_size_ = 1.0, promised_ = 0.0;
  Real shift_ = 0;
  int32_t pending_ = -1, halvings_ = 0;
};

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(solve_block)(const double* G, const double* D, int32_t n_bins,
                                    int32_t missing, int32_t k, double nu, double p,
                                    int32_t full_sweeps, int32_t segment_sweeps, double tolerance,
                                    double* jumps, double* change) {
  DB_SPACE::with_norm(p, [&](auto norm) {
    DB_SPACE::BlockSolver<decltype(norm)> solver(n_bins, k);
    solver.solve(G, D, n_bins, missing != 0, nu, p, full_sweeps, segment_sweeps, tolerance, jumps,
                 change);
  });
}

DB_EXPORT int32_t DB_NAME(epoch)(const DbRows* rows, const DbEpoch* epoch, double* objective) {
  int32_t halvings = 0;
  DB_SPACE::with_types(epoch->code_bytes, epoch->real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    DB_SPACE::with_norm(epoch->p, [&](auto norm) {
      DB_SPACE::Descent<Code, Real, decltype(norm)> descent(*rows, *epoch);
      halvings = descent.run(objective);
    });
  });
  return halvings;
}
