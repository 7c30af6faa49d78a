// Pricing: the best product of two stumps of every pair of features for given coefficients A.
//
// The edges of a product are T - 2 R - 2 K + 4 P: T is the sum of all rows of A, R and K are the
// sums over the rows where the one and the other stump is -1, and P is the sum where both are. A
// piece of work is one feature `a` with several partners. Its rows are put in the order of the code
// of `a`, so that the sums P of a threshold of `a` grow from those of the threshold before it; what is left is
// a walk over the bins of each partner.
#include <cmath>

#include "histogram.h"
#include "thresholds.h"

namespace DB_SPACE {

// Registers in N row vectors: one of eight floats, two of four doubles.
template <int N, class Real>
constexpr int kRegisters = N * kRowLanes / Register<Real>::kLanes;

constexpr int32_t kPartners = 8;       // partners that share each row of A that is loaded
constexpr int32_t kMostPartners = 64;  // partners of a piece

// Features with few bins, whose pairs are priced. `thresholds` may be less than `count_thresholds`: the last
// codes of a categorical feature then have no threshold.
struct PairBins {
  const uint8_t* codes;  // (m, n) row-major
  int64_t m;
  int32_t n;
  const int32_t* n_bins;
  const uint8_t* kinds;
  const int32_t* n_thresholds;

  int32_t largest(const int32_t* counts) const {
    int32_t most = 1;
    for (int32_t f = 0; f < n; ++f) most = counts[f] > most ? counts[f] : most;
    return most;
  }
};

// What the prices depend on besides the codes. Rows of sums are padded to a multiple of eight.
template <class Real>
struct PairSums {
  const Real* A;  // (m, k)
  int32_t k;
  int32_t width;           // k, padded
  int32_t most_bins;       // largest number of bins of a feature
  int32_t most_thresholds;      // and of thresholds
  const Real* total;       // (width,)
  const Real* minus_side;  // (n, most_thresholds, width): sums over the rows where the threshold is -1

  const Real* minus_sides_of(int32_t f) const {
    return minus_side + static_cast<size_t>(f) * most_thresholds * width;
  }
};

// Calls visit(j) for every threshold, after `prefix` has become the sum of the bins where it is -1.
template <int N, class Real, class Visit>
DB_INLINE void walk_minus_sides(const Real* hist, int32_t n_bins, uint8_t kind, int32_t n_thresholds,
                                int32_t vectors, Real* prefix, Visit visit) {
  const size_t width = static_cast<size_t>(N > 0 ? N : vectors) * kRowLanes;
  if (kind == DB_CATEGORICAL) {
    for (int32_t j = 0; j < n_thresholds; ++j) {
      std::memcpy(prefix, hist + j * width, sizeof(Real) * width);
      visit(j);
    }
    return;
  }
  std::memset(prefix, 0, sizeof(Real) * width);
  for (int32_t j = 0; j + 1 < n_bins; ++j) {
    add_vectors<N>(prefix, hist + j * width, vectors);
    visit(j);
  }
  if (kind != DB_WITH_MISSING) return;
  std::memcpy(prefix, hist + (n_bins - 1) * width, sizeof(Real) * width);
  for (int32_t b = 0; b + 2 < n_bins; ++b) {
    add_vectors<N>(prefix, hist + b * width, vectors);
    visit(n_bins - 1 + b);
  }
}

// The products of one pair that may have the best price, and the best product of every threshold of
// its first feature. Products that are certainly neither, nor close to the best, are left out.
struct Candidates {
  double* price;
  int32_t* place;  // 2 (threshold of a * thresholds of b + threshold of b) + (polarity < 0)
  double* row_price;  // by threshold of a
  int32_t* row_place;
  int32_t count;
  double top;

  // Below this price a product of the threshold is of no interest.
  DB_INLINE double floor_of(int32_t threshold) const {
    const double near = kNear * top, own = row_price[threshold];
    const double floor = own > near ? own : near;
    return floor < top ? floor : top;
  }

  DB_INLINE void add(int32_t threshold, int32_t at, double plus, double minus, double tie) {
    const double floor = top * (1.0 - tie);
    if (plus >= floor && plus > 0.0) price[count] = plus, place[count++] = 2 * at;
    if (minus >= floor && minus > 0.0) price[count] = minus, place[count++] = 2 * at + 1;
    const double best = plus > minus ? plus : minus;
    top = best > top ? best : top;
    if (best <= row_price[threshold] * (1.0 + tie)) return;
    row_price[threshold] = best;
    row_place[threshold] = 2 * at + (minus > plus * (1.0 + tie));
  }

