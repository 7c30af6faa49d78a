// The built-in losses entry by entry, and the terms of their dual objectives. An elementwise loss
// adds its number, its entries and its dual term here; only the multinomial loss, which couples the
// entries of a row, has code of its own in loss_tile.h and dual.cpp.
#pragma once

#include <cmath>
#include <type_traits>

#include "exp_log.h"

namespace DB_SPACE {

enum LossNumber : int32_t { kLogistic = 0, kExponential = 1, kMultinomial = 2, kSquaredHinge = 3 };

// From z = -rho, per unit of the weight of a row: negative gradient u, second derivative h, and the
// term of the loss, which replaces z. kFull: compute u and h besides the terms.
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

template <bool kFull, class Real>
inline void loss_entries(int32_t loss, int32_t n, Real shift, Real* z, Real* u, Real* h) {
  switch (loss) {
    case kLogistic: logistic_entries<kFull>(n, z, u, h); break;
    case kExponential: exponential_entries<kFull>(n, shift, z, u, h); break;
    default: squared_hinge_entries<kFull>(n, z, u, h);
  }
}

// x log x, 0 at 0.
template <class Real>
DB_INLINE Real entropy_of(Real x) {
  constexpr Real floor = static_cast<Real>(1e-37);
  return x * log_of(x > floor ? x : floor);
}

// The dual term of one entry with share v = tau U / c, per unit of c.
template <int kLoss, class Real>
DB_INLINE Real dual_term(Real v) {
  if constexpr (kLoss == kSquaredHinge) {
    return v - v * v / 4;
  } else if constexpr (kLoss == kLogistic) {
    return -(entropy_of(v) + entropy_of(v < 1 ? 1 - v : Real(0)));
  } else {
    return -entropy_of(v);
  }
}

// Calls body with the number of the loss as a compile-time constant.
template <class Body>
inline void with_loss(int32_t loss, Body body) {
  switch (loss) {
    case kLogistic: body(std::integral_constant<int, kLogistic>{}); break;
    case kExponential: body(std::integral_constant<int, kExponential>{}); break;
    case kMultinomial: body(std::integral_constant<int, kMultinomial>{}); break;
    default: body(std::integral_constant<int, kSquaredHinge>{});
  }
}

}  // namespace DB_SPACE
