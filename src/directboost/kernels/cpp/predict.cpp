// Numbers to codes, and numbers to scores.
#include "search.h"
#include "team.h"

namespace DB_SPACE {

constexpr int32_t kTile = 16;   // features copied out of the rows together: whole cache lines
constexpr int32_t kPad = 8;     // keeps the columns of a tile out of each other's cache sets
constexpr int32_t kChunk = 32;  // features whose codes and tables stay in the nearest cache

// A matrix with strides in elements.
template <class Real>
struct View {
  const Real* data;
  int64_t m, row_stride, column_stride;
  const Real* at(int64_t i, int64_t f) const { return data + i * row_stride + f * column_stride; }
};

// Writes where the share of every feature begins, and returns the end of the last one.
template <class Size>
inline size_t add_up(const int32_t* counts, int32_t n, size_t* begins, Size size) {
  begins[0] = 0;
  for (int32_t w = 0; w < n; ++w) begins[w + 1] = begins[w] + size(counts[w]);
  return begins[n];
}

// The searches of all features, in one block of memory each for thresholds and buckets.
template <class Real>
class Searches {
 public:
  Searches(DbTeam* team, const double* thresholds, const int32_t* counts, int32_t n, int64_t rows)
      : searches_(n), first_(n + 1), cut_(n + 1), bucket_(n + 1),
        cuts_(add_up(counts, n, cut_.get(), [](int32_t c) { return cut_places(c); })),
        starts_(add_up(counts, n, bucket_.get(), [&](int32_t c) { return bucket_places(c, rows); })) {
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
  const Search<Real>& operator[](int32_t w) const { return searches_[w]; }

 private:
  Scratch<Search<Real>> searches_;
  Scratch<size_t> first_, cut_, bucket_;
  Scratch<Real> cuts_;
  Scratch<int32_t> starts_;
};

// Copies `rows` numbers of each of `n` neighbouring features into columns of a tile, row by row:
// every cache line is read once, whatever the strides.
template <class Real>
inline void copy_tile(const View<Real>& X, int64_t i, int32_t rows, int32_t f, int32_t n,
                      Real* tile) {
  for (int32_t r = 0; r < rows; ++r) {
    const Real* row = X.at(i + r, f);
    for (int32_t j = 0; j < n; ++j) tile[j * (kRows + kPad) + r] = row[j * X.column_stride];
  }
}

template <class Code, class Real>
inline void encode_tile(const View<Real>& X, const Searches<Real>& searches,
                        const int32_t* missing, int64_t i, int32_t rows, int32_t f, int32_t n,
                        Code* codes) {
  Real tile[kTile * (kRows + kPad)] = {};
  int32_t found[kRows];
  const bool whole = X.row_stride == 1 && rows == kRows;  // a column can be read where it lies
  if (!whole) copy_tile(X, i, rows, f, n, tile);
  for (int32_t j = 0; j < n; ++j) {
    const Real* x = whole ? X.at(i, f + j) : tile + j * (kRows + kPad);
    count_below(searches[f + j], x, missing[f + j], found);
    Code* out = codes + (f + j) * X.m + i;
    for (int32_t r = 0; r < rows; ++r) out[r] = static_cast<Code>(found[r]);
  }
}

// All tiles of a few rows one after the other: the rows may lie on a page each.
template <class Code, class Real>
void encode_all(DbTeam* team, const View<Real>& X, int32_t d, const double* thresholds,
                const int32_t* counts, const int32_t* missing, Code* codes) {
  constexpr int64_t chunk = 4 * kRows;
  const Searches<Real> searches(team, thresholds, counts, d, X.m);
  share(team, static_cast<int32_t>((X.m + chunk - 1) / chunk), [&](int32_t piece) {
    const int64_t begin = piece * chunk, end = begin + chunk < X.m ? begin + chunk : X.m;
    for (int64_t i = begin; i < end; i += kRows) {
      const int32_t rows = static_cast<int32_t>(i + kRows < end ? kRows : end - i);
      for (int32_t f = 0; f < d; f += kTile)
        encode_tile(X, searches, missing, i, rows, f, d - f < kTile ? d - f : kTile, codes);
    }
  });
}

// The tables of the used features, the rows of one after those of the other.
struct Tables {
  const int32_t* features;
  const int32_t* counts;
  const int32_t* starts;
  const double* values;
  int32_t n_used, k;
};

// Adds one table row per feature to K classes of a row, in the order of the features. Four at a
// time: the compiler makes vectors of the classes where it sees the stores, and these are rare.
template <int K>
inline void add_classes(const double* values, int32_t k, const int32_t* codes, int32_t n,
                        double* F) {
  const auto row = [&](int32_t w) { return values + static_cast<size_t>(codes[w * kRows]) * k; };
  int32_t w = 0;
  for (; w + 4 <= n; w += 4) {
    const double *a = row(w), *b = row(w + 1), *c = row(w + 2), *d = row(w + 3);
    double sum[K];
    for (int r = 0; r < K; ++r) sum[r] = (((F[r] + a[r]) + b[r]) + c[r]) + d[r];
    for (int r = 0; r < K; ++r) F[r] = sum[r];
  }
  for (; w < n; ++w) add_block<K>(F, row(w));
}

template <int K>
inline void add_chunk(const Tables& tables, const int32_t* codes, int32_t n, int32_t rows,
                      double* F) {
  const int32_t k = K > 0 ? K : tables.k;
  for (int32_t i = 0; i < rows; ++i, F += k) {
    if constexpr (K > 0) {
      add_classes<K>(tables.values, k, codes + i, n, F);
    } else {
      int32_t r = 0;
      for (; r + 12 <= k; r += 12) add_classes<12>(tables.values + r, k, codes + i, n, F + r);
      for (; r + 4 <= k; r += 4) add_classes<4>(tables.values + r, k, codes + i, n, F + r);
      for (; r < k; ++r) add_classes<1>(tables.values + r, k, codes + i, n, F + r);
    }
  }
}

// Codes of the used features w .. w + n as rows of the joined tables.
template <class Real>
inline void code_chunk(const View<Real>& X, const Searches<Real>& searches, const Tables& tables,
                       int64_t i, int32_t rows, int32_t w, int32_t n, int32_t* codes) {
  Real x[kRows] = {};
  for (int32_t j = 0; j < n; ++j, codes += kRows) {
    const Real* column = X.at(i, tables.features[w + j]);
    for (int32_t r = 0; r < rows; ++r) x[r] = column[r * X.row_stride];
    count_below(searches[w + j], x, tables.counts[w + j] + 1, codes);
    for (int32_t r = 0; r < kRows; ++r) codes[r] += tables.starts[w + j];
  }
}

template <int K, class Real>
void predict_rows(const View<Real>& X, const Searches<Real>& searches, const Tables& tables,
                  int64_t begin, int64_t end, double* F) {
  int32_t codes[kChunk * kRows];
  for (int64_t i = begin; i < end; i += kRows) {
    const int32_t rows = static_cast<int32_t>(i + kRows < end ? kRows : end - i);
    for (int32_t w = 0; w < tables.n_used; w += kChunk) {
      const int32_t n = tables.n_used - w < kChunk ? tables.n_used - w : kChunk;
      code_chunk(X, searches, tables, i, rows, w, n, codes);
      add_chunk<K>(tables, codes, n, rows, F + static_cast<size_t>(i) * tables.k);
    }
  }
}

// Whether one of n numbers is infinite. Not by their maximum: that is a chain of comparisons.
template <class Real>
inline bool any_infinite(const Real* x, int64_t n, int64_t stride) {
  using Lane = std::conditional_t<sizeof(Real) == 8, int64_t, int32_t>;
  const Real top = static_cast<Real>(HUGE_VAL);
  Lane found = 0;
  for (int64_t j = 0; j < n; ++j) {
    const Real value = x[j * stride];
    found |= value == top ? Lane(1) : Lane(0);
    found |= value == -top ? Lane(1) : Lane(0);
  }
  return found != 0;
}

template <class Real>
inline bool any_infinite(const View<Real>& X, int32_t d, int64_t begin, int64_t end) {
  bool found = false;
  if (X.column_stride == 1) {
    for (int64_t i = begin; i < end; ++i) found |= any_infinite(X.at(i, 0), d, 1);
  } else if (X.row_stride == 1) {
    for (int32_t f = 0; f < d; ++f) found |= any_infinite(X.at(begin, f), end - begin, 1);
  } else {
    for (int64_t i = begin; i < end; ++i) found |= any_infinite(X.at(i, 0), d, X.column_stride);
  }
  return found;
}

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(encode)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                               int32_t d, int64_t row_stride, int64_t column_stride,
                               const double* thresholds, const int32_t* n_thresholds,
                               const int32_t* missing, void* codes, int32_t code_bytes) {
  DB_SPACE::with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const DB_SPACE::View<Real> view{static_cast<const Real*>(X), m, row_stride, column_stride};
    DB_SPACE::encode_all(team, view, d, thresholds, n_thresholds, missing,
                         static_cast<Code*>(codes));
  });
}

