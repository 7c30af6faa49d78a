// A Newton step of the quadratic model on the non-zero jumps.
#include "conjugate_gradient.h"
#include "sampled_preconditioner.h"

namespace DB_SPACE {

// V (jumps, k) are the live jumps at the start of the step. Entries that end on a bound stay there;
// if the step then gains too little, it is recomputed for the other entries.
template <class Real>
class NewtonStep {
 public:
  NewtonStep(DbTeam* team, const DbQuadraticModel& model, const ActiveSet& live)
      : team_(team),
        model_(model),
        live_(live),
        k_(model.k),
        size_(live.jumps() * k_),
        V_(size_),
        left_(size_),
        change_(size_),
        at_(size_),
        nu_(live.jumps()),
        ridge_(live.segments() * k_),
        tables_(live.segments() * k_),
        product_(team, model, live),
        curvature_(live, ridge_.get(), k_, product_) {
    for (int32_t v = 0; v < live.features(); ++v)
      for (size_t j = live.first_threshold(v); j < live.first_threshold(v + 1); ++j) nu_[j] = live.nu(v);
    for (size_t j = 0; j < live.jumps(); ++j)
      std::memcpy(V_.get() + j * k_, live.weights(j), k_ * sizeof(double));
    live.sum([&](size_t i) { return model.ridge[i]; }, ridge_.get());
  }

  // Moves the jumps; returns the decrease of the model.
  double run(int32_t most, double tolerance, int32_t repeats, double enough) {
    find_left();
    Scratch<double> D(live_.segments() * k_), rest(size_), next(size_);
    std::memcpy(next.get(), V_.get(), size_ * sizeof(double));
    live_.sum([&](size_t i) { return model_.D[i]; }, D.get());
    for (int32_t again = 0; again < repeats; ++again) {
      for (size_t i = 0; i < size_; ++i) at_[i] = next[i];
      for (size_t i = 0; i < size_; ++i) rest[i] = left_[i] - rest[i];
      find_direction(D.get(), rest.get(), most, tolerance, change_.get());
      for (size_t i = 0; i < size_; ++i) next[i] += change_[i];
      bool met = false;
      for (size_t j = 0; j < size_; j += k_)
        met |= stop_at_bounds(at_.get() + j, model_.p, k_, next.get() + j);
      for (size_t i = 0; i < size_; ++i) change_[i] = next[i] - V_[i];
      if (!met || again + 1 == repeats) break;
      curvature_.apply(change_.get(), rest.get());
      if (gain() >= enough * dot(change_.get(), rest.get())) break;
    }
    return move();
  }

 private:
  // Edges of the remaining gradient.
  void find_left() {
    Scratch<double> sums(live_.segments() * k_), prefix((live_.segments() + 1) * k_);
    live_.sum([&](size_t i) { return model_.G[i] - model_.ridge[i] * model_.change[i]; },
              sums.get());
    product_.subtract_gradient(sums.get());
    edges_of(live_, sums.get(), k_, prefix.get(), left_.get());
  }

  void find_direction(const double* D, const double* rest, int32_t most, double tolerance,
                      double* step) {
    const PenaltyCurvature penalty(at_.get(), nu_.get(), live_.jumps(), k_, model_.p);
    const auto solve = [&](auto& preconditioner) {
      using Other = std::remove_reference_t<decltype(preconditioner)>;
      ConjugateGradient<Real, Other>(preconditioner, at_.get(), size_, penalty, curvature_)
          .solve(rest, most, tolerance, step);
    };
    if (product_.products() > 0 && model_.n > SampledPreconditioner::kMostRows) {
      SampledPreconditioner sampled(team_, model_, product_.curvature(), live_, at_.get(), D,
                                    ridge_.get(), penalty);
      return solve(sampled);
    }
    Preconditioner chains(team_, live_, at_.get(), D, k_, penalty);
    solve(chains);
  }

  // Gain of the whole change to first order.
  double gain() const { return penalty(0.0) - penalty(1.0) + dot(left_.get(), change_.get()); }

  double dot(const double* a, const double* b) const {
    double sum = 0.0;
    for (size_t i = 0; i < size_; ++i) sum += a[i] * b[i];
    return sum;
  }

  // Moves along the change: to its end or, if that would raise the model, to the minimum along it.
  double move() {
    const double gain = this->gain();
    tables_of(live_, change_.get(), k_, tables_.get());
    double curvature = product_.move(tables_.get());
    for (size_t i = 0; i < live_.segments() * k_; ++i)
      curvature += ridge_[i] * tables_[i] * tables_[i];
    double step = 1.0;
    if (gain < 0.5 * curvature) {
      step = gain > 0.0 ? gain / curvature : 0.0;
      for (size_t i = 0; i < live_.segments() * k_; ++i) tables_[i] *= step - 1.0;
      product_.move(tables_.get());
    }
    write(step);
    return step * gain - 0.5 * step * step * curvature;
  }

  void write(double step) {
    for (size_t j = 0; j < live_.jumps(); ++j)
      for (int32_t r = 0; r < k_; ++r) live_.weights(j)[r] += step * change_[j * k_ + r];
    tables_of(live_, change_.get(), k_, tables_.get());
    live_.spread(tables_.get(), step, model_.change);
  }

  // The penalty after a share `step` of the change.
  double penalty(double step) const {
    double sum = 0.0;
    Scratch<double> jump(k_);
    with_norm(model_.p, [&](auto norm) {
      for (size_t j = 0; j < live_.jumps(); ++j) {
        for (int32_t r = 0; r < k_; ++r) jump[r] = V_[j * k_ + r] + step * change_[j * k_ + r];
        sum += nu_[j] * jump_penalty<decltype(norm)>(jump.get(), 1, k_, model_.p);
      }
    });
    return sum;
  }

  DbTeam* team_;
  const DbQuadraticModel& model_;
  const ActiveSet& live_;
  const int32_t k_;
  const size_t size_;
  Scratch<double> V_, left_, change_, at_, nu_, ridge_, tables_;
  HessianProduct<Real> product_;
  JumpHessian<Real> curvature_;
};

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(model_newton)(DbTeam* team, const DbQuadraticModel* model, int32_t most,
                                        double tolerance, int32_t repeats, double enough,
                                        double* decrease) {
  using namespace DB_SPACE;
  return status_of([&] {
    const ActiveSet live(*model);
    *decrease = 0.0;
    if (live.jumps() == 0) return;
    with_reals(model->real_bytes, [&](auto* real) {
      using Real = Pointee<decltype(real)>;
      *decrease = NewtonStep<Real>(team, *model, live).run(most, tolerance, repeats, enough);
    });
  });
}
