// Pricing: the best stump of every feature for given coefficients A.
#include <cmath>

#include "gather.h"

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

// Walks over the jumps of a feature in their order and hands the sum of the bins that each answers
// -1 to `visit`.
template <class Real, class Visit>
inline void walk_jumps(const Real* hist, int32_t n_bins, uint8_t kind, int32_t k, double* prefix,
                       Visit visit) {
  if (kind == DB_LEVELS) {
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
  if (kind != DB_GAPS) return;
  const Real* gone = hist + static_cast<size_t>(n_bins - 1) * k;
  for (int32_t r = 0; r < k; ++r) prefix[r] = gone[r];
  for (int32_t b = 0; b + 2 < n_bins; ++b) {
    for (int32_t r = 0; r < k; ++r) prefix[r] += hist[static_cast<size_t>(b) * k + r];
    visit(n_bins - 1 + b);
  }
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

constexpr int64_t kPiece = 200000;  // (row, feature, class) triples that are worth a piece

inline int32_t features_per_piece(int64_t entries) {
  const int64_t features = kPiece / (entries > 0 ? entries : 1);
  return features > kTogether ? static_cast<int32_t>(features) : kTogether;
}

inline int32_t widest_of(const int32_t* n_bins, int32_t count) {
  int32_t widest = 2;
  for (int32_t f = 0; f < count; ++f) widest = n_bins[f] > widest ? n_bins[f] : widest;
  return widest;
}

// The features without a list first: they are taken in pairs.
template <class Code>
void order_features(const Lists<Code>& lists, const int32_t* n_bins, int32_t n_features,
                    int32_t* order, int32_t* bins) {
  int32_t n = 0;
  for (int32_t listed = 0; listed < 2; ++listed)
    for (int32_t f = 0; f < n_features; ++f)
      if (lists.has(f) == (listed > 0)) order[n] = f, bins[n++] = n_bins[f];
}

// How stumps are priced, and where the best of every feature goes.
struct Prices {
  const uint8_t* kinds;
  int32_t q;
  const double* costs;
  double tie;
  double* price;
  int32_t* jump;
  int8_t* polarity;

  // `room` is for the prices of all jumps, and two rows of sums.
  template <class Real>
  void take_best(int32_t f, const Real* hist, int32_t n_bins, int32_t k, double* room) const {
    price[f] = 0.0, jump[f] = 0, polarity[f] = 1;
    if (n_bins < 2) return;
    double *total = room, *prefix = total + k, *prices = prefix + k;
    sum_bins(hist, n_bins, k, total);
    int32_t count = 0;
    walk_jumps(hist, n_bins, kinds[f], k, prefix, [&](int32_t j) {
      const Pair both = dual_norms(total, prefix, k, q);
      prices[2 * j] = both.plus;
      prices[2 * j + 1] = both.minus;
      count = j + 1;
    });
    const int32_t best = first_of_best(prices, 2 * count, tie, price + f);
    price[f] /= costs[f];
    jump[f] = best / 2;
    polarity[f] = best % 2 == 0 ? 1 : -1;
  }
};

template <class Code, class Real>
void price_features(const Rows<Code, Real>& rows, const int32_t* features, const int32_t* n_bins,
                    int32_t count, const Prices& out) {
  const int32_t widest = widest_of(n_bins, count);
  const size_t stride = static_cast<size_t>(widest) * rows.k;
  const int32_t group = count < kTogether ? count : kTogether;
  Scratch<Real> hist(group * stride);
  Scratch<double> room(4 * static_cast<size_t>(widest) + 2 * static_cast<size_t>(rows.k));
  for (int32_t first = 0; first < count; first += group) {
    const int32_t n = count - first < group ? count - first : group;
    std::memset(hist.get(), 0, sizeof(Real) * group * stride);
    rows.gather(features + first, n_bins + first, n, stride, hist.get());
    for (int32_t j = 0; j < n; ++j)
      out.take_best(features[first + j], hist.get() + j * stride, n_bins[first + j], rows.k,
                    room.get());
  }
}

// Histograms of listed features, written out one after the other in double precision.
template <class Code, class Real>
void write_histograms(const Rows<Code, Real>& rows, const int32_t* features, const int32_t* n_bins,
                      int32_t count, double* out) {
  const size_t stride = static_cast<size_t>(widest_of(n_bins, count)) * rows.k;
  Scratch<Real> hist(count * stride);
  rows.gather(features, n_bins, count, stride, hist.get());
  for (int32_t f = 0; f < count; ++f) {
    const size_t size = static_cast<size_t>(n_bins[f]) * rows.k;
    for (size_t i = 0; i < size; ++i) out[i] = hist[f * stride + i];
    out += size;
  }
}

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(price)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                              const DbSparse* sparse, int32_t n_features, const int32_t* n_bins,
                              const uint8_t* kinds, const void* A, int32_t real_bytes, int32_t k,
                              int32_t q, const double* costs, double tie, double* price,
                              int32_t* jump, int8_t* polarity) {
  using namespace DB_SPACE;
  const int32_t size = features_per_piece(m * k);
  const Prices out{kinds, q, costs, tie, price, jump, polarity};
  Scratch<int32_t> order(n_features), bins(n_features);
  Scratch<double> total(k);
  with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const Rows<Code, Real> rows{static_cast<const Code*>(codes), {sparse, m}, m,
                                static_cast<const Real*>(A), k, total.get()};
    order_features(rows.lists, n_bins, n_features, order.get(), bins.get());
    if (rows.lists.any()) sum_rows(team, rows.A, m, k, total.get());
    share(team, (n_features + size - 1) / size, [&](int32_t piece) {
      const int32_t begin = piece * size;
      const int32_t count = size < n_features - begin ? size : n_features - begin;
      price_features(rows, order.get() + begin, bins.get() + begin, count, out);
    });
  });
}

