// A Newton step of the quadratic model on the jumps that are not zero.
#include "gradients.h"
#include "prox.h"

namespace DB_SPACE {

// V (jumps, k) are the live jumps. Their signs stay: an entry that would change its sign becomes
// zero.
template <class Real>
class NewtonStep {
 public:
  NewtonStep(DbTeam* team, const DbModel& model, const Live& live)
      : team_(team),
        model_(model),
        live_(live),
        k_(model.k),
        size_(live.jumps() * k_),
        V_(size_),
        left_(size_),
        change_(size_),
        nu_(live.jumps()),
        ridge_(live.segments() * k_),
        tables_(live.segments() * k_),
        product_(team, model, live) {
    for (int32_t v = 0; v < live.features(); ++v)
      for (size_t j = live.first_jump(v); j < live.first_jump(v + 1); ++j) nu_[j] = live.nu(v);
    for (size_t j = 0; j < live.jumps(); ++j)
      std::memcpy(V_.get() + j * k_, live.weights(j), k_ * sizeof(double));
    live.sum([&](size_t i) { return model.ridge[i]; }, ridge_.get());
  }

  // Moves the jumps; returns by how much the model fell.
  double run(int32_t most, double tolerance) {
    find_left();
    find_direction(most, tolerance);
    for (size_t i = 0; i < size_; ++i)
      if ((V_[i] + change_[i]) * V_[i] <= 0.0) change_[i] = -V_[i];
    return move();
  }

 private:
  // Edges at what is left of the gradient.
  void find_left() {
    Scratch<double> sums(live_.segments() * k_), prefix((live_.segments() + 1) * k_);
    live_.sum([&](size_t i) { return model_.G[i] - model_.ridge[i] * model_.change[i]; },
              sums.get());
    product_.take_off(sums.get());
    edges_of(live_, sums.get(), k_, prefix.get(), left_.get());
  }

  void find_direction(int32_t most, double tolerance) {
    Scratch<double> D(live_.segments() * k_);
    live_.sum([&](size_t i) { return model_.D[i]; }, D.get());
    const Bend bend(V_.get(), nu_.get(), live_.jumps(), k_, model_.p);
    Gradients<Real>(team_, live_, V_.get(), ridge_.get(), D.get(), k_, bend, product_)
        .solve(left_.get(), most, tolerance, change_.get());
  }

  // Goes along the change to the lowest point of the model, at most to its end.
  double move() {
    double gain = penalty(0.0) - penalty(1.0);
    for (size_t i = 0; i < size_; ++i) gain += left_[i] * change_[i];
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

  // The penalty a share `step` of the way along the change.
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
  const DbModel& model_;
  const Live& live_;
  const int32_t k_;
  const size_t size_;
  Scratch<double> V_, left_, change_, nu_, ridge_, tables_;
  Product<Real> product_;
};

}  // namespace DB_SPACE

DB_EXPORT double DB_NAME(model_newton)(DbTeam* team, const DbModel* model, int32_t most,
                                       double tolerance) {
  using namespace DB_SPACE;
  const Live live(*model);
  if (live.jumps() == 0) return 0.0;
  double gained = 0.0;
  with_types(1, model->real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    gained = NewtonStep<Real>(team, *model, live).run(most, tolerance);
  });
  return gained;
}
