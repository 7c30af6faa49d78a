// The second derivative of one category and class in its live levels, solved in linear time.
//
// Level a has the curvature d_a, all levels together have W. Its jump x_a lowers its own level and
// lifts all others, so with S = sum x the function is
// (sum d_a (S - 2 x_a)^2 + (W - sum d_a) S^2 + sum e_a x_a^2) / 2 - r'x. Where the slope is zero,
// (4 d_a + e_a) x_a = r_a + 2 d_a S - q with q = W S - 2 sum d_a x_a: two unknowns couple the levels.
#pragma once

#include "common.h"

namespace DB_SPACE {

// Arrays of one star, which live elsewhere.
struct Star {
  size_t n;
  double* scale;  // (n,) 1 / (4 d + e)
  double* d;      // (n + 1,) the curvatures, and W

  // d (n) and W, none negative; e (n), positive.
  void factor(const double* curvature, const double* e, double whole) {
    for (size_t a = 0; a < n; ++a) {
      d[a] = curvature[a];
      scale[a] = 1.0 / (4.0 * d[a] + e[a]);
    }
    d[n] = whole;
  }

  // x = the answer to r, both (n,); they may be the same.
  void solve(const double* r, double* x) const {
    double sums[3] = {0, 0, 0}, right[2] = {0, 0};
    for (size_t a = 0; a < n; ++a) {
      const double one = scale[a], bent = one * d[a];
      sums[0] += one;
      sums[1] += bent;
      sums[2] += bent * d[a];
      right[0] += one * r[a];
      right[1] += bent * r[a];
    }
    const double across = 1.0 - 2.0 * sums[1], rest = d[n] - 4.0 * sums[2];
    const double size = across * across + sums[0] * rest;
    const double S = (across * right[0] + 2.0 * sums[0] * right[1]) / size;
    const double q = (rest * right[0] - 2.0 * across * right[1]) / size;
    for (size_t a = 0; a < n; ++a) x[a] = scale[a] * (r[a] + 2.0 * d[a] * S - q);
  }
};

}  // namespace DB_SPACE