DB_EXPORT void DB_NAME(edges)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                              int32_t kind, const void* A, int32_t real_bytes, int32_t k,
                              double* out) {
  using namespace DB_SPACE;
  if (n_bins < 2) return;
  Scratch<double> hist(static_cast<size_t>(n_bins) * k), total(k), prefix(k);
  const int32_t first = 0;
  DB_NAME(histograms)(nullptr, codes, code_bytes, m, nullptr, &first, &n_bins, 1, A, real_bytes, k,
                      hist.get());
  sum_bins(hist.get(), n_bins, k, total.get());
  walk_jumps(hist.get(), n_bins, static_cast<uint8_t>(kind), k, prefix.get(), [&](int32_t j) {
    for (int32_t r = 0; r < k; ++r)
      out[static_cast<size_t>(j) * k + r] = total[r] - 2.0 * prefix[r];
  });
}

DB_EXPORT void DB_NAME(histograms)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                   const DbSparse* sparse, const int32_t* features,
                                   const int32_t* n_bins, int32_t n_work, const void* A,
                                   int32_t real_bytes, int32_t k, double* out) {
  using namespace DB_SPACE;
  const int32_t size = m * k < kPiece ? kTogether : kTogether / 2;
  Scratch<size_t> begin_of(static_cast<size_t>(n_work) + 1);
  for (int32_t w = 0; w < n_work; ++w)
    begin_of[w + 1] = begin_of[w] + static_cast<size_t>(n_bins[w]) * k;
  Scratch<double> total(k);
  with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const Rows<Code, Real> rows{static_cast<const Code*>(codes), {sparse, m}, m,
                                static_cast<const Real*>(A), k, total.get()};
    if (rows.lists.any()) sum_rows(team, rows.A, m, k, total.get());
    share(team, (n_work + size - 1) / size, [&](int32_t piece) {
      const int32_t begin = piece * size, count = size < n_work - begin ? size : n_work - begin;
      write_histograms(rows, features + begin, n_bins + begin, count, out + begin_of[begin]);
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