  // The first product whose price is within the width of a tie of the best.
  int32_t first_of_best(double tie) const {
    for (int32_t i = 0; i < count; ++i)
      if (price[i] >= top * (1.0 - tie)) return place[i];
    return 0;
  }

  // Sets the prices of all thresholds of a to zero whose best product is worse than that of a
  // neighbour, or much worse than the best of all. Of neighbours with equal prices the first stays.
  void keep_peaks(int32_t thresholds, double tie) {
    double before = 0.0;
    for (int32_t row = 0; row < thresholds; ++row) {
      const double own = row_price[row];
      const double after = row + 1 < thresholds ? row_price[row + 1] : 0.0;
      const bool peak = own > before * (1.0 + tie) && after <= own * (1.0 + tie);
      if (!peak || own < kNear * top) row_price[row] = 0.0;
      before = own;
    }
  }

  // Takes the highest of the prices that are left: the first one if several are equal. Returns its
  // threshold of a, or -1 if there is none.
  int32_t take(int32_t thresholds, double tie, double* found) {
    double highest = 0.0;
    for (int32_t row = 0; row < thresholds; ++row)
      highest = row_price[row] > highest ? row_price[row] : highest;
    if (highest == 0.0) return -1;
    int32_t row = 0;
    while (row_price[row] < highest * (1.0 - tie)) ++row;
    *found = row_price[row];
    row_price[row] = 0.0;
    return row;
  }

 private:
  static constexpr double kNear = 0.8;  // share of the best price that a further proposal has
};

// The dual norms of the positive parts of E and -E, to the power two for q = 2. Padded entries are 0.
template <int M, class Real>
DB_INLINE void norms_of(const Register<Real>* E, int32_t q, double* plus, double* minus) {
  using V = Register<Real>;
  const V zero = V::all(0);
  V up = zero, down = zero;
  for (int v = 0; v < M; ++v) {
    const V high = E[v].max(zero), low = (zero - E[v]).max(zero);
    if (q == 0) {
      up = up.max(high), down = down.max(low);
    } else {
      up = up + (q == 2 ? high * high : high), down = down + (q == 2 ? low * low : low);
    }
  }
  *plus = q == 0 ? up.highest() : up.sum();
  *minus = q == 0 ? down.highest() : down.sum();
}

// Prices the product of threshold `i` of `a` and threshold `j` of a partner, for the sums K and P over
// the rows where the latter is -1, or both are; `base` is T - 2 R.
template <int M, class Real>
DB_INLINE void price_product(const Register<Real>* base, const Real* K, const Register<Real>* P,
                             int32_t q, double tie, int32_t i, int32_t at, Candidates* best) {
  using V = Register<Real>;
  const V two = V::all(2), four = V::all(4);
  V E[M], squares = V::all(0);
  for (int v = 0; v < M; ++v) {
    E[v] = base[v] - two * V::load(K + v * V::kLanes) + four * P[v];
    squares = squares + E[v] * E[v];
  }
  // The norm of E bounds both prices, and costs half as much as they do.
  const double floor = best->floor_of(i);
  if (q == 2 && squares.sum() < floor * floor * (1.0 - 4.0 * tie)) return;
  double plus, minus;
  norms_of<M, Real>(E, q, &plus, &minus);
  if (q == 2) plus = std::sqrt(plus), minus = std::sqrt(minus);
  best->add(i, at, plus, minus, tie);
}

// Prices the products of threshold `i` of `a` with all thresholds of a partner. `hist` holds the
// sums over the rows where the threshold of `a` is -1, by the code of the partner.
template <int N, class Real>
void price_products(const Real* hist, int32_t n_bins, uint8_t kind, int32_t n_thresholds,
                    const Real* minus_sides, const Real* base, int32_t vectors, int32_t q,
                    double tie, int32_t i, Real* prefix, Candidates* best) {
  using V = Register<Real>;
  const int32_t n = N > 0 ? N : vectors;
  const auto K_of = [&](int32_t j) { return minus_sides + static_cast<size_t>(j) * n * kRowLanes; };
  if constexpr (N > 0) {
    constexpr int M = kRegisters<N, Real>;
    V T[M], P[M];
    for (int v = 0; v < M; ++v) T[v] = V::load(base + v * V::kLanes), P[v] = V::all(0);
    if (kind == DB_ORDERED) {  // the usual kind: the prefix stays in registers
      for (int32_t j = 0; j + 1 < n_bins; ++j) {
        for (int v = 0; v < M; ++v)
          P[v] = P[v] + V::load(hist + (static_cast<size_t>(j) * M + v) * V::kLanes);
        price_product<M, Real>(T, K_of(j), P, q, tie, i, i * n_thresholds + j, best);
      }
      return;
    }
    walk_minus_sides<N>(hist, n_bins, kind, n_thresholds, vectors, prefix, [&](int32_t j) {
      for (int v = 0; v < M; ++v) P[v] = V::load(prefix + v * V::kLanes);
      price_product<M, Real>(T, K_of(j), P, q, tie, i, i * n_thresholds + j, best);
    });
  } else {
    const V two = V::all(2), four = V::all(4);
    walk_minus_sides<0>(hist, n_bins, kind, n_thresholds, vectors, prefix, [&](int32_t j) {
      double plus = 0.0, minus = 0.0;
      for (int32_t r = 0; r < n * kRowLanes; r += V::kLanes) {
        const V E = V::load(base + r) - two * V::load(K_of(j) + r) + four * V::load(prefix + r);
        double up, down;
        norms_of<1, Real>(&E, q, &up, &down);
        plus = q == 0 ? (up > plus ? up : plus) : plus + up;
        minus = q == 0 ? (down > minus ? down : minus) : minus + down;
      }
      if (q == 2) plus = std::sqrt(plus), minus = std::sqrt(minus);
      best->add(i, i * n_thresholds + j, plus, minus, tie);
    });
  }
}

// The rows of A and the codes of the partners in the order of the code of `a`.
template <class Real>
struct OrderedRows {
  Scratch<Real> A;         // (m, width)
  Scratch<uint8_t> codes;  // (m, partners)
  Scratch<int64_t> start;  // (n_bins + 1,): the rows of every code of `a`

