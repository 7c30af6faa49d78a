// Conjugate gradients for the Newton equations of the live jumps.
#pragma once

#include "bend.h"
#include "product.h"

namespace DB_SPACE {

constexpr double kRidge = 1e-3;  // share of the diagonal added to the second derivative

// Unknowns are the non-zero entries of V (jumps, k); the others stay zero.
//
// Preconditioner: within one feature and class the second derivative with the diagonal curvature of
// the bins alone is known: two jumps agree on all bins but those between them, so the entry is
// T - 2 |C_i - C_j| with C the curvature up to a jump. One small Cholesky factor each; where a
// feature has many live jumps, the diagonal.
template <class ProductOfType>
class Gradients {
 public:
  Gradients(const DbModel& model, const DbLive& live, const double* V, const double* nu,
            ProductOfType& product)
      : live_(live),
        V_(V),
        k_(model.k),
        jumps_(static_cast<size_t>(live.offsets[live.n_work])),
        size_(jumps_ * k_),
        bend_(V, nu, jumps_, model.k, model.p),
        product_(product),
        diagonal_(size_),
        vectors_(4 * size_),
        tables_(segment_count(live) * k_),
        sums_(segment_count(live) * k_),
        first_factor_(static_cast<size_t>(live.n_work) * k_ + 1),
        members_(size_),
        solution_(jumps_ + 1) {
    size_t entries = 0;
    for (int32_t w = 0; w < live.n_work; ++w)
      for (int32_t r = 0; r < k_; ++r) {
        const size_t n = count(w, r);
        first_factor_[static_cast<size_t>(w) * k_ + r] = entries;
        entries += n <= kMost ? n * n : 0;
      }
    factors_ = static_cast<double*>(std::calloc(entries ? entries : 1, sizeof(double)));
    factor_all();
  }
  ~Gradients() { std::free(factors_); }
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;

