// The codes of a matrix of numbers.
#include "dispatch.h"
#include "encode.h"
#include "matrix.h"

namespace DB_SPACE {

constexpr int32_t kTile = 16;  // features copied out of the rows together: whole cache lines
constexpr int32_t kPad = 8;    // keeps the columns of a tile in different cache sets

// Copies `rows` numbers of each of `n` neighbouring features into columns of a tile, row by row:
// every cache line is read once, for any strides.
template <class Real>
inline void copy_tile(const Matrix<Real>& X, int64_t i, int32_t rows, int32_t f, int32_t n,
                      Real* tile) {
  for (int32_t r = 0; r < rows; ++r) {
    const Real* row = X.at(i + r, f);
    for (int32_t j = 0; j < n; ++j) tile[j * (kRows + kPad) + r] = row[j * X.column_stride];
  }
}

template <class Code, class Real>
inline void encode_tile(const Matrix<Real>& X, const ThresholdSearches<Real>& searches,
                        const int32_t* missing, int64_t i, int32_t rows, int32_t f, int32_t n,
                        Code* codes) {
  Real tile[kTile * (kRows + kPad)] = {};
  int32_t found[kRows];
  const bool whole = X.row_stride == 1 && rows == kRows;  // a column can be read in place
  if (!whole) copy_tile(X, i, rows, f, n, tile);
  for (int32_t j = 0; j < n; ++j) {
    const Real* x = whole ? X.at(i, f + j) : tile + j * (kRows + kPad);
    count_below(searches[f + j], x, missing[f + j], found);
    Code* out = codes + (f + j) * X.m + i;
    for (int32_t r = 0; r < rows; ++r) out[r] = static_cast<Code>(found[r]);
  }
}

// Processes all tiles of a few rows in turn, since every row may lie on another page.
template <class Code, class Real>
void encode_all(DbTeam* team, const Matrix<Real>& X, const double* thresholds,
                const int32_t* counts, const int32_t* missing, Code* codes) {
  constexpr int64_t chunk = 4 * kRows;
  const ThresholdSearches<Real> searches(team, thresholds, counts, X.d, X.m);
  share(team, static_cast<int32_t>((X.m + chunk - 1) / chunk), [&](int32_t piece) {
    const int64_t begin = piece * chunk, end = begin + chunk < X.m ? begin + chunk : X.m;
    for (int64_t i = begin; i < end; i += kRows) {
      const int32_t rows = static_cast<int32_t>(i + kRows < end ? kRows : end - i);
      for (int32_t f = 0; f < X.d; f += kTile)
        encode_tile(X, searches, missing, i, rows, f, X.d - f < kTile ? X.d - f : kTile, codes);
    }
  });
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(encode)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                  int32_t d, int64_t row_stride, int64_t column_stride,
                                  const double* thresholds, const int32_t* n_thresholds,
                                  const int32_t* missing, void* codes, int32_t code_bytes) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
      using Code = Pointee<decltype(code)>;
      using Real = Pointee<decltype(real)>;
      const Matrix<Real> matrix{static_cast<const Real*>(X), m, d, row_stride, column_stride};
      encode_all(team, matrix, thresholds, n_thresholds, missing, static_cast<Code*>(codes));
    });
  });
}
