// Block descent on the quadratic model: one pass over its rows and one block solve per feature.
#include "block_solver.h"
#include "dispatch.h"
#include "quadratic_model.h"

namespace DB_SPACE {

// Limits of easy blocks, which get one full sweep and few segment sweeps.
constexpr int32_t kFewBins = 64, kFewLive = 10, kFewSweeps = 5;

template <class Norm>
class BlockDescent {
 public:
  BlockDescent(const DbQuadraticModel& model, int32_t widest, ModelPass& pass)
      : model_(model),
        pass_(pass),
        k_(model.k),
        solver_(widest, model.k),
        G_(static_cast<size_t>(widest) * k_),
        change_(static_cast<size_t>(widest) * k_),
        part_(static_cast<size_t>(widest) * k_),
        old_(2 * static_cast<size_t>(widest) * k_),
        new_(2 * static_cast<size_t>(widest) * k_),
        first_bin_(static_cast<size_t>(model.n_work) + 1),
        first_jump_(static_cast<size_t>(model.n_work) + 1) {
    for (int32_t w = 0; w < model.n_work; ++w) {
      first_bin_[w + 1] = first_bin_[w] + table_size(w);
      first_jump_[w + 1] = first_jump_[w] + jump_count(w) * k_;
    }
  }

  // Visits every feature once; returns the decrease of the model.
  double run() {
    for (int32_t w = 0; w < model_.n_work; ++w) {
      if (jump_count(w) == 0) continue;
      pass_over_rows(w);
      solve(w);
    }
    pass_over_rows(-1);
    return gained_;
  }

 private:
  size_t jump_count(int32_t w) const {
    return static_cast<size_t>(count_thresholds(model_.n_bins[w], model_.kinds[w]));
  }

  size_t table_size(int32_t w) const { return static_cast<size_t>(model_.n_bins[w]) * k_; }

  double penalty_of(int32_t w, const double* jumps) const {
    return model_.nu[w] * jump_penalty<Norm>(jumps, jump_count(w), k_, model_.p);
  }

  // One pass applies the pending change and computes the remaining gradient of feature `next`.
  void pass_over_rows(int32_t next) {
    if (pending_ < 0 && next < 0) return;
    double curvature = pass_.run(pending_, change_.get(), next, G_.get());
    if (pending_ >= 0) settle(curvature, next);
    if (next < 0) return;
    const double *G = model_.G + first_bin_[next], *ridge = model_.ridge + first_bin_[next],
                 *moved = model_.change + first_bin_[next];
    for (size_t i = 0; i < table_size(next); ++i) G_[i] = G[i] - G_[i] - ridge[i] * moved[i];
  }

  // The pass gives the curvature along the step of the pending feature. The step of the diagonal
  // model may be too long: along it the model is a parabola, so move to its minimum.
  void settle(double curvature, int32_t next) {
    const int32_t w = pending_;
    pending_ = -1;
    const double* ridge = model_.ridge + first_bin_[w];
    for (size_t i = 0; i < table_size(w); ++i) curvature += ridge[i] * change_[i] * change_[i];
    double step = 1.0;
    if (gain_ < 0.6 * curvature) {
      step = gain_ > 0.0 ? gain_ / curvature : 0.0;
      for (size_t i = 0; i < table_size(w); ++i) part_[i] = (step - 1.0) * change_[i];
      pass_.run(w, part_.get(), next, G_.get());
      double* jumps = model_.jumps + first_jump_[w];
      const size_t size = jump_count(w) * k_;
      for (size_t i = 0; i < size; ++i)
        jumps[i] = step == 0.0 ? old_[i] : old_[i] + step * (new_[i] - old_[i]);
    }
    double* moved = model_.change + first_bin_[w];
    for (size_t i = 0; i < table_size(w); ++i) moved[i] += step * change_[i];
    gained_ += step * gain_ - 0.5 * step * step * curvature;
  }

  // Solves the block of feature w and leaves its change pending.
  void solve(int32_t w) {
    const size_t size = jump_count(w) * k_;
    double* jumps = model_.jumps + first_jump_[w];
    std::memcpy(old_.get(), jumps, size * sizeof(double));
    const bool easy = model_.n_bins[w] <= kFewBins && live_count(jumps, w) <= kFewLive;
    const int8_t* signs = model_.signs == nullptr ? nullptr : model_.signs + w * k_;
    solver_.solve(G_.get(), model_.D + first_bin_[w], model_.n_bins[w], model_.kinds[w], signs,
                  model_.nu[w], model_.p, easy ? 1 : model_.full_sweeps,
                  easy ? kFewSweeps : model_.segment_sweeps, model_.block_tolerance, jumps,
                  change_.get());
    if (std::memcmp(old_.get(), jumps, size * sizeof(double)) == 0) return;
    std::memcpy(new_.get(), jumps, size * sizeof(double));
    gain_ = penalty_of(w, old_.get()) - penalty_of(w, jumps);
    for (size_t i = 0; i < table_size(w); ++i) gain_ += change_[i] * G_[i];
    pending_ = w;
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

  const DbQuadraticModel& model_;
  ModelPass& pass_;
  const int32_t k_;
  BlockSolver<Norm> solver_;
  Scratch<double> G_, change_, part_, old_, new_;
  Scratch<size_t> first_bin_, first_jump_;
  double gain_ = 0.0, gained_ = 0.0;
  int32_t pending_ = -1;
};

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(solve_block)(const double* G, const double* D, int32_t n_bins,
                                       int32_t kind, int32_t k, const int8_t* signs, double nu,
                                       double p, int32_t full_sweeps, int32_t segment_sweeps,
                                       double tolerance, double* jumps, double* change) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_norm(p, [&](auto norm) {
      BlockSolver<decltype(norm)> solver(n_bins, k);
      solver.solve(G, D, n_bins, static_cast<uint8_t>(kind), signs, nu, p, full_sweeps,
                   segment_sweeps, tolerance, jumps, change);
    });
  });
}

DB_EXPORT int32_t DB_NAME(model_epoch)(DbTeam* team, const DbQuadraticModel* model,
                                       double* decrease) {
  using namespace DB_SPACE;
  return status_of([&] {
    int32_t widest = 2;
    for (int32_t w = 0; w < model->n_work; ++w)
      widest = model->n_bins[w] > widest ? model->n_bins[w] : widest;
    with_types(model->code_bytes, model->real_bytes, [&](auto* code, auto* real) {
      using Code = Pointee<decltype(code)>;
      using Real = Pointee<decltype(real)>;
      TypedModelPass<Code, Real> pass(team, *model, widest);
      with_norm(model->p, [&](auto norm) {
        *decrease = BlockDescent<decltype(norm)>(*model, widest, pass).run();
      });
    });
  });
}
