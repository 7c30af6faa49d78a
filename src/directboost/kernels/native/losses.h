// The built-in losses on blocks of rows: value, weights and curvature from z = -rho.
#pragma once

#include <cmath>

#include "common.h"

namespace DB_SPACE {

enum LossNumber : int32_t { kLogistic = 0, kExponential = 1, kMultinomial = 2, kSquaredHinge = 3 };

// Vectorised exp: range reduction with a magic addition, a polynomial, the exponent by bits.
// Relative error below 3e-16 (double) and 1.2e-7 (float); arguments are clamped, so the result is
// never 0 or infinite.
inline double exp_of(double x) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  x = x < -708.0 ? -708.0 : (x > 708.0 ? 708.0 : x);
  const double shifted = x * 1.4426950408889634074 + magic;
  const double n = shifted - magic;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double y = 1.6059043836821613e-10;
  y = y * r + 2.0876756987868100e-09;
  y = y * r + 2.5052108385441720e-08;
  y = y * r + 2.7557319223985888e-07;
  y = y * r + 2.7557319223985893e-06;
  y = y * r + 2.4801587301587302e-05;
  y = y * r + 1.9841269841269841e-04;
  y = y * r + 1.3888888888888889e-03;
  y = y * r + 8.3333333333333332e-03;
  y = y * r + 4.1666666666666664e-02;
  y = y * r + 1.6666666666666666e-01;
  y = y * r + 0.5;
  y = y * r * r + r;
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023u) << 52;
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return scale + scale * y;
}

inline float exp_of(float x) {
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23
  x = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
  const float shifted = x * 1.44269504f + magic;
  const float n = shifted - magic;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r;
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127u) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return scale + scale * y;
}

constexpr int32_t kBlock = 64;  // rows handled together, so that the vector loops are long

// One block of rows: z in; weights u and curvature h (per unit of c) out.
template <class Real>
struct LossBlock {
  Real* z;
  Real* u;
  Real* h;
};

// Logistic: sum_r log(1 + e_r) is the log of one product per row, so a row costs one logarithm.
template <int K, class Real>
double logistic_block(const LossBlock<Real>& b, const Real* c, int32_t n, int32_t width) {
  const int32_t k = K > 0 ? K : width, size = n * k;
  Real *__restrict z = b.z, *__restrict u = b.u, *__restrict h = b.h;
  for (int32_t i = 0; i < size; ++i) {
    const Real e = exp_of(z[i] < 0 ? z[i] : -z[i]), inverse = 1 / (1 + e);
    u[i] = z[i] > 0 ? inverse : e * inverse;
    h[i] = e * inverse * inverse;
    z[i] = z[i] > 0 ? z[i] : 0;
  }
  double loss = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    double linear = 0.0, logs = 0.0;
    for (int32_t first = 0; first < k; first += 256) {
      const int32_t last = first + 256 < k ? first + 256 : k;
      double product = 1.0;
      for (int32_t r = first; r < last; ++r) {
        const double x = u[i * k + r];
        linear += z[i * k + r];
        product *= z[i * k + r] > 0 ? x : 1.0 - x;
      }
      logs -= std::log(product);
    }
    loss += c[i] * (linear + logs);
  }
  return loss;
}

template <class Real>
double exponential_block(const LossBlock<Real>& b, const Real* c, int32_t n, int32_t k,
                         Real shift) {
  const int32_t size = n * k;
  for (int32_t i = 0; i < size; ++i) b.u[i] = b.h[i] = exp_of(b.z[i] - shift);
  double loss = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int32_t r = 0; r < k; ++r) sum += b.u[i * k + r];
    loss += c[i] * sum;
  }
  return loss;
}

