// Scores of a fitted model.
#include "dispatch.h"
#include "encode.h"
#include "matrix.h"
#include "products.h"
#include "simd.h"

namespace DB_SPACE {

constexpr int32_t kChunk = 32;  // features whose codes and tables stay in the first-level cache

// The tables of the used features, one after the other.
struct JoinedTables {
  const int32_t* features;
  const int32_t* counts;
  const int32_t* starts;
  const double* values;
  int32_t n_used, k;
};

// Adds one table row per feature to K classes of a row, in the order of the features. Four features
// at a time: the compiler then vectorises over the classes, and stores are rare.
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
inline void add_chunk(const JoinedTables& tables, const int32_t* codes, int32_t n, int32_t rows,
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

// Codes of the used features w .. w + n - 1, as rows of the joined tables.
template <class Real>
inline void code_chunk(const Matrix<Real>& X, const ThresholdSearches<Real>& searches,
                       const JoinedTables& tables, int64_t i, int32_t rows, int32_t w, int32_t n,
                       int32_t* codes) {
  Real x[kRows] = {};
  for (int32_t j = 0; j < n; ++j, codes += kRows) {
    const Real* column = X.at(i, tables.features[w + j]);
    for (int32_t r = 0; r < rows; ++r) x[r] = column[r * X.row_stride];
    count_below(searches[w + j], x, tables.counts[w + j] + 1, codes);
    for (int32_t r = 0; r < kRows; ++r) codes[r] += tables.starts[w + j];
  }
}

template <int K, class Real>
void predict_rows(const Matrix<Real>& X, const ThresholdSearches<Real>& searches,
                  const JoinedTables& tables, int64_t begin, int64_t end, double* F) {
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

// Whether one of n numbers is infinite. A maximum would be a chain of dependent comparisons.
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
inline bool any_infinite(const Matrix<Real>& X, int64_t begin, int64_t end) {
  bool found = false;
  if (X.column_stride == 1) {
    for (int64_t i = begin; i < end; ++i) found |= any_infinite(X.at(i, 0), X.d, 1);
  } else if (X.row_stride == 1) {
    for (int32_t f = 0; f < X.d; ++f) found |= any_infinite(X.at(begin, f), end - begin, 1);
  } else {
    for (int64_t i = begin; i < end; ++i) found |= any_infinite(X.at(i, 0), X.d, X.column_stride);
  }
  return found;
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(predict)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                   int32_t d, int64_t row_stride, int64_t column_stride,
                                   const DbTables* tables, const DbProducts* products, double* F,
                                   int32_t* infinite) {
  using namespace DB_SPACE;
  return status_of([&] {
    constexpr int64_t piece_rows = 1024;
    const int32_t pieces = static_cast<int32_t>((m + piece_rows - 1) / piece_rows);
    Scratch<uint8_t> found(pieces);
    Scratch<int32_t> starts(tables->n_used + 1);
    for (int32_t w = 0; w < tables->n_used; ++w)
      starts[w + 1] = starts[w] + tables->n_thresholds[w] + 2;
    const JoinedTables joined{tables->features, tables->n_thresholds, starts.get(),
                              tables->values,   tables->n_used,       tables->k};
    with_reals(real_bytes, [&](auto* real) {
      using Real = Pointee<decltype(real)>;
      const Matrix<Real> matrix{static_cast<const Real*>(X), m, d, row_stride, column_stride};
      const ThresholdSearches<Real> searches(team, tables->thresholds, tables->n_thresholds,
                                             tables->n_used, m);
      const ProductSum<Real> product_sum(team, *products, tables->k, m);
      with_width(tables->k, [&](auto width) {
        share(team, pieces, [&](int32_t piece) {
          const int64_t begin = piece * piece_rows;
          const int64_t end = begin + piece_rows < m ? begin + piece_rows : m;
          for (int64_t i = begin; i < end; i += kRows) {
            const int64_t last = i + kRows < end ? i + kRows : end;
            found[piece] |= any_infinite(matrix, i, last);
            predict_rows<decltype(width)::value>(matrix, searches, joined, i, last, F);
          }
          double* out = F + static_cast<size_t>(begin) * tables->k;
          for (int64_t i = begin; i < end; ++i, out += tables->k)
            for (int32_t r = 0; r < tables->k; ++r) out[r] += tables->intercept[r];
          product_sum.add(matrix, begin, end, F);
        });
      });
    });
    *infinite = 0;
    for (int32_t piece = 0; piece < pieces; ++piece) *infinite |= found[piece];
  });
}
