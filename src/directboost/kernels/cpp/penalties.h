// The l1,p penalties of jumps: norms, proximal operators, curvature, bounds of a step, dual norms.
//
// A jump v (k,) stands for the weights max(v, 0) of polarity + and max(-v, 0) of polarity -, so its
// penalty is nu (||v_+||_p + ||v_-||_p). The prox minimises sum_r T_r / 2 (v_r - z_r)^2 plus that;
// it preserves signs, so the two parts are independent. Per part, with a_r = T_r |z_r|, the
// solution is zero where ||a||_q <= nu. `is_zero` and `prox` require k to be a multiple of four:
// spare entries have z = 0.
#pragma once

#include <cmath>

#include "scratch.h"

namespace DB_SPACE {

// An edge that exceeds nu by less than this share is rounding: it must not create a non-zero jump,
// which a Newton step could then move freely.
constexpr double kNoise = 1e-10;

struct Norm1 {
  static bool is_zero(const double* e, int32_t k, double nu, double) {
    double top = 0.0;
    for (int32_t r = 0; r < k; ++r) top = std::fabs(e[r]) > top ? std::fabs(e[r]) : top;
    return top <= nu;
  }
  static double part(const double* v, int32_t k, double sign, double) {
    double sum = 0.0;
    for (int32_t r = 0; r < k; ++r) sum += sign * v[r] > 0.0 ? sign * v[r] : 0.0;
    return sum;
  }
  static void prox(const double* z, const double* T, int32_t k, double sign, double nu, double,
                   double* v) {
    for (int32_t r = 0; r < k; ++r) {
      const double x = sign * z[r] - nu / T[r];
      if (sign * z[r] > 0.0) v[r] = x > kNoise * nu / T[r] ? sign * x : 0.0;
    }
  }
};

struct Norm2 {
  static bool is_zero(const double* __restrict e, int32_t k, double nu, double) {
    double up[4] = {0, 0, 0, 0}, down[4] = {0, 0, 0, 0};
    for (int32_t r = 0; r < k; r += 4) {
      for (int j = 0; j < 4; ++j) {
        const double p = e[r + j] > 0.0 ? e[r + j] : 0.0, n = e[r + j] - p;
        up[j] += p * p;
        down[j] += n * n;
      }
    }
    const double limit = nu * nu;
    return lanes(up) <= limit && lanes(down) <= limit;
  }
  static double part(const double* v, int32_t k, double sign, double) {
    double sum = 0.0;
    for (int32_t r = 0; r < k; ++r) sum += sign * v[r] > 0.0 ? v[r] * v[r] : 0.0;
    return std::sqrt(sum);
  }
  // v_r = a_r eta / (T_r eta + nu) with eta = ||v||: sum (a_r / (T_r eta + nu))^2 = 1. Newton on
  // the inverse root of the sum, a concave function nearly linear in eta. On entry v is the
  // previous solution, whose norm is a good start.
  static void prox(const double* __restrict z, const double* __restrict T, int32_t k, double sign,
                   double nu, double, double* __restrict v) {
    double forces[4] = {0, 0, 0, 0}, sizes[4] = {0, 0, 0, 0};
    for (int32_t r = 0; r < k; r += 4) {
      for (int j = 0; j < 4; ++j) {
        const bool side = sign * z[r + j] > 0.0;
        const double a = side ? T[r + j] * z[r + j] : 0.0, old = side ? v[r + j] : 0.0;
        forces[j] += a * a;
        sizes[j] += old * old;
      }
    }
    double eta = 0.0;
    if (lanes(forces) > (1.0 + kNoise) * nu * nu)
      eta = norm(z, T, k, sign, nu, std::sqrt(lanes(sizes)));
    for (int32_t r = 0; r < k; ++r) {
      const double x = T[r] * z[r] * eta / (T[r] * eta + nu);
      v[r] = sign * z[r] > 0.0 ? x : v[r];
    }
  }
  static double norm(const double* __restrict z, const double* __restrict T, int32_t k, double sign,
                     double nu, double eta) {
    for (int step = 0; step < 60; ++step) {
      double sums[4] = {0, 0, 0, 0}, slopes[4] = {0, 0, 0, 0};
      for (int32_t r = 0; r < k; r += 4) {
        for (int j = 0; j < 4; ++j) {
          const double side = sign * z[r + j] > 0.0 ? z[r + j] : 0.0;
          const double inverse = 1.0 / (T[r + j] * eta + nu), x = T[r + j] * side * inverse;
          sums[j] += x * x;
          slopes[j] += x * x * T[r + j] * inverse;
        }
      }
      const double sum = lanes(sums), change = (std::sqrt(sum) - 1.0) * sum / lanes(slopes);
      eta = eta + change > 0.0 ? eta + change : 0.0;
      // Newton doubles the correct digits: the next change would be below rounding.
      if (!(std::fabs(change) > 1e-7 * eta)) break;
    }
    return eta;
  }
  static double lanes(const double* x) { return (x[0] + x[2]) + (x[1] + x[3]); }
};

struct NormInf {
  static bool is_zero(const double* e, int32_t k, double nu, double) {
    double up = 0.0, down = 0.0;
    for (int32_t r = 0; r < k; ++r) {
      up += e[r] > 0.0 ? e[r] : 0.0;
      down -= e[r] < 0.0 ? e[r] : 0.0;
    }
    return up <= nu && down <= nu;
  }
  static double part(const double* v, int32_t k, double sign, double) {
    double top = 0.0;
    for (int32_t r = 0; r < k; ++r) top = sign * v[r] > top ? sign * v[r] : top;
    return top;
  }
  // v_r = min(z_r, t) with sum T_r (z_r - t)_+ = nu: Newton from t = 0 increases to the root.
  static void prox(const double* z, const double* T, int32_t k, double sign, double nu, double,
                   double* v) {
    double level = 0.0;
    for (int32_t step = 0; step <= k + 1; ++step) {
      double excess = -nu, slope = 0.0;
      for (int32_t r = 0; r < k; ++r) {
        if (!(sign * z[r] > level)) continue;
        excess += T[r] * (sign * z[r] - level);
        slope += T[r];
      }
      if (step == 0 && excess <= kNoise * nu) break;
      if (!(excess > 0.0) || slope == 0.0) break;
      level += excess / slope;
    }
    for (int32_t r = 0; r < k; ++r)
      if (sign * z[r] > 0.0) v[r] = sign * (sign * z[r] < level ? sign * z[r] : level);
  }
};

struct NormP {
  static double power_norm(const double* v, int32_t k, double sign, double p) {
    double top = 0.0, sum = 0.0;
    for (int32_t r = 0; r < k; ++r) top = sign * v[r] > top ? sign * v[r] : top;
    if (top == 0.0) return 0.0;
    for (int32_t r = 0; r < k; ++r)
      if (sign * v[r] > 0.0) sum += std::pow(sign * v[r] / top, p);
    return top * std::pow(sum, 1.0 / p);
  }
  static bool is_zero(const double* e, int32_t k, double nu, double p) {
    const double q = p / (p - 1.0);
    return power_norm(e, k, 1.0, q) <= nu && power_norm(e, k, -1.0, q) <= nu;
  }
  static double part(const double* v, int32_t k, double sign, double p) {
    return power_norm(v, k, sign, p);
  }
  // Solves slope u + nu u^(p-1) = goal for u >= 0 by Newton from above, in u (p >= 2) or in
  // u^(p-1) (p < 2), where the equation is convex.
  static double unit(double goal, double slope, double nu, double p) {
    const double a = p >= 2.0 ? p - 1.0 : 1.0 / (p - 1.0);
    const double left = p >= 2.0 ? slope : nu, right = p >= 2.0 ? nu : slope;
    double w = std::fmin(goal / left, std::pow(goal / right, 1.0 / a));
    for (int step = 0; step < 80; ++step) {
      const double power = std::pow(w, a - 1.0);
      const double change = (left * w + right * power * w - goal) / (left + right * a * power);
      w = std::fmax(w - change, 0.0);
      if (!(std::fabs(change) > 1e-15 * w)) break;
    }
    return p >= 2.0 ? w : std::pow(w, a);
  }
  // With v = N u and ||u||_p = 1: T_r N u_r + nu u_r^(p-1) = T_r z_r. The norm of u falls with N;
  // Newton on its logarithm in log N, kept in a bracket.
  static void prox(const double* z, const double* T, int32_t k, double sign, double nu, double p,
                   double* v) {
    for (int32_t r = 0; r < k; ++r)
      if (sign * z[r] > 0.0) v[r] = T[r] * z[r];
    const bool zero = power_norm(v, k, sign, p / (p - 1.0)) <= (1.0 + kNoise) * nu;
    double high = std::log(power_norm(z, k, sign, p)), low = high - 680.0, x = high;
    for (int step = 0; step < 100 && !zero; ++step) {
      const double N = std::exp(x);
      double top = 0.0, sum = 0.0, slope = 0.0;
      for (int32_t r = 0; r < k; ++r) {
        if (!(sign * z[r] > 0.0)) continue;
        v[r] = sign * unit(T[r] * sign * z[r], T[r] * N, nu, p);
        top = std::fmax(top, std::fabs(v[r]));
      }
      for (int32_t r = 0; r < k; ++r) {
        if (!(sign * z[r] > 0.0)) continue;
        const double u = std::fmax(std::fabs(v[r]), 1e-300), share = std::pow(u / top, p);
        sum += share;
        slope += share * T[r] * N / (T[r] * N + nu * (p - 1.0) * std::pow(u, p - 2.0));
      }
      const double excess = std::log(top) + std::log(sum) / p;
      if (std::fabs(excess) <= 4e-16) break;
      (excess > 0.0 ? low : high) = x;
      double after = x + excess * sum / std::fmax(slope, 1e-300);
      if (!(after > low && after < high)) after = 0.5 * (low + high);
      const bool done = std::fabs(after - x) <= 1e-15 * std::fmax(1.0, std::fabs(x));
      if (done) break;
      x = after;
    }
    for (int32_t r = 0; r < k; ++r)
      if (sign * z[r] > 0.0) v[r] = zero ? 0.0 : std::exp(x) * v[r];
  }
};

// Calls f with the norm for p.
template <class Function>
inline void with_norm(double p, Function f) {
  if (p == 1.0) {
    f(Norm1());
  } else if (p == 2.0) {
    f(Norm2());
  } else if (std::isinf(p)) {
    f(NormInf());
  } else {
    f(NormP());
  }
}

// Penalty of n jumps without nu: the norms of their positive and negative parts.
template <class Norm>
inline double jump_penalty(const double* jumps, size_t n, int32_t k, double p) {
  double sum = 0.0;
  for (size_t j = 0; j < n; ++j)
    sum += Norm::part(jumps + j * k, k, 1.0, p) + Norm::part(jumps + j * k, k, -1.0, p);
  return sum;
}

// Dual norms of the positive part of the edges (total - 2 * prefix), for both polarities.
struct DualNorms {
  double plus, minus;
};

inline DualNorms dual_norms(const double* total, const double* prefix, int32_t k, int32_t q) {
  double plus = 0.0, minus = 0.0;
  if (q == 0) {
    for (int32_t r = 0; r < k; ++r) {
      const double e = total[r] - 2.0 * prefix[r];
      plus = e > plus ? e : plus;
      minus = -e > minus ? -e : minus;
    }
    return {plus, minus};
  }
  for (int32_t r = 0; r < k; ++r) {
    const double e = total[r] - 2.0 * prefix[r];
    const double up = e > 0.0 ? e : 0.0, down = e < 0.0 ? -e : 0.0;
    plus += q == 1 ? up : up * up;
    minus += q == 1 ? down : down * down;
  }
  if (q == 1) return {plus, minus};
  return {std::sqrt(plus), std::sqrt(minus)};
}

constexpr double kTie = 1e-9;  // entries this close to the maximum of a sign part are tied with it

// The penalty nu (||v_+||_p + ||v_-||_p) of jumps on their non-zero entries, to second order.
// With u = |v| / ||v|| inside a sign part: slope nu sign(v) u^(p-1), second derivative
// nu (p-1) / ||v|| (diag(u^(p-2)) - w w') with w = sign(v) u^(p-1). For p = infinity the entries at
// the maximum are tied: they move together and share the slope, and the curvature is zero.
class PenaltyCurvature {
 public:
  PenaltyCurvature(const double* V, const double* nu, size_t rows, int32_t k, double p)
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

// Clips a step of one jump from V to its bounds: an entry that would change its sign becomes zero;
// for p = infinity an entry that would outgrow the largest of its part is stopped there. Returns
// whether a bound was met.
inline bool stop_at_bounds(const double* V, double p, int32_t k, double* next) {
  bool met = false;
  for (int32_t r = 0; r < k; ++r) {
    if (V[r] == 0.0 || next[r] * V[r] > 0.0) continue;
    next[r] = 0.0;
    met = true;
  }
  if (!std::isinf(p)) return met;
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1.0 : -1.0;
    double top = 0.0, most = 0.0;
    for (int32_t r = 0; r < k; ++r) top = sign * V[r] > top ? sign * V[r] : top;
    for (int32_t r = 0; r < k; ++r)
      if (sign * V[r] > 0.0 && sign * V[r] >= (1.0 - kTie) * top)
        most = sign * next[r] > most ? sign * next[r] : most;
    for (int32_t r = 0; r < k; ++r) {
      if (!(sign * V[r] > 0.0) || sign * next[r] <= most) continue;
      next[r] = sign * most;
      met = true;
    }
  }
  return met;
}

}  // namespace DB_SPACE
