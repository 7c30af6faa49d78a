// The code of a number: the number of thresholds below it.
#pragma once

#include <math.h>

#include "scratch.h"
#include "threads.h"

namespace DB_SPACE {

constexpr int32_t kRows = 128;           // numbers encoded together; they stay in the first cache
constexpr int32_t kFewThresholds = 12;   // up to this number, thresholds are compared one by one
constexpr int32_t kMostBuckets = 16384;  // largest number of buckets

// The largest number in the precision of the input that is not above t: x > t in double if and only
// if x > round_down(t) in the precision of x.
inline double round_down(double t, const double*) { return t; }
inline float round_down(double t, const float*) {
  const float near = static_cast<float>(t);
  return static_cast<double>(near) > t ? nextafterf(near, -HUGE_VALF) : near;
}

// A non-decreasing linear map from numbers to buckets 0 .. top: a threshold in a lower bucket than
// x lies below x, and one in a higher bucket does not.
template <class Real>
struct BucketMap {
  Real low, scale, top;

  int32_t operator()(Real x) const {
    Real place = (x - low) * scale;
    place = place > Real(0) ? place : Real(0);  // also if x is missing
    return static_cast<int32_t>(place < top ? place : top);
  }
};

// Thresholds of one feature, prepared for the search of many numbers.
template <class Real>
struct ThresholdSearch {
  Real* cuts;       // (n,) ascending, followed by n + 2 times infinity
  int32_t* starts;  // (buckets,) number of thresholds in lower buckets; null for few thresholds
  int32_t n;
  int32_t span;     // power of two above the number of thresholds in any bucket
  BucketMap<Real> bucket_of;
};

inline int32_t power_above(int32_t n) {
  int32_t power = 1;
  while (power <= n) power *= 2;
  return power;
}

inline size_t cut_places(int32_t n) { return 2 * static_cast<size_t>(n) + 2; }

inline int32_t bucket_places(int32_t n, int64_t rows) {
  if (n <= kFewThresholds) return 0;
  const int32_t wanted = 2 * power_above(n);
  // For a few numbers the table does not pay.
  return rows < wanted ? 1 : wanted < kMostBuckets ? wanted : kMostBuckets;
}

template <class Real>
ThresholdSearch<Real> prepare(const double* thresholds, int32_t n, int32_t buckets, Real* cuts,
                     int32_t* starts) {
  for (int32_t j = 0; j < n; ++j)
    cuts[j] = round_down(thresholds[j], static_cast<const Real*>(nullptr));
  for (size_t j = n; j < cut_places(n); ++j) cuts[j] = static_cast<Real>(HUGE_VAL);
  ThresholdSearch<Real> search{cuts, starts, n, 1, {Real(0), Real(0), Real(0)}};
  if (buckets == 0) return search;
  const Real low = cuts[0], width = cuts[n - 1] - low;
  search.bucket_of = {low, static_cast<Real>(buckets) / width, static_cast<Real>(buckets - 1)};
  int32_t most = 0;
  for (int32_t b = 0, j = 0; b < buckets; ++b) {
    starts[b] = j;
    while (j < n && search.bucket_of(cuts[j]) == b) ++j;
    most = j - starts[b] > most ? j - starts[b] : most;
  }
  search.span = power_above(most);
  return search;
}

// Four thresholds per round; those past the end are infinite. The compiler vectorises the loops
// over the numbers, since the counts are as wide as the numbers.
template <class Real>
inline void count_few(const ThresholdSearch<Real>& search, const Real* x, int32_t missing,
                      int32_t* codes) {
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
inline void count_in_buckets(const ThresholdSearch<Real>& search, const Real* x, int32_t missing,
                             int32_t* codes) {
  const BucketMap<Real> bucket_of = search.bucket_of;
  const int32_t* starts = search.starts;
  const Real* cuts = search.cuts;
  for (int32_t i = 0; i < kRows; ++i) codes[i] = bucket_of(x[i]);
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
inline void count_below(const ThresholdSearch<Real>& search, const Real* x, int32_t missing,
                        int32_t* codes) {
  if (search.starts == nullptr) {
    count_few(search, x, missing, codes);
  } else {
    count_in_buckets(search, x, missing, codes);
  }
}

// Writes the start of the part of every feature, and returns the end of the last part.
template <class Size>
inline size_t add_up(const int32_t* counts, int32_t n, size_t* begins, Size size) {
  begins[0] = 0;
  for (int32_t w = 0; w < n; ++w) begins[w + 1] = begins[w] + size(counts[w]);
  return begins[n];
}

// The searches of all features; thresholds and buckets have one block of memory each.
template <class Real>
class ThresholdSearches {
 public:
  ThresholdSearches(DbTeam* team, const double* thresholds, const int32_t* counts, int32_t n,
                    int64_t rows)
      : searches_(n), first_(n + 1), cut_(n + 1), bucket_(n + 1),
        cuts_(add_up(counts, n, cut_.get(), [](int32_t c) { return cut_places(c); })),
        starts_(add_up(counts, n, bucket_.get(),
                       [&](int32_t c) { return bucket_places(c, rows); })) {
    add_up(counts, n, first_.get(), [](int32_t c) { return c; });
    constexpr int32_t each = 32;
    share(team, (n + each - 1) / each, [&](int32_t piece) {
      for (int32_t w = piece * each; w < n && w < (piece + 1) * each; ++w) {
        const int32_t buckets = static_cast<int32_t>(bucket_[w + 1] - bucket_[w]);
        searches_[w] = prepare(thresholds + first_[w], counts[w], buckets, cuts_.get() + cut_[w],
                               buckets ? starts_.get() + bucket_[w] : nullptr);
      }
    });
  }
  const ThresholdSearch<Real>& operator[](int32_t w) const { return searches_[w]; }

 private:
  Scratch<ThresholdSearch<Real>> searches_;
  Scratch<size_t> first_, cut_, bucket_;
  Scratch<Real> cuts_;
  Scratch<int32_t> starts_;
};

}  // namespace DB_SPACE
