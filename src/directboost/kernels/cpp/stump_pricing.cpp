// Pricing: the best stump of every feature for given coefficients A.
#include <cmath>

#include "histogram.h"
#include "thresholds.h"
#include "penalties.h"

namespace DB_SPACE {

// The first of the 2 n prices (plus, minus, plus, minus ...) within `tie` of the largest.
inline int32_t first_of_best(const double* prices, int32_t n, double tie, double* best) {
  double top = 0.0;
  for (int32_t i = 0; i < n; ++i) top = prices[i] > top ? prices[i] : top;
  *best = top;
  for (int32_t i = 0; i < n; ++i)
    if (prices[i] >= top * (1.0 - tie)) return i;
  return 0;
}

inline int32_t features_per_piece(int64_t entries) {
  const int64_t features = kPiece / (entries > 0 ? entries : 1);
  return features > kTogether ? static_cast<int32_t>(features) : kTogether;
}

// Puts the dense features first, since they are processed in pairs.
template <class Code>
void order_features(const SparseCodes<Code>& sparse_codes, const int32_t* n_bins,
                    int32_t n_features, int32_t* order, int32_t* bins) {
  int32_t n = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int32_t f = 0; f < n_features; ++f)
      if (sparse_codes.is_sparse(f) == (pass == 1)) order[n] = f, bins[n++] = n_bins[f];
}

// Parameters of the prices, and the arrays for the best stump of every feature.
struct Prices {
  const uint8_t* kinds;
  int32_t q;
  const double* costs;
  double tie;
  double* price;
  int32_t* threshold;
  int8_t* polarity;

  // `scratch` holds the prices of all thresholds and two rows of sums.
  template <class Real>
  void take_best(int32_t f, const Real* hist, int32_t n_bins, int32_t k, double* scratch) const {
    price[f] = 0.0, threshold[f] = 0, polarity[f] = 1;
    if (n_bins < 2) return;
    double *total = scratch, *prefix = total + k, *prices = prefix + k;
    sum_bins(hist, n_bins, k, total);
    int32_t count = 0;
    walk_thresholds(hist, n_bins, kinds[f], k, prefix, [&](int32_t j) {
      const DualNorms both = dual_norms(total, prefix, k, q);
      prices[2 * j] = both.plus;
      prices[2 * j + 1] = both.minus;
      count = j + 1;
    });
    const int32_t best = first_of_best(prices, 2 * count, tie, price + f);
    price[f] /= costs[f];
    threshold[f] = best / 2;
    polarity[f] = best % 2 == 0 ? 1 : -1;
  }
};

template <class Code, class Real>
void price_features(const HistogramBuilder<Code, Real>& rows, const int32_t* features,
                    const int32_t* n_bins, int32_t count, const Prices& out) {
  const int32_t widest = widest_of(n_bins, count);
  const size_t stride = static_cast<size_t>(widest) * rows.k;
  const int32_t group = count < kTogether ? count : kTogether;
  Scratch<Real> hist(group * stride);
  Scratch<double> scratch(4 * static_cast<size_t>(widest) + 2 * static_cast<size_t>(rows.k));
  for (int32_t first = 0; first < count; first += group) {
    const int32_t n = count - first < group ? count - first : group;
    std::memset(hist.get(), 0, sizeof(Real) * group * stride);
    rows.build(features + first, n_bins + first, n, stride, hist.get());
    for (int32_t j = 0; j < n; ++j)
      out.take_best(features[first + j], hist.get() + j * stride, n_bins[first + j], rows.k,
                    scratch.get());
  }
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(price)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                 const DbSparseCodes* sparse, int32_t n_features,
                                 const int32_t* n_bins, const uint8_t* kinds, const void* A,
                                 int32_t real_bytes, int32_t k, int32_t q, const double* costs,
                                 double tie, double* price, int32_t* threshold, int8_t* polarity) {
  using namespace DB_SPACE;
  return status_of([&] {
    const int32_t size = features_per_piece(m * k);
    const Prices out{kinds, q, costs, tie, price, threshold, polarity};
    Scratch<int32_t> order(n_features), bins(n_features);
    Scratch<double> total(k);
    with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
      using Code = Pointee<decltype(code)>;
      using Real = Pointee<decltype(real)>;
      const HistogramBuilder<Code, Real> rows{static_cast<const Code*>(codes), {sparse, m}, m,
                                              static_cast<const Real*>(A), k, total.get()};
      order_features(rows.sparse_codes, n_bins, n_features, order.get(), bins.get());
      if (rows.sparse_codes.any()) sum_rows(team, rows.A, m, k, total.get());
      share(team, (n_features + size - 1) / size, [&](int32_t piece) {
        const int32_t begin = piece * size;
        const int32_t count = size < n_features - begin ? size : n_features - begin;
        price_features(rows, order.get() + begin, bins.get() + begin, count, out);
      });
    });
  });
}