// Multinomial: c_i k is the share of the row.
template <class Real>
double multinomial_block(const LossBlock<Real>& b, const Real* c, int32_t n, int32_t k) {
  double loss = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    Real* z = b.z + i * k;
    Real top = z[0];
    for (int32_t r = 1; r < k; ++r) top = z[r] > top ? z[r] : top;
    for (int32_t r = 0; r < k; ++r) z[r] -= top;
    loss += static_cast<double>(c[i]) * k * top;
  }
  const int32_t size = n * k;
  for (int32_t i = 0; i < size; ++i) b.u[i] = exp_of(b.z[i]);
  for (int32_t i = 0; i < n; ++i) {
    Real* u = b.u + i * k;
    Real sum = 0;
    for (int32_t r = 0; r < k; ++r) sum += u[r];
    const Real scale = static_cast<Real>(k) / sum;
    for (int32_t r = 0; r < k; ++r) u[r] *= scale;
    for (int32_t r = 0; r < k; ++r) b.h[i * k + r] = u[r] * (1 - u[r] / k);
    loss += static_cast<double>(c[i]) * k * std::log(static_cast<double>(sum));
  }
  return loss;
}

template <class Real>
double squared_hinge_block(const LossBlock<Real>& b, const Real* c, int32_t n, int32_t k) {
  double loss = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int32_t r = 0; r < k; ++r) {
      const int32_t j = i * k + r;
      const Real t = 1 + b.z[j] > 0 ? 1 + b.z[j] : 0;
      b.u[j] = 2 * t;
      b.h[j] = t > 0 ? 2 : 0;
      sum += static_cast<double>(t) * t;
    }
    loss += c[i] * sum;
  }
  return loss;
}

template <int K, class Real>
inline double loss_of_block(int32_t loss, const LossBlock<Real>& b, const Real* c, int32_t n,
                            int32_t k, Real shift) {
  switch (loss) {
    case kLogistic: return logistic_block<K>(b, c, n, k);
    case kExponential: return exponential_block(b, c, n, k, shift);
    case kMultinomial: return multinomial_block(b, c, n, k);
    default: return squared_hinge_block(b, c, n, k);
  }
}

// z = -rho of a block: F_r - F_y (labels) or -t_r F_r (targets). Returns the largest entry for the
// exponential loss, which shifts by it.
template <int K, class Real>
inline Real negative_margins(const DbRows& rows, const Real* F, int64_t first, int32_t n,
                             Real* __restrict z) {
  const int32_t k = K > 0 ? K : rows.k;
  for (int32_t i = 0; i < n; ++i) {
    const Real* f = F + static_cast<size_t>(i) * k;
    if (rows.labels != nullptr) {
      const Real own = f[rows.labels[first + i]];
      for (int32_t r = 0; r < k; ++r) z[i * k + r] = f[r] - own;
    } else {
      const int8_t* t = rows.targets + (first + i) * k;
      for (int32_t r = 0; r < k; ++r) z[i * k + r] = -t[r] * f[r];
    }
  }
  if (rows.loss != kExponential) return 0;
  Real top = -1e30f;
  for (int32_t i = 0; i < n * k; ++i) top = z[i] > top ? z[i] : top;
  return top;
}

// From weights u and curvature h per unit of c to A = -dL/dF (in place of u) and the diagonal
// curvature in F (in place of h). Pairwise, class y_i collects the others.
template <int K, class Real>
inline void to_scores(const DbRows& rows, const Real* c, int64_t first, int32_t n,
                      Real* __restrict u, Real* __restrict h) {
  const int32_t k = K > 0 ? K : rows.k;
  for (int32_t i = 0; i < n; ++i) {
    Real *a = u + i * k, *d = h + i * k;
    const Real weight = c[i];
    if (rows.labels != nullptr) {
      const int32_t own = rows.labels[first + i];
      a[own] = d[own] = 0;
      Real sum_a = 0, sum_d = 0;
      for (int32_t r = 0; r < k; ++r) {
        a[r] *= -weight;
        d[r] *= weight;
        sum_a += a[r];
        sum_d += d[r];
      }
      a[own] = -sum_a;
      d[own] = sum_d;
    } else {
      const int8_t* t = rows.targets + (first + i) * k;
      for (int32_t r = 0; r < k; ++r) {
        a[r] *= weight * t[r];
        d[r] *= weight;
      }
    }
  }
}

}  // namespace DB_SPACE
