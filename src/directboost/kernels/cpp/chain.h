// The second derivative of one feature and class in its live jumps, solved in linear time.
//
// Between n jumps lie n + 1 segments with curvatures d; jump j bends by itself with e_j. In the
// levels t of the segments, t_0 = -sum x and t_j = t_(j-1) + 2 x_j, the function
// sum d t^2 / 2 + sum e x^2 / 2 - r'x couples neighbours only. Levels of any n + 1 values are those
// of jumps where t_0 + t_n = 0: one condition, kept by a multiplier.
#pragma once

#include "common.h"

namespace DB_SPACE {

// Arrays of one chain, which live elsewhere: n each for jumps, n + 1 for levels.
struct Chain {
  size_t n;
  double* ratio;   // jumps: what a level hands on of its right-hand side
  double* pivot;   // levels: the reciprocals of the pivots
  double* bound;   // levels: the answer to a one at both ends, over the sum of its ends

  // d (n + 1), not all zero, none negative; e (n), positive.
  void factor(const double* d, const double* e) {
    double left = d[0];
    for (size_t j = 0; j < n; ++j) {
      const double spring = 0.25 * e[j], whole = left + spring;
      pivot[j] = 1.0 / whole;
      ratio[j] = spring * pivot[j];
      left = d[j + 1] + ratio[j] * left;
    }
    pivot[n] = 1.0 / left;
    for (size_t s = 0; s <= n; ++s) bound[s] = 0.0;
    bound[0] = bound[n] = 1.0;
    sweep(bound);
    const double ends = bound[0] + bound[n];
    for (size_t s = 0; s <= n; ++s) bound[s] /= ends;
  }

  // x = the answer to r, both of jumps; `level` has room for n + 1.
  void solve(const double* r, double* level, double* x) const {
    level[0] = -0.5 * r[0];
    for (size_t j = 1; j < n; ++j) level[j] = 0.5 * (r[j - 1] - r[j]);
    level[n] = 0.5 * r[n - 1];
    sweep(level);
    const double ends = level[0] + level[n];
    for (size_t s = 0; s <= n; ++s) level[s] -= ends * bound[s];
    for (size_t j = 0; j < n; ++j) x[j] = 0.5 * (level[j + 1] - level[j]);
  }

 private:
  void sweep(double* level) const {
    for (size_t j = 0; j < n; ++j) level[j + 1] += ratio[j] * level[j];
    level[n] *= pivot[n];
    for (size_t j = n; j-- > 0;) level[j] = level[j] * pivot[j] + ratio[j] * level[j + 1];
  }
};

}  // namespace DB_SPACE