  OrderedRows(const PairBins& bins, const PairSums<Real>& sums, int32_t a, const int32_t* partners,
              int32_t count)
      : A(static_cast<size_t>(bins.m) * sums.width),
        codes(static_cast<size_t>(bins.m) * count, Uninitialised()),
        start(static_cast<size_t>(bins.n_bins[a]) + 1) {
    Scratch<int64_t> next(static_cast<size_t>(bins.n_bins[a]) + 1);
    const uint8_t* own = bins.codes + a;
    for (int64_t i = 0; i < bins.m; ++i) ++next[own[i * bins.n] + 1];
    for (int32_t c = 0; c < bins.n_bins[a]; ++c) next[c + 1] += next[c];
    std::memcpy(start.get(), next.get(), sizeof(int64_t) * (bins.n_bins[a] + 1));
    const bool adjacent = partners[count - 1] - partners[0] == count - 1;
    for (int64_t i = 0; i < bins.m; ++i) {
      const uint8_t* row = bins.codes + i * bins.n;
      const int64_t to = next[row[a]]++;
      uint8_t* code = codes.get() + to * count;
      if (adjacent)
        std::memcpy(code, row + partners[0], count);
      else
        for (int32_t j = 0; j < count; ++j) code[j] = row[partners[j]];
      std::memcpy(A.get() + to * sums.width, sums.A + i * sums.k, sizeof(Real) * sums.k);
    }
  }

  // hist_j[code] += A for the rows of one code of `a` and `Count` partners from `first`.
  template <int N, int Count>
  void add(int32_t code, int32_t first, int32_t partners, size_t stride, int32_t vectors,
           Real* hist) const {
    using V = Register<Real>;
    const size_t width = static_cast<size_t>(N > 0 ? N : vectors) * kRowLanes;
    for (int64_t i = start[code]; i < start[code + 1]; ++i) {
      const Real* row = A.get() + i * width;
      const uint8_t* at = codes.get() + i * partners + first;
      if constexpr (N > 0) {
        constexpr int M = kRegisters<N, Real>;
        V from[M];
        for (int v = 0; v < M; ++v) from[v] = V::load(row + v * V::kLanes);
        for (int j = 0; j < Count; ++j) {
          Real* into = hist + j * stride + at[j] * width;
          for (int v = 0; v < M; ++v)
            (V::load(into + v * V::kLanes) + from[v]).store(into + v * V::kLanes);
        }
      } else {
        for (int j = 0; j < Count; ++j)
          add_vectors<0>(hist + j * stride + at[j] * width, row, vectors);
      }
    }
  }

