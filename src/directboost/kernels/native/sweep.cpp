// Block descent: one fused pass over the rows per feature, one block solve per pass.
#include "block.h"
#include "row_pass.h"

namespace DB_SPACE {

constexpr double kLargestStep = 2.0;  // cap on the change of a score in one block
constexpr int kHalvings = 8;
// A step counts where the objective falls by this share of what the quadratic model promised:
// without it a model with half the true curvature steps back and forth for ever.
constexpr double kEnough = 1e-3;

// Blocks this easy get one full sweep and few segment sweeps.
constexpr int32_t kFewBins = 64, kFewLive = 10, kFewSweeps = 5;

template <class Norm>
class Descent {
 public:
  Descent(const DbRows& rows, const DbEpoch& epoch, int32_t widest, Pass& pass)
      : epoch_(epoch),
        pass_(pass),
        k_(rows.k),
        solver_(widest, rows.k),
        G_(static_cast<size_t>(widest) * k_),
        D_(static_cast<size_t>(widest) * k_),
        change_(static_cast<size_t>(widest) * k_),
        pending_change_(static_cast<size_t>(widest) * k_),
        old_(2 * static_cast<size_t>(widest) * k_),
        new_(2 * static_cast<size_t>(widest) * k_) {}

  int32_t run(double* objective) {
    penalty_ = objective[1];
    for (int32_t w = 0; w <= epoch_.n_work; ++w) {
      const int32_t next = w < epoch_.n_work ? w : -1;
      look(next);
      if (w > 0) {
        check_step(w - 1, next);
      } else {
        loss_ = seen_;
      }
      if (next >= 0) solve(w);
    }
    objective[0] = loss_;
    objective[1] = penalty_;
    return halvings_;
  }

 private:
  size_t jump_count(int32_t w) const {
    const int32_t n = epoch_.n_bins[w];
    return n < 2 ? 0 : static_cast<size_t>(n - 1 + (epoch_.missing[w] ? n - 2 : 0));
  }

  size_t table_size(int32_t w) const { return static_cast<size_t>(epoch_.n_bins[w]) * k_; }

  double penalty_of(int32_t w, const double* jumps) const {
    return epoch_.nu[w] * jump_penalty<Norm>(jumps, jump_count(w), k_, epoch_.p);
  }

  // One pass with the pending change, on to feature `next`.
  void look(int32_t next) {
    seen_ = pass_.run(pending_, pending_change_.get(), next, G_.get(), D_.get());
    pending_ = -1;
  }

  // Solves the block of feature w and leaves its change pending.
  void solve(int32_t w) {
    const size_t size = jump_count(w) * k_;
    double* jumps = epoch_.jumps[w];
    if (size == 0) return;
    std::memcpy(old_.get(), jumps, size * sizeof(double));
    const bool easy = epoch_.n_bins[w] <= kFewBins && live_count(jumps, w) <= kFewLive &&
                      epoch_.full_sweeps <= 2;
    solver_.solve(G_.get(), D_.get(), epoch_.n_bins[w], epoch_.missing[w] != 0, epoch_.nu[w],
                  epoch_.p, easy ? 1 : epoch_.full_sweeps,
                  easy ? kFewSweeps : epoch_.segment_sweeps, epoch_.block_tolerance, jumps,
                  change_.get());
    std::memcpy(new_.get(), jumps, size * sizeof(double));
    old_penalty_ = penalty_of(w, old_.get());
    promised_ = model_decrease(w);
    double largest = 0.0;
    for (size_t i = 0; i < table_size(w); ++i)
      largest = std::fabs(change_[i]) > largest ? std::fabs(change_[i]) : largest;
    step_size_ = largest > kLargestStep ? kLargestStep / largest : 1.0;
    interpolate(w, step_size_);
    set_pending(w, step_size_);
  }

  int32_t live_count(const double* jumps, int32_t w) const {
    int32_t live = 0;
    for (size_t j = 0; j < jump_count(w) && live <= kFewLive; ++j) {
      for (int32_t r = 0; r < k_; ++r) {
        if (jumps[j * k_ + r] == 0.0) continue;
        ++live;
        break;
      }
    }
    return live;
  }

  // What the quadratic model says the full step gains.
  double model_decrease(int32_t w) const {
    double gain = old_penalty_ - penalty_of(w, new_.get());
    for (size_t i = 0; i < table_size(w); ++i)
      gain += change_[i] * (G_[i] - 0.5 * D_[i] * change_[i]);
    return gain > 0.0 ? gain : 0.0;
  }

  // Sets the jumps of feature w to the share `alpha` of the way, and the penalty with them.
  void interpolate(int32_t w, double alpha) {
    double* jumps = epoch_.jumps[w];
    const size_t size = jump_count(w) * k_;
    for (size_t i = 0; i < size; ++i)
      jumps[i] = alpha == 1.0 ? new_[i]
                              : (alpha == 0.0 ? old_[i] : old_[i] + alpha * (new_[i] - old_[i]));
    new_penalty_ = penalty_of(w, jumps);
  }

  // Lets the next pass add `share` of the change of feature w.
  void set_pending(int32_t w, double share) {
    pending_ = w;
    for (size_t i = 0; i < table_size(w); ++i) pending_change_[i] = share * change_[i];
  }

  // The pass just made shows the loss after the step of feature w: if it gained too little, halve
  // the step and look again. Saturated rows have next to no curvature, so this does happen.
  void check_step(int32_t w, int32_t next) {
    if (jump_count(w) == 0) {
      loss_ = seen_;
      return;
    }
    const double before = loss_ + penalty_;
    const double limit = before + epoch_.slack * std::fabs(before);
    for (int h = 0; h <= kHalvings; ++h) {
      const double wanted = limit - kEnough * step_size_ * promised_;
      if (seen_ + penalty_ + (new_penalty_ - old_penalty_) <= wanted) break;
      const double smaller = h == kHalvings ? 0.0 : 0.5 * step_size_;
      interpolate(w, smaller);
      set_pending(w, smaller - step_size_);
      step_size_ = smaller;
      ++halvings_;
      look(next);
    }
    loss_ = seen_;
    penalty_ += new_penalty_ - old_penalty_;
  }

  const DbEpoch& epoch_;
  Pass& pass_;
  const int32_t k_;
  BlockSolver<Norm> solver_;
  Scratch<double> G_, D_, change_, pending_change_, old_, new_;
  double loss_ = 0.0, penalty_ = 0.0, seen_ = 0.0;
  double old_penalty_ = 0.0, new_penalty_ = 0.0, step_size_ = 1.0, promised_ = 0.0;
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
  using namespace DB_SPACE;
  int32_t halvings = 0, widest = 2;
  for (int32_t w = 0; w < epoch->n_work; ++w)
    widest = epoch->n_bins[w] > widest ? epoch->n_bins[w] : widest;
  with_types(epoch->code_bytes, epoch->real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    RowPass<Code, Real> pass(*rows, *epoch, widest);
    with_norm(epoch->p, [&](auto norm) {
      Descent<decltype(norm)> descent(*rows, *epoch, widest, pass);
      halvings = descent.run(objective);
    });
  });
  return halvings;
}
