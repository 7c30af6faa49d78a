// The penalty nu (||v_+||_p + ||v_-||_p) of jumps on their non-zero entries, to second order.
#pragma once

#include <cmath>

#include "common.h"

namespace DB_SPACE {

constexpr double kTie = 1e-9;  // relative distance from the maximum of a sign part that is none

// With u = |v| / ||v|| inside a sign part: slope nu sign(v) u^(p-1), second derivative
// nu (p-1) / ||v|| (diag(u^(p-2)) - w w') with w = sign(v) u^(p-1). For p = infinity the entries at
// the maximum are tied: they move together, the slope is shared among them, nothing bends.
class Bend {
 public:
  Bend(const double* V, const double* nu, size_t rows, int32_t k, double p)
      : V_(V),
        rows_(rows),
        k_(k),
        p_(p),
        slope_(rows * k),
        diagonal_(rows * k),
        outer_(rows * k),
        scale_(2 * rows),
        tied_(std::isinf(p) ? rows * k : 0) {
    for (size_t j = 0; j < rows; ++j)
      for (int side = 0; side < 2; ++side) set(j, side, nu[j]);
  }

  double slope(size_t i) const { return slope_[i]; }
  double diagonal(size_t i) const { return diagonal_[i]; }

  // out += second derivative times d.
  void add(const double* d, double* out) const {
    if (p_ == 1.0 || std::isinf(p_)) return;
    for (size_t j = 0; j < rows_; ++j) {
      const size_t row = j * k_;
      double along[2] = {0.0, 0.0};
      for (int32_t r = 0; r < k_; ++r) along[V_[row + r] < 0.0] += outer_[row + r] * d[row + r];
      for (int32_t r = 0; r < k_; ++r) {
        const int side = V_[row + r] < 0.0;
        out[row + r] += diagonal_[row + r] * d[row + r] -
                        scale_[2 * j + side] * outer_[row + r] * along[side];
      }
    }
  }

  // Sets the tied entries of every sign part to their mean, signs apart.
  void tie(double* d) const {
    if (!std::isinf(p_)) return;
    for (size_t j = 0; j < rows_; ++j) {
      double sums[2] = {0.0, 0.0};
      int32_t counts[2] = {0, 0};
      for (size_t i = j * k_; i < (j + 1) * k_; ++i) {
        if (!tied_[i]) continue;
        sums[V_[i] < 0.0] += V_[i] < 0.0 ? -d[i] : d[i];
        ++counts[V_[i] < 0.0];
      }
      for (size_t i = j * k_; i < (j + 1) * k_; ++i) {
        const int side = V_[i] < 0.0;
        if (tied_[i]) d[i] = (side ? -1.0 : 1.0) * sums[side] / counts[side];
      }
    }
  }

 private:
  void set(size_t j, int side, double nu) {
    const double sign = side == 0 ? 1.0 : -1.0;
    const double* v = V_ + j * k_;
    double top = 0.0, sum = 0.0;
    for (int32_t r = 0; r < k_; ++r) top = sign * v[r] > top ? sign * v[r] : top;
    if (top == 0.0) return;
    if (std::isinf(p_)) return set_tied(j * k_, sign, top, nu);
    for (int32_t r = 0; r < k_; ++r)
      if (sign * v[r] > 0.0) sum += power(sign * v[r] / top, p_);
    const double norm = top * (p_ == 2.0 ? std::sqrt(sum) : std::pow(sum, 1.0 / p_));
    scale_[2 * j + side] = nu * (p_ - 1.0) / norm;
    for (int32_t r = 0; r < k_; ++r) {
      if (!(sign * v[r] > 0.0)) continue;
      const size_t i = j * k_ + r;
      const double u = sign * v[r] / norm;
      outer_[i] = sign * power(u, p_ - 1.0);
      slope_[i] = nu * outer_[i];
      diagonal_[i] = p_ == 1.0 ? 0.0 : scale_[2 * j + side] * power(u, p_ - 2.0);
    }
  }

  void set_tied(size_t row, double sign, double top, double nu) {
    int32_t count = 0;
    for (size_t i = row; i < row + k_; ++i) {
      tied_[i] = tied_[i] || sign * V_[i] >= (1.0 - kTie) * top;
      count += sign * V_[i] >= (1.0 - kTie) * top;
    }
    for (size_t i = row; i < row + k_; ++i)
      if (sign * V_[i] >= (1.0 - kTie) * top) slope_[i] = sign * nu / count;
  }

  static double power(double x, double a) {
    if (a == 0.0) return 1.0;
    if (a == 1.0) return x;
    return a == 2.0 ? x * x : std::pow(x, a);
  }

  const double* V_;
  const size_t rows_;
  const int32_t k_;
  const double p_;
  Scratch<double> slope_, diagonal_, outer_, scale_;
  Scratch<uint8_t> tied_;
};

}  // namespace DB_SPACE