  template <int N>
  void add_some(int32_t code, int32_t first, int32_t count, int32_t partners, size_t stride,
                int32_t vectors, Real* hist) const {
    if (count == kPartners) return add<N, kPartners>(code, first, partners, stride, vectors, hist);
    for (int32_t j = 0; j < count; ++j)
      add<N, 1>(code, first + j, partners, stride, vectors, hist + j * stride);
  }
};

// Where the results go.
struct PairPrices {
  int32_t q;
  double tie;
  const double* costs;
  int32_t most;  // products per pair
  double* price;        // (n_pairs, most)
  int32_t* thresholds;  // (n_pairs, most, 2)
  int8_t* polarity;     // (n_pairs, most)

  // Writes the best product of a pair, then the peaks of other thresholds by descending price.
  void write(int32_t pair, Candidates* best, int32_t of_a, int32_t of_b) const {
    const int32_t found = best->first_of_best(tie);
    put(pair, 0, best->top, found, of_b);
    best->keep_peaks(of_a, tie);
    if (of_a > 0) best->row_price[found / 2 / of_b] = 0.0;
    for (int32_t at = 1; at < most; ++at) {
      double value = 0.0;
      const int32_t row = best->take(of_a, tie, &value);
      put(pair, at, value, row < 0 ? 0 : best->row_place[row], of_b);
    }
  }