  int32_t solve(DbTeam* team, const double* left, int32_t most, double tolerance, double* x) {
    double *residual = vectors_.get(), *scaled = residual + size_, *direction = scaled + size_,
           *image = direction + size_;
    for (size_t i = 0; i < size_; ++i) {
      x[i] = 0.0;
      residual[i] = V_[i] != 0.0 ? left[i] - bend_.slope(i) : 0.0;
    }
    bend_.tie(residual);
    precondition(residual, scaled);
    for (size_t i = 0; i < size_; ++i) direction[i] = scaled[i];
    double size = dot(residual, scaled);
    const double goal = tolerance * tolerance * size;
    int32_t iteration = 0;
    for (; iteration < most && size > goal; ++iteration) {
      multiply(team, direction, image);
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
    return iteration;
  }

 private:
  static constexpr size_t kMost = 64;  // live jumps of a feature and class up to which a factor pays

  double dot(const double* a, const double* b) const {
    double sums[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= size_; i += 4)
      for (int j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < size_; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
  }

  void multiply(DbTeam* team, const double* direction, double* image) {
    product_of(team, live_, k_, direction, product_, tables_.get(), sums_.get(), image);
    bend_.add(direction, image);
    for (size_t i = 0; i < size_; ++i)
      image[i] = V_[i] != 0.0 ? image[i] + kRidge * diagonal_[i] * direction[i] : 0.0;
    bend_.tie(image);
  }

  size_t count(int32_t w, int32_t r) const {
    size_t n = 0;
    for (int32_t j = live_.offsets[w]; j < live_.offsets[w + 1]; ++j)
      n += V_[static_cast<size_t>(j) * k_ + r] != 0.0;
    return n;
  }

  size_t members(int32_t w, int32_t r) {
    size_t n = 0;
    for (int32_t j = live_.offsets[w]; j < live_.offsets[w + 1]; ++j)
      if (V_[static_cast<size_t>(j) * k_ + r] != 0.0) members_[n++] = j;
    return n;
  }

  // The diagonal and the factors of all features and classes.
  void factor_all() {
    const double* D = live_.D;
    Scratch<double> below(jumps_ + 1);
    for (int32_t w = 0; w < live_.n_work; ++w) {
      const int32_t n = live_.n_segments[w];
      for (int32_t r = 0; r < k_; ++r) {
        double total = 0.0;
        for (int32_t s = 0; s < n; ++s) total += D[static_cast<size_t>(s) * k_ + r];
        const size_t live = members(w, r);
        for (size_t a = 0; a < live; ++a) {
          double sum = 0.0;
          for (int32_t s = 0; s <= live_.position[members_[a]]; ++s)
            sum += D[static_cast<size_t>(s) * k_ + r];
          below[a] = sum;
          const size_t i = static_cast<size_t>(members_[a]) * k_ + r;
          diagonal_[i] = total + bend_.diagonal(i);
        }
        const double gone =
            live_.missing[w] ? D[static_cast<size_t>(n - 1) * k_ + r] : 0.0;
        if (live <= kMost) factor(w, r, live, total, gone, below.get());
      }
      D += static_cast<size_t>(n) * k_;
    }
    double top = 0.0;
    for (size_t i = 0; i < size_; ++i) top = diagonal_[i] > top ? diagonal_[i] : top;
    for (size_t i = 0; i < size_; ++i)
      diagonal_[i] = diagonal_[i] > 1e-12 * top ? diagonal_[i] : 1e-12 * top;
  }

  // Cholesky of one feature and class, lower triangle, row by row.
  void factor(int32_t w, int32_t r, size_t n, double total, double gone, const double* below) {
    double* L = factors_ + first_factor_[static_cast<size_t>(w) * k_ + r];
    for (size_t a = 0; a < n; ++a) {
      const size_t i = static_cast<size_t>(members_[a]) * k_ + r;
      for (size_t b = 0; b <= a; ++b) {
        double entry = total - 2.0 * std::fabs(below[a] - below[b]);
        if (live_.left[members_[a]] != live_.left[members_[b]]) entry -= 2.0 * gone;
        if (a == b) entry += bend_.diagonal(i) + kFloor * total;
        for (size_t c = 0; c < b; ++c) entry -= L[a * n + c] * L[b * n + c];
        if (a == b) {
          L[a * n + a] = std::sqrt(entry > kFloor * total ? entry : kFloor * total + 1e-300);
        } else {
          L[a * n + b] = entry / L[b * n + b];
        }
      }
    }
  }

  void precondition(const double* residual, double* scaled) {
    for (size_t i = 0; i < size_; ++i) scaled[i] = V_[i] != 0.0 ? residual[i] / diagonal_[i] : 0.0;
    double* y = solution_.get();
    for (int32_t w = 0; w < live_.n_work; ++w) {
      for (int32_t r = 0; r < k_; ++r) {
        const size_t n = members(w, r);
        if (n < 2 || n > kMost) continue;
        const double* L = factors_ + first_factor_[static_cast<size_t>(w) * k_ + r];
        for (size_t a = 0; a < n; ++a) {
          double x = residual[static_cast<size_t>(members_[a]) * k_ + r];
          for (size_t b = 0; b < a; ++b) x -= L[a * n + b] * y[b];
          y[a] = x / L[a * n + a];
        }
        for (size_t a = n; a-- > 0;) {
          y[a] /= L[a * n + a];
          for (size_t b = 0; b < a; ++b) y[b] -= L[a * n + b] * y[a];
          scaled[static_cast<size_t>(members_[a]) * k_ + r] = y[a];
        }
      }
    }
    bend_.tie(scaled);
  }

  static constexpr double kFloor = 1e-4;  // share of the total curvature added to a factor

  const DbLive& live_;
  const double* V_;
  const int32_t k_;
  const size_t jumps_, size_;
  const Bend bend_;
  ProductOfType& product_;
  Scratch<double> diagonal_, vectors_, tables_, sums_;
  Scratch<size_t> first_factor_;
  Scratch<int32_t> members_;
  Scratch<double> solution_;
  double* factors_;
};

}  // namespace DB_SPACE
