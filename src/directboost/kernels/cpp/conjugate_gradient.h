// Conjugate gradients for the Newton equations of the live jumps.
#pragma once

#include "hessian_product.h"
#include "preconditioner.h"

namespace DB_SPACE {

// The second derivative of the model, the ridge included, in the live jumps.
template <class Real>
class JumpHessian {
 public:
  JumpHessian(const ActiveSet& live, const double* ridge, int32_t k, HessianProduct<Real>& product)
      : live_(live),
        ridge_(ridge),
        k_(k),
        product_(product),
        tables_(live.segments() * k),
        sums_(live.segments() * k),
        prefix_((live.segments() + 1) * k) {}

  // image = second derivative times the direction, both (jumps, k).
  void apply(const double* direction, double* image) {
    tables_of(live_, direction, k_, tables_.get());
    for (size_t i = 0; i < live_.segments() * k_; ++i) sums_[i] = ridge_[i] * tables_[i];
    product_.apply(tables_.get(), sums_.get());
    edges_of(live_, sums_.get(), k_, prefix_.get(), image);
  }

 private:
  const ActiveSet& live_;
  const double* ridge_;
  const int32_t k_;
  HessianProduct<Real>& product_;
  Scratch<double> tables_, sums_, prefix_;
};

// Unknowns are the non-zero entries of V (jumps, k); the others stay zero.
template <class Real, class Preconditioner>
class ConjugateGradient {
 public:
  ConjugateGradient(Preconditioner& preconditioner, const double* V, size_t size,
                    const PenaltyCurvature& penalty, JumpHessian<Real>& curvature)
      : V_(V),
        size_(size),
        penalty_(penalty),
        curvature_(curvature),
        preconditioner_(preconditioner),
        vectors_(4 * size_) {}

  // Writes the direction x (jumps, k) for the edges `left` of the remaining gradient.
  void solve(const double* left, int32_t most, double tolerance, double* x) {
    double *residual = vectors_.get(), *scaled = residual + size_, *direction = scaled + size_,
           *image = direction + size_;
    for (size_t i = 0; i < size_; ++i) {
      x[i] = 0.0;
      residual[i] = V_[i] != 0.0 ? left[i] - penalty_.slope(i) : 0.0;
    }
    penalty_.tie(residual);
    precondition(residual, scaled);
    for (size_t i = 0; i < size_; ++i) direction[i] = scaled[i];
    double size = dot(residual, scaled);
    const double goal = tolerance * tolerance * size;
    for (int32_t iteration = 0; iteration < most && size > goal; ++iteration) {
      multiply(direction, image);
      const double curvature = dot(direction, image);
      if (!(curvature > 0.0)) break;
      const double step = size / curvature;
      for (size_t i = 0; i < size_; ++i) x[i] += step * direction[i];
      for (size_t i = 0; i < size_; ++i) residual[i] -= step * image[i];
      precondition(residual, scaled);
      const double before = size;
      size = dot(residual, scaled);
      for (size_t i = 0; i < size_; ++i) direction[i] = scaled[i] + size / before * direction[i];
    }
  }

 private:
  double dot(const double* a, const double* b) const {
    double sums[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= size_; i += 4)
      for (int j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < size_; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
  }

  void precondition(const double* residual, double* scaled) {
    preconditioner_.apply(residual, scaled);
    penalty_.tie(scaled);
  }

  void multiply(const double* direction, double* image) {
    curvature_.apply(direction, image);
    penalty_.add(direction, image);
    const double* diagonal = preconditioner_.diagonal();
    for (size_t i = 0; i < size_; ++i)
      image[i] = V_[i] != 0.0 ? image[i] + kRidge * diagonal[i] * direction[i] : 0.0;
    penalty_.tie(image);
  }

  const double* V_;
  const size_t size_;
  const PenaltyCurvature& penalty_;
  JumpHessian<Real>& curvature_;
  Preconditioner& preconditioner_;
  Scratch<double> vectors_;
};

}  // namespace DB_SPACE
