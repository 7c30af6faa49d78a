// The thresholds of a feature: their number, and the sums that give their edges.
#pragma once

#include <cstddef>

#include "directboost.h"

namespace DB_SPACE {

// Number of thresholds of a feature; see step_functions.py.
inline int32_t count_thresholds(int32_t n_bins, uint8_t kind) {
  if (n_bins < 2) return 0;
  if (kind == DB_CATEGORICAL) return n_bins;
  return n_bins - 1 + (kind == DB_WITH_MISSING ? n_bins - 2 : 0);
}

// Visits the thresholds of a feature in order; `prefix` is the sum of the bins where it is -1.
template <class Real, class Visit>
inline void walk_thresholds(const Real* hist, int32_t n_bins, uint8_t kind, int32_t k,
                            double* prefix, Visit visit) {
  if (kind == DB_CATEGORICAL) {
    for (int32_t j = 0; j < n_bins; ++j) {
      for (int32_t r = 0; r < k; ++r) prefix[r] = hist[static_cast<size_t>(j) * k + r];
      visit(j);
    }
    return;
  }
  for (int32_t r = 0; r < k; ++r) prefix[r] = 0.0;
  for (int32_t j = 0; j + 1 < n_bins; ++j) {
    for (int32_t r = 0; r < k; ++r) prefix[r] += hist[static_cast<size_t>(j) * k + r];
    visit(j);
  }
  if (kind != DB_WITH_MISSING) return;
  const Real* gone = hist + static_cast<size_t>(n_bins - 1) * k;
  for (int32_t r = 0; r < k; ++r) prefix[r] = gone[r];
  for (int32_t b = 0; b + 2 < n_bins; ++b) {
    for (int32_t r = 0; r < k; ++r) prefix[r] += hist[static_cast<size_t>(b) * k + r];
    visit(n_bins - 1 + b);
  }
}

}  // namespace DB_SPACE