 private:
  void put(int32_t pair, int32_t at, double value, int32_t place, int32_t of_b) const {
    const size_t to = static_cast<size_t>(pair) * most + at;
    price[to] = value / costs[pair];
    thresholds[2 * to] = place / 2 / of_b;
    thresholds[2 * to + 1] = place / 2 % of_b;
    polarity[to] = place % 2 == 0 ? 1 : -1;
  }
};

// Prices the pairs of `a` with the given partners, pair after pair from number `first_pair` on.
template <int N, class Real>
void price_partners(const PairBins& bins, const PairSums<Real>& sums, int32_t a,
                    const int32_t* partners, int32_t count, int32_t first_pair,
                    const PairPrices& out) {
  const int32_t vectors = sums.width / kRowLanes, thresholds = bins.n_thresholds[a];
  const size_t width = sums.width, stride = static_cast<size_t>(sums.most_bins) * width;
  const OrderedRows<Real> rows(bins, sums, a, partners, count);
  const size_t most = 2 * static_cast<size_t>(thresholds) * sums.most_thresholds;
  Scratch<Real> hist(kPartners * stride), base(width), prefix(width);
  Scratch<double> price(kPartners * most, Uninitialised());
  Scratch<int32_t> place(kPartners * most, Uninitialised());
  Scratch<double> row_price(kPartners * static_cast<size_t>(thresholds));
  Scratch<int32_t> row_place(kPartners * static_cast<size_t>(thresholds));
  Candidates best[kPartners];
  for (int32_t first = 0; first < count; first += kPartners) {
    const int32_t n = count - first < kPartners ? count - first : kPartners;
    for (int32_t j = 0; j < n; ++j)
      best[j] = {price.get() + j * most, place.get() + j * most, row_price.get() + j * thresholds,
                 row_place.get() + j * thresholds, 0, 0.0};
    for (int32_t i = 0; i < kPartners * thresholds; ++i) row_price[i] = 0.0;
    const auto add = [&](int32_t code) {
      rows.template add_some<N>(code, first, n, count, stride, vectors, hist.get());
    };
    const auto scan = [&](int32_t threshold) {
      const Real* R = sums.minus_sides_of(a) + static_cast<size_t>(threshold) * width;
      for (size_t r = 0; r < width; ++r) base[r] = sums.total[r] - 2 * R[r];
      for (int32_t j = 0; j < n; ++j) {
        const int32_t b = partners[first + j];
        price_products<N>(hist.get() + j * stride, bins.n_bins[b], bins.kinds[b], bins.n_thresholds[b],
                          sums.minus_sides_of(b), base.get(), vectors, out.q, out.tie,
                          threshold, prefix.get(), best + j);
      }
    };
    const auto clear = [&] { std::memset(hist.get(), 0, sizeof(Real) * kPartners * stride); };
    clear();
    if (bins.kinds[a] == DB_CATEGORICAL) {
      for (int32_t threshold = 0; threshold < thresholds; ++threshold) add(threshold), scan(threshold), clear();
    } else {
      const int32_t n_bins = bins.n_bins[a];
      for (int32_t code = 0; code + 1 < n_bins; ++code) add(code), scan(code);
      if (bins.kinds[a] == DB_WITH_MISSING) {
        clear();
        add(n_bins - 1);
        for (int32_t code = 0; code + 2 < n_bins; ++code) add(code), scan(n_bins - 1 + code);
      }
    }
    for (int32_t j = 0; j < n; ++j) {
      const int32_t of_b = bins.n_thresholds[partners[first + j]];
      out.write(first_pair + first + j, best + j, thresholds, of_b);
    }
  }
}

// The sums over the minus sides of all thresholds of all features, and the total.
template <class Real>
void sum_minus_sides(DbTeam* team, const PairBins& bins, const Real* A, int32_t k, int32_t width,
                     int32_t most_bins, int32_t most_thresholds, Real* total, Real* out) {
  const int32_t vectors = width / kRowLanes;
  share(team, bins.n, [&](int32_t f) {
    Scratch<Real> hist(static_cast<size_t>(most_bins) * width), prefix(width);
    with_width(k, [&](auto constant) {
      constexpr int K = decltype(constant)::value;
      for (int64_t i = 0; i < bins.m; ++i)
        add_row<K>(hist.get() + static_cast<size_t>(bins.codes[i * bins.n + f]) * width, A + i * k,
                   k);
    });
    Real* own = out + static_cast<size_t>(f) * most_thresholds * width;
    walk_minus_sides<0>(hist.get(), bins.n_bins[f], bins.kinds[f], bins.n_thresholds[f], vectors,
                        prefix.get(), [&](int32_t j) {
                          std::memcpy(own + static_cast<size_t>(j) * width, prefix.get(),
                                      sizeof(Real) * width);
                        });
    if (f > 0) return;
    for (int32_t c = 0; c < bins.n_bins[0]; ++c)
      add_vectors<0>(total, hist.get() + static_cast<size_t>(c) * width, vectors);
  });
}

// Ends of the pieces: pairs of the same first feature, at most kMostPartners of them.
inline int32_t cut_pieces(const int32_t* pairs, int32_t n_pairs, int32_t* ends) {
  int32_t pieces = 0;
  for (int32_t i = 0, begin = 0; i < n_pairs; ++i) {
    const bool last = i + 1 == n_pairs || pairs[2 * i + 2] != pairs[2 * i];
    if (last || i + 1 - begin == kMostPartners) ends[pieces++] = begin = i + 1;
  }
  return pieces;
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(price_pairs)(DbTeam* team, const uint8_t* codes, int64_t m, int32_t n,
                                       const int32_t* n_bins, const uint8_t* kinds,
                                       const int32_t* n_thresholds, const int32_t* pairs,
                                       int32_t n_pairs, const void* A, int32_t real_bytes,
                                       int32_t k, int32_t q, const double* costs, double tie,
                                       int32_t most, double* price, int32_t* thresholds,
                                       int8_t* polarity) {
  using namespace DB_SPACE;
  return status_of([&] {
    if (n_pairs == 0) return;
    const PairBins bins{codes, m, n, n_bins, kinds, n_thresholds};
    const PairPrices out{q, tie, costs, most, price, thresholds, polarity};
    const int32_t width = padded(k);
    const int32_t most_bins = bins.largest(n_bins), most_thresholds = bins.largest(n_thresholds);
    Scratch<int32_t> ends(n_pairs), partners(n_pairs);
    for (int32_t i = 0; i < n_pairs; ++i) partners[i] = pairs[2 * i + 1];
    const int32_t pieces = cut_pieces(pairs, n_pairs, ends.get());
    with_reals(real_bytes, [&](auto* real) {
      using Real = Pointee<decltype(real)>;
      const Real* rows = static_cast<const Real*>(A);
      Scratch<Real> total(width), minus_sides(static_cast<size_t>(n) * most_thresholds * width);
      sum_minus_sides(team, bins, rows, k, width, most_bins, most_thresholds, total.get(),
                      minus_sides.get());
      const PairSums<Real> sums{rows,       k,           width,
                                most_bins,  most_thresholds,  total.get(),
                                minus_sides.get()};
      share(team, pieces, [&](int32_t piece) {
        const int32_t begin = piece > 0 ? ends[piece - 1] : 0;
        with_row_vectors(k, [&](auto constant) {
          price_partners<decltype(constant)::value>(bins, sums, pairs[2 * begin],
                                                    partners.get() + begin, ends[piece] - begin,
                                                    begin, out);
        });
      });
    });
  });
}
