// Numbers to codes, and numbers to scores.
#include "common.h"
#include "team.h"

namespace DB_SPACE {

// Number of thresholds below x, without branches that depend on x.
inline uint32_t count_below(const double* thresholds, int64_t n, double x) {
  const double* base = thresholds;
  while (n > 1) {
    const int64_t half = n / 2;
    base += base[half - 1] < x ? half : 0;
    n -= half;
  }
  return static_cast<uint32_t>(base - thresholds) + (n == 1 && base[0] < x ? 1u : 0u);
}

template <class Code, class Real>
void encode_column(const Real* x, int64_t stride, int64_t m, const double* thresholds, int64_t n,
                   uint32_t missing_code, Code* codes) {
  for (int64_t i = 0; i < m; ++i) {
    const double value = x[i * stride];
    codes[i] =
        static_cast<Code>(value != value ? missing_code : count_below(thresholds, n, value));
  }
}

// Blocks of rows keep their scores in the cache over all used features.
template <int K, class Real>
void predict_rows(const Real* X, int64_t row_stride, int64_t column_stride,
                  const int32_t* features, int32_t n_used, const int32_t* n_thresholds,
                  const double* thresholds, const double* tables, int32_t k, int64_t begin,
                  int64_t end, double* F) {
  constexpr int64_t rows = 256;
  for (int64_t first = begin; first < end; first += rows) {
    const int64_t last = first + rows < end ? first + rows : end;
    const double *cut = thresholds, *table = tables;
    for (int32_t w = 0; w < n_used; ++w) {
      const int64_t n = n_thresholds[w];
      const Real* x = X + features[w] * column_stride;
      for (int64_t i = first; i < last; ++i) {
        const double value = x[i * row_stride];
        const size_t code = value != value ? n + 1 : count_below(cut, n, value);
        const double* row = table + code * k;
        add_row<K>(F + static_cast<size_t>(i) * k, row, k);
      }
      cut += n;
      table += static_cast<size_t>(n + 2) * k;
    }
  }
}

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(encode)(const void* x, int32_t real_bytes, int64_t stride, int64_t m,
                               const double* thresholds, int64_t n_thresholds,
                               uint32_t missing_code, void* codes, int32_t code_bytes) {
  DB_SPACE::with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    DB_SPACE::encode_column(static_cast<decltype(real)>(x), stride, m, thresholds, n_thresholds,
                            missing_code, static_cast<Code*>(codes));
  });
}

DB_EXPORT void DB_NAME(predict)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                int64_t row_stride, int64_t column_stride, const int32_t* features,
                                int32_t n_used, const int32_t* n_thresholds,
                                const double* thresholds, const double* tables, int32_t k,
                                double* F) {
  constexpr int64_t rows = 4096;
  DB_SPACE::with_types(1, real_bytes, [&](auto*, auto* real) {
    DB_SPACE::with_width(k, [&](auto width) {
      share(team, static_cast<int32_t>((m + rows - 1) / rows), [&](int32_t piece) {
        const int64_t begin = piece * rows, end = begin + rows < m ? begin + rows : m;
        DB_SPACE::predict_rows<decltype(width)::value>(
            static_cast<decltype(real)>(X), row_stride, column_stride, features, n_used,
            n_thresholds, thresholds, tables, k, begin, end, F);
      });
    });
  });
}