DB_EXPORT int32_t DB_NAME(predict)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                   int32_t d, int64_t row_stride, int64_t column_stride,
                                   const DbTables* record, double* F) {
  constexpr int64_t piece_rows = 1024;
  const int32_t pieces = static_cast<int32_t>((m + piece_rows - 1) / piece_rows);
  DB_SPACE::Scratch<uint8_t> infinite(pieces);
  DB_SPACE::Scratch<int32_t> starts(record->n_used + 1);
  for (int32_t w = 0; w < record->n_used; ++w)
    starts[w + 1] = starts[w] + record->n_thresholds[w] + 2;
  const DB_SPACE::Tables tables{record->features, record->n_thresholds, starts.get(),
                                record->values,   record->n_used,       record->k};
  DB_SPACE::with_types(1, real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const DB_SPACE::View<Real> view{static_cast<const Real*>(X), m, row_stride, column_stride};
    const DB_SPACE::Searches<Real> searches(team, record->thresholds, record->n_thresholds,
                                            record->n_used, m);
    DB_SPACE::with_width(record->k, [&](auto width) {
      share(team, pieces, [&](int32_t piece) {
        const int64_t begin = piece * piece_rows;
        const int64_t end = begin + piece_rows < m ? begin + piece_rows : m;
        for (int64_t i = begin; i < end; i += DB_SPACE::kRows) {
          const int64_t last = i + DB_SPACE::kRows < end ? i + DB_SPACE::kRows : end;
          infinite[piece] |= DB_SPACE::any_infinite(view, d, i, last);
          DB_SPACE::predict_rows<decltype(width)::value>(view, searches, tables, i, last, F);
        }
        double* out = F + static_cast<size_t>(begin) * record->k;
        for (int64_t i = begin; i < end; ++i, out += record->k)
          for (int32_t r = 0; r < record->k; ++r) out[r] += record->intercept[r];
      });
    });
  });
  int32_t found = 0;
  for (int32_t piece = 0; piece < pieces; ++piece) found |= infinite[piece];
  return found;
}
