// The built-in losses entry by entry, from z = -rho. Per unit of the weight of a row: negative
// gradient u, second derivative h, and the term of the loss, which replaces z.
#pragma once

#include <cmath>

#include "exp_log.h"

namespace DB_SPACE {

enum LossNumber : int32_t { kLogistic = 0, kExponential = 1, kMultinomial = 2, kSquaredHinge = 3 };

// kFull: compute u and h besides the terms.
template <bool kFull, class Real>
void logistic_entries(int32_t n, Real* __restrict z, Real* __restrict u, Real* __restrict h) {
  for (int32_t i = 0; i < n; ++i) {
    const Real x = z[i], top = x > 0 ? x : 0, e = exp_of(-std::fabs(x));
    z[i] = top + log1p_of(e);
    if (kFull) {
      const Real inverse = 1 / (1 + e), small = e * inverse;
      u[i] = x > 0 ? inverse : small;
      h[i] = small * inverse;
    }
  }
}

template <bool kFull, class Real>
void exponential_entries(int32_t n, Real shift, Real* __restrict z, Real* __restrict u,
                         Real* __restrict h) {
  for (int32_t i = 0; i < n; ++i) {
    const Real e = exp_of(z[i] - shift);
    z[i] = e;
    if (kFull) u[i] = h[i] = e;
  }
}

template <bool kFull, class Real>
void squared_hinge_entries(int32_t n, Real* __restrict z, Real* __restrict u, Real* __restrict h) {
  for (int32_t i = 0; i < n; ++i) {
    const Real x = 1 + z[i], t = x > 0 ? x : 0;
    z[i] = t * t;
    if (kFull) {
      u[i] = 2 * t;
      h[i] = x > 0 ? 2 : 0;
    }
  }
}

}  // namespace DB_SPACE
