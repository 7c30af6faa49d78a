// The code of a number: how many thresholds lie below it.
#pragma once

#include <math.h>

#include "common.h"

namespace DB_SPACE {

constexpr int32_t kRows = 128;    // numbers coded in one go; they stay in the nearest cache
constexpr int32_t kFew = 12;      // so many thresholds are compared one by one
constexpr int32_t kMost = 16384;  // buckets at most

// The largest number of the input's precision that is not above t: x > t in double if and only if
// x > round_down(t) in the precision of x.
inline double round_down(double t, const double*) { return t; }
inline float round_down(double t, const float*) {
  const float near = static_cast<float>(t);
  return static_cast<double>(near) > t ? nextafterf(near, -HUGE_VALF) : near;
}

// A straight line from numbers to buckets 0 .. top. It never falls, so a threshold in a lower
// bucket than x lies below x, and one in a higher bucket does not.
template <class Real>
struct Line {
  Real low, scale, top;

  int32_t operator()(Real x) const {
    Real place = (x - low) * scale;
    place = place > Real(0) ? place : Real(0);  // missing goes to 0 as well
    return static_cast<int32_t>(place < top ? place : top);
  }
};

// Thresholds of one feature, prepared for many numbers.
template <class Real>
struct Search {
  Real* cuts;       // (n,) ascending, followed by n + 2 times infinity
  int32_t* starts;  // (buckets,) thresholds in lower buckets; none for few thresholds
  int32_t n;
  int32_t span;     // power of two above the number of thresholds in any bucket
  Line<Real> line;
};

inline int32_t power_above(int32_t n) {
  int32_t power = 1;
  while (power <= n) power *= 2;
  return power;
}

inline size_t cut_places(int32_t n) { return 2 * static_cast<size_t>(n) + 2; }

inline int32_t bucket_places(int32_t n, int64_t rows) {
  if (n <= kFew) return 0;
  const int32_t wanted = 2 * power_above(n);
  // For a few numbers the table is not worth its making.
  return rows < wanted ? 1 : wanted < kMost ? wanted : kMost;
}

template <class Real>
Search<Real> prepare(const double* thresholds, int32_t n, int32_t buckets, Real* cuts,
                     int32_t* starts) {
  for (int32_t j = 0; j < n; ++j)
    cuts[j] = round_down(thresholds[j], static_cast<const Real*>(nullptr));
  for (size_t j = n; j < cut_places(n); ++j) cuts[j] = static_cast<Real>(HUGE_VAL);
  Search<Real> search{cuts, starts, n, 1, {Real(0), Real(0), Real(0)}};
  if (buckets == 0) return search;
  const Real low = cuts[0], width = cuts[n - 1] - low;
  search.line = {low, static_cast<Real>(buckets) / width, static_cast<Real>(buckets - 1)};
  int32_t most = 0;
  for (int32_t b = 0, j = 0; b < buckets; ++b) {
    starts[b] = j;
    while (j < n && search.line(cuts[j]) == b) ++j;
    most = j - starts[b] > most ? j - starts[b] : most;
  }
  search.span = power_above(most);
  return search;
}

// Four thresholds per round; those past the end are infinite. The compiler makes vectors of the
// loops over the numbers, whose counts are as wide as they are.
template <class Real>
inline void count_few(const Search<Real>& search, const Real* x, int32_t missing, int32_t* codes) {
  using Lane = std::conditional_t<sizeof(Real) == 8, int64_t, int32_t>;
  Lane count[kRows];
  for (int32_t i = 0; i < kRows; ++i) count[i] = x[i] != x[i] ? missing : 0;
  for (int32_t j = 0; j < search.n; j += 4) {
    const Real *cut = search.cuts + j, a = cut[0], b = cut[1], c = cut[2], d = cut[3];
    for (int32_t i = 0; i < kRows; ++i) {
      const Lane low = (a < x[i] ? Lane(1) : Lane(0)) + (b < x[i] ? Lane(1) : Lane(0));
      const Lane high = (c < x[i] ? Lane(1) : Lane(0)) + (d < x[i] ? Lane(1) : Lane(0));
      count[i] += low + high;
    }
  }
  for (int32_t i = 0; i < kRows; ++i) codes[i] = static_cast<int32_t>(count[i]);
}

template <class Real>
inline void count_in_buckets(const Search<Real>& search, const Real* x, int32_t missing,
                             int32_t* codes) {
  const Line<Real> line = search.line;
  const int32_t* starts = search.starts;
  const Real* cuts = search.cuts;
  for (int32_t i = 0; i < kRows; ++i) codes[i] = line(x[i]);
  if (search.span <= 2) {
    for (int32_t i = 0; i < kRows; ++i) {
      const int32_t code = starts[codes[i]];
      codes[i] = code + (cuts[code] < x[i] ? 1 : 0);
    }
  } else {
    for (int32_t i = 0; i < kRows; ++i) {
      int32_t code = starts[codes[i]];
      for (int32_t half = search.span / 2; half > 0; half /= 2)
        code += cuts[code + half - 1] < x[i] ? half : 0;
      codes[i] = code;
    }
  }
  for (int32_t i = 0; i < kRows; ++i) codes[i] = x[i] != x[i] ? missing : codes[i];
}

// Codes of kRows numbers.
template <class Real>
inline void count_below(const Search<Real>& search, const Real* x, int32_t missing,
                        int32_t* codes) {
  if (search.starts == nullptr) {
    count_few(search, x, missing, codes);
  } else {
    count_in_buckets(search, x, missing, codes);
  }
}

}  // namespace DB_SPACE
