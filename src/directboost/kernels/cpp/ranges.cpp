// Smallest and largest number of every column of a matrix.
#include <math.h>

#include "matrix.h"
#include "team.h"

namespace DB_SPACE {

// Smallest, largest and missing; as numbers, so that the compiler makes vectors of the loops.
template <class Real>
struct Range {
  Real *low, *high, *gone;

  void clear(int32_t n) const {
    for (int32_t f = 0; f < n; ++f) {
      low[f] = static_cast<Real>(HUGE_VAL), high[f] = static_cast<Real>(-HUGE_VAL);
      gone[f] = 0;
    }
  }
  void row(const Real* x, int64_t stride, int32_t n) const {
    for (int32_t f = 0; f < n; ++f) {
      const Real value = x[f * stride];
      low[f] = value < low[f] ? value : low[f];
      high[f] = value > high[f] ? value : high[f];
      gone[f] = value != value ? Real(1) : gone[f];
    }
  }
};

template <class Real>
inline void range_rows(const Matrix<Real>& X, int64_t begin, int64_t end, Range<Real> range) {
  range.clear(X.d);
  for (int64_t i = begin; i < end; ++i) {
    if (X.column_stride == 1) {
      range.row(X.at(i, 0), 1, X.d);
    } else {
      range.row(X.at(i, 0), X.column_stride, X.d);
    }
  }
}

// A column is folded into eight lanes, so that it is as fast as a row.
template <class Real>
inline void range_column(const Matrix<Real>& X, int32_t f, Range<Real> range) {
  constexpr int32_t lanes = 8;
  Real low[lanes], high[lanes], gone[lanes];
  const Range<Real> fold{low, high, gone};
  fold.clear(lanes);
  int64_t i = 0;
  for (; i + lanes <= X.m; i += lanes) {
    if (X.row_stride == 1) {
      fold.row(X.at(i, f), 1, lanes);
    } else {
      fold.row(X.at(i, f), X.row_stride, lanes);
    }
  }
  for (; i < X.m; ++i) fold.row(X.at(i, f), 1, 1);
  range.clear(1);
  for (int32_t l = 0; l < lanes; ++l) {
    *range.low = low[l] < *range.low ? low[l] : *range.low;
    *range.high = high[l] > *range.high ? high[l] : *range.high;
    *range.gone = gone[l] > 0 ? gone[l] : *range.gone;
  }
}

template <class Real>
void find_ranges(DbTeam* team, const Matrix<Real>& X, double* low, double* high,
                 uint8_t* missing) {
  const bool by_rows = size_of(X.column_stride) <= size_of(X.row_stride);
  // At most 64 pieces of rows: each has its own extremes of every feature.
  const int64_t rows = X.m / 64 < 2048 ? 2048 : X.m / 64 + 1;
  const int32_t pieces = static_cast<int32_t>(by_rows ? (X.m + rows - 1) / rows : 1);
  const size_t each = 3 * static_cast<size_t>(X.d);
  Scratch<Real> parts(pieces * each);
  const auto range_of = [&](int32_t piece) {
    Real* part = parts.get() + piece * each;
    return Range<Real>{part, part + X.d, part + 2 * X.d};
  };
  share(team, by_rows ? pieces : X.d, [&](int32_t piece) {
    if (by_rows) {
      const int64_t begin = piece * rows, end = begin + rows < X.m ? begin + rows : X.m;
      range_rows(X, begin, end, range_of(piece));
    } else {
      const Range<Real> all = range_of(0);
      range_column(X, piece, {all.low + piece, all.high + piece, all.gone + piece});
    }
  });
  for (int32_t f = 0; f < X.d; ++f) {
    low[f] = HUGE_VAL, high[f] = -HUGE_VAL, missing[f] = 0;
    for (int32_t piece = 0; piece < pieces; ++piece) {
      const Range<Real> part = range_of(piece);
      low[f] = part.low[f] < low[f] ? part.low[f] : low[f];
      high[f] = part.high[f] > high[f] ? part.high[f] : high[f];
      missing[f] |= part.gone[f] > 0;
    }
  }
}

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(ranges)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                               int32_t d, int64_t row_stride, int64_t column_stride, double* low,
                               double* high, uint8_t* missing) {
  DB_SPACE::with_types(1, real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const DB_SPACE::Matrix<Real> matrix{static_cast<const Real*>(X), m, d, row_stride,
                                        column_stride};
    DB_SPACE::find_ranges(team, matrix, low, high, missing);
  });
}
