// Pricing: the best stump of every feature for given coefficients A.
#include <cmath>

#include "common.h"
#include "team.h"

namespace DB_SPACE {

// The two polarities' dual norms of the positive part of the edges (total - 2 * prefix).
struct Pair {
  double plus, minus;
};

inline Pair dual_norms(const double* total, const double* prefix, int32_t k, int32_t q) {
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

// Walks over the jumps of a feature in their order and hands the prefix sum of each to `visit`.
template <class Real, class Visit>
inline void walk_jumps(const Real* hist, int32_t n_bins, bool missing, int32_t k, double* prefix,
                       Visit visit) {
  for (int32_t r = 0; r < k; ++r) prefix[r] = 0.0;
  for (int32_t j = 0; j + 1 < n_bins; ++j) {
    for (int32_t r = 0; r < k; ++r) prefix[r] += hist[static_cast<size_t>(j) * k + r];
    visit(j);
  }
  if (!missing) return;
  const Real* gone = hist + static_cast<size_t>(n_bins - 1) * k;
  for (int32_t r = 0; r < k; ++r) prefix[r] = gone[r];
  for (int32_t b = 0; b + 2 < n_bins; ++b) {
    for (int32_t r = 0; r < k; ++r) prefix[r] += hist[static_cast<size_t>(b) * k + r];
    visit(n_bins - 1 + b);
  }
}

template <class Real>
inline void sum_bins(const Real* hist, int32_t n_bins, int32_t k, double* total) {
  for (int32_t r = 0; r < k; ++r) total[r] = 0.0;
  for (int32_t t = 0; t < n_bins; ++t)
    for (int32_t r = 0; r < k; ++r) total[r] += hist[static_cast<size_t>(t) * k + r];
}

// The first of the 2 n prices (plus, minus, plus, minus ...) within `tie` of the largest.
inline int32_t first_of_best(const double* prices, int32_t n, double tie, double* best) {
  double top = 0.0;
  for (int32_t i = 0; i < n; ++i) top = prices[i] > top ? prices[i] : top;
  *best = top;
  for (int32_t i = 0; i < n; ++i)
    if (prices[i] >= top * (1.0 - tie)) return i;
  return 0;
}

constexpr int32_t kTogether = 8;       // features that share one pass over A
constexpr size_t kRowBytes = 1 << 14;  // of A that stay in the nearest cache meanwhile
constexpr int64_t kPiece = 200000;     // (row, feature, class) triples that are worth a piece

inline int32_t features_per_piece(int64_t entries) {
  const int64_t features = kPiece / (entries > 0 ? entries : 1);
  return features > kTogether ? static_cast<int32_t>(features) : kTogether;
}

// Histograms of features first..last-1: blocks of rows, all features on each, so that A is read
// from memory once per group. Every sum still runs over the rows in order.
template <class Code, class Real>
inline void gather_together(const Code* codes, int64_t m, int32_t first, int32_t last,
                            const Real* A, int32_t k, size_t stride, Real* hist) {
  const int64_t rows = static_cast<int64_t>(kRowBytes / (sizeof(Real) * k)) + 1;
  for (int64_t begin = 0; begin < m; begin += rows) {
    const int64_t n = begin + rows < m ? rows : m - begin;
    for (int32_t f = first; f < last; ++f)
      histogram_rows(codes + static_cast<size_t>(f) * m + begin, n, k,
                     A + static_cast<size_t>(begin) * k, hist + (f - first) * stride);
  }
}

// The same for listed features, written out in double precision.
template <class Real, class Code>
void gather_listed(const Code* codes, int64_t m, const int32_t* features, const int32_t* n_bins,
                   int32_t count, const Real* A, int32_t k, double* out) {
  int32_t widest = 1;
  for (int32_t f = 0; f < count; ++f) widest = n_bins[f] > widest ? n_bins[f] : widest;
  const size_t stride = static_cast<size_t>(widest) * k;
  Scratch<Real> hist(count * stride);
  const int64_t rows = static_cast<int64_t>(kRowBytes / (sizeof(Real) * k)) + 1;
  for (int64_t begin = 0; begin < m; begin += rows) {
    const int64_t n = begin + rows < m ? rows : m - begin;
    for (int32_t f = 0; f < count; ++f)
      histogram_rows(codes + static_cast<size_t>(features[f]) * m + begin, n, k,
                     A + static_cast<size_t>(begin) * k, hist.get() + f * stride);
  }
  for (int32_t f = 0; f < count; ++f) {
    const size_t size = static_cast<size_t>(n_bins[f]) * k;
    for (size_t i = 0; i < size; ++i) out[i] = hist[f * stride + i];
    out += size;
  }
}

template <class Code, class Real>
void price_features(const Code* codes, int64_t m, const int32_t* n_bins, const uint8_t* missing,
                    int32_t begin, int32_t end, const Real* A, int32_t k, int32_t q,
                    const double* costs, double tie, double* price, int32_t* jump,
                    int8_t* polarity) {
  int32_t widest = 2;
  for (int32_t f = begin; f < end; ++f) widest = n_bins[f] > widest ? n_bins[f] : widest;
  const size_t stride = static_cast<size_t>(widest) * k;
  const int32_t group = end - begin < kTogether ? end - begin : kTogether;
  Scratch<Real> hist(group * stride);
  Scratch<double> prices(4 * static_cast<size_t>(widest)), total(k), prefix(k);
  for (int32_t first = begin; first < end; first += group) {
    const int32_t last = first + group < end ? first + group : end;
    std::memset(hist.get(), 0, sizeof(Real) * group * stride);
    gather_together(codes, m, first, last, A, k, stride, hist.get());
    for (int32_t f = first; f < last; ++f) {
      price[f] = 0.0;
      jump[f] = 0;
      polarity[f] = 1;
      if (n_bins[f] < 2) continue;
      const Real* sums = hist.get() + (f - first) * stride;
      sum_bins(sums, n_bins[f], k, total.get());
      int32_t count = 0;
      walk_jumps(sums, n_bins[f], missing[f] != 0, k, prefix.get(), [&](int32_t j) {
        const Pair both = dual_norms(total.get(), prefix.get(), k, q);
        prices[2 * j] = both.plus;
        prices[2 * j + 1] = both.minus;
        count = j + 1;
      });
      const int32_t best = first_of_best(prices.get(), 2 * count, tie, price + f);
      price[f] /= costs[f];
      jump[f] = best / 2;
      polarity[f] = best % 2 == 0 ? 1 : -1;
    }
  }
}

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(price)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                              int32_t n_features, const int32_t* n_bins, const uint8_t* missing,
                              const void* A, int32_t real_bytes, int32_t k, int32_t q,
                              const double* costs, double tie, double* price, int32_t* jump,
                              int8_t* polarity) {
  using namespace DB_SPACE;
  const int32_t size = features_per_piece(m * k);
  with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    share(team, (n_features + size - 1) / size, [&](int32_t piece) {
      const int32_t begin = piece * size;
      const int32_t end = begin + size < n_features ? begin + size : n_features;
      price_features(static_cast<decltype(code)>(codes), m, n_bins, missing, begin, end,
                     static_cast<decltype(real)>(A), k, q, costs, tie, price, jump, polarity);
    });
  });
}

