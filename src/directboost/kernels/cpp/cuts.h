// Where a feature is cut, given its distinct values and their masses.
#pragma once

#include "common.h"

namespace DB_SPACE {

// What is asked for, and where the answer for every feature goes.
struct Cuts {
  int64_t max_bins, width;
  double *before, *after;
  int32_t* n_cuts;
  int64_t* centre;
  uint8_t* exact;
};

// Cuts between n > 0 ascending distinct values; mass is that of all values up to each. The slack
// keeps a quantile or a median that falls on a value there whatever the rounding. Quantiles on the
// largest value cut before it: a feature whose mass sits there keeps a threshold.
inline void choose_cuts(const double* values, const double* mass, int64_t n, int32_t f,
                        const Cuts& out) {
  double* before = out.before + f * out.width;
  double* after = out.after + f * out.width;
  const double total = mass[n - 1], middle = 0.5 * total * (1.0 - 1e-12);
  int64_t median = 0, cuts = 0, centre = 0, last = -1;
  while (mass[median] < middle) ++median;
  const auto cut = [&](int64_t j) {
    before[cuts] = values[j], after[cuts] = values[j + 1];
    ++cuts;
    centre += j < median;
  };
  const bool exact = n <= out.max_bins;
  if (exact) {
    for (int64_t j = 0; j + 1 < n; ++j) cut(j);
  } else {
    for (int64_t i = 1, j = 0; i < out.max_bins; ++i) {
      const double share = total * static_cast<double>(i) / static_cast<double>(out.max_bins);
      const double target = share * (1.0 - 1e-12);
      while (j < n - 2 && mass[j] < target) ++j;
      if (j != last) cut(j);
      last = j;
    }
  }
  out.n_cuts[f] = static_cast<int32_t>(cuts);
  out.centre[f] = centre;
  out.exact[f] = exact;
}

}  // namespace DB_SPACE
