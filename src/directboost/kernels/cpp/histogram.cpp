// Histograms of several features, and the edges of the jumps of one.
#include "histogram.h"
#include "thresholds.h"

namespace DB_SPACE {

// Writes the histograms of the given features, one after the other, in double precision.
template <class Code, class Real>
void write_histograms(const HistogramBuilder<Code, Real>& rows, const int32_t* features,
                      const int32_t* n_bins, int32_t count, double* out) {
  const size_t stride = static_cast<size_t>(widest_of(n_bins, count)) * rows.k;
  Scratch<Real> hist(count * stride);
  rows.build(features, n_bins, count, stride, hist.get());
  for (int32_t f = 0; f < count; ++f) {
    const size_t size = static_cast<size_t>(n_bins[f]) * rows.k;
    for (size_t i = 0; i < size; ++i) out[i] = hist[f * stride + i];
    out += size;
  }
}

// Histograms of the given features in pieces of a few of them.
void find_histograms(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                     const DbSparseCodes* sparse, const int32_t* features, const int32_t* n_bins,
                     int32_t n_work, const void* A, int32_t real_bytes, int32_t k, double* out) {
  const int32_t size = m * k < kPiece ? kTogether : kTogether / 2;
  Scratch<size_t> begin_of(static_cast<size_t>(n_work) + 1);
  for (int32_t w = 0; w < n_work; ++w)
    begin_of[w + 1] = begin_of[w] + static_cast<size_t>(n_bins[w]) * k;
  Scratch<double> total(k);
  with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
    using Code = Pointee<decltype(code)>;
    using Real = Pointee<decltype(real)>;
    const HistogramBuilder<Code, Real> rows{static_cast<const Code*>(codes), {sparse, m}, m,
                                            static_cast<const Real*>(A), k, total.get()};
    if (rows.sparse_codes.any()) sum_rows(team, rows.A, m, k, total.get());
    share(team, (n_work + size - 1) / size, [&](int32_t piece) {
      const int32_t begin = piece * size, count = size < n_work - begin ? size : n_work - begin;
      write_histograms(rows, features + begin, n_bins + begin, count, out + begin_of[begin]);
    });
  });
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(histograms)(DbTeam* team, const void* codes, int32_t code_bytes,
                                      int64_t m, const DbSparseCodes* sparse,
                                      const int32_t* features, const int32_t* n_bins,
                                      int32_t n_work, const void* A, int32_t real_bytes, int32_t k,
                                      double* out) {
  using namespace DB_SPACE;
  return status_of([&] {
    find_histograms(team, codes, code_bytes, m, sparse, features, n_bins, n_work, A, real_bytes, k,
                    out);
  });
}

DB_EXPORT int32_t DB_NAME(edges)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                                 int32_t kind, const void* A, int32_t real_bytes, int32_t k,
                                 double* out) {
  using namespace DB_SPACE;
  return status_of([&] {
    if (n_bins < 2) return;
    Scratch<double> hist(static_cast<size_t>(n_bins) * k), total(k), prefix(k);
    const int32_t first = 0;
    find_histograms(nullptr, codes, code_bytes, m, nullptr, &first, &n_bins, 1, A, real_bytes, k,
                    hist.get());
    sum_bins(hist.get(), n_bins, k, total.get());
    walk_thresholds(hist.get(), n_bins, static_cast<uint8_t>(kind), k, prefix.get(), [&](int32_t j) {
      for (int32_t r = 0; r < k; ++r)
        out[static_cast<size_t>(j) * k + r] = total[r] - 2.0 * prefix[r];
    });
  });
}