DB_EXPORT void DB_NAME(edges)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                              int32_t missing, const void* A, int32_t real_bytes, int32_t k,
                              double* out) {
  using namespace DB_SPACE;
  if (n_bins < 2) return;
  Scratch<double> hist(static_cast<size_t>(n_bins) * k), total(k), prefix(k);
  const int32_t first = 0;
  DB_NAME(histograms)(nullptr, codes, code_bytes, m, &first, &n_bins, 1, A, real_bytes, k,
                      hist.get());
  sum_bins(hist.get(), n_bins, k, total.get());
  walk_jumps(hist.get(), n_bins, missing != 0, k, prefix.get(), [&](int32_t j) {
    for (int32_t r = 0; r < k; ++r)
      out[static_cast<size_t>(j) * k + r] = total[r] - 2.0 * prefix[r];
  });
}

DB_EXPORT void DB_NAME(histograms)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                   const int32_t* features, const int32_t* n_bins, int32_t n_work,
                                   const void* A, int32_t real_bytes, int32_t k, double* out) {
  using namespace DB_SPACE;
  const int32_t size = m * k < kPiece ? kTogether : kTogether / 2;
  Scratch<size_t> begin_of(static_cast<size_t>(n_work) + 1);
  for (int32_t w = 0; w < n_work; ++w)
    begin_of[w + 1] = begin_of[w] + static_cast<size_t>(n_bins[w]) * k;
  with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    share(team, (n_work + size - 1) / size, [&](int32_t piece) {
      const int32_t begin = piece * size, end = begin + size < n_work ? begin + size : n_work;
      gather_listed<Real>(static_cast<decltype(code)>(codes), m, features + begin, n_bins + begin,
                          end - begin, static_cast<const Real*>(A), k, out + begin_of[begin]);
    });
  });
}

DB_EXPORT int32_t DB_NAME(usable)() {
#if defined(__AVX2__) && defined(__FMA__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return 1;
#endif
}
