// Histograms: sums of the rows of A over the bins of a few features.
#pragma once

#include "dispatch.h"
#include "scratch.h"
#include "simd.h"
#include "sparse_codes.h"
#include "threads.h"

namespace DB_SPACE {

constexpr int32_t kTogether = 8;       // features that share one pass over A
constexpr int64_t kPiece = 200000;     // (row, feature, class) triples of a piece
constexpr size_t kRowBytes = 1 << 17;  // bytes of A that stay in the second-level cache

// hist[code, :] += A[i, :] for every row, hist (n_bins, k).
template <class Code, class Real>
inline void histogram_rows(const Code* codes, int64_t m, int32_t k, const Real* A, Real* hist) {
  with_width(k, [&](auto width) {
    constexpr int K = decltype(width)::value;
    const size_t stride = K > 0 ? K : k;
    for (int64_t i = 0; i < m; ++i)
      add_row<K>(hist + codes[i] * stride, A + i * stride, k);
  });
}

template <int K, class Real>
DB_INLINE void add_to_both(Real* one, Real* two, const Real* from, int32_t k) {
  if constexpr (K > 0) {
    Real row[K];
    for (int r = 0; r < K; ++r) row[r] = from[r];
    add_block<K>(one, row);
    add_block<K>(two, row);
  } else {
    add_row<K>(one, from, k);
    add_row<K>(two, from, k);
  }
}

// Two features at once. Where consecutive rows fall into the same bin, each addition waits for the
// previous one; the additions of the other feature fill the time.
template <class Code, class Real>
inline void histogram_pair(const Code* one, const Code* two, int64_t m, int32_t k, const Real* A,
                           Real* first, Real* second) {
  with_width(k, [&](auto width) {
    constexpr int K = decltype(width)::value;
    const size_t stride = K > 0 ? K : k;
    for (int64_t i = 0; i < m; ++i)
      add_to_both<K>(first + one[i] * stride, second + two[i] * stride, A + i * stride, k);
  });
}

template <class Code, class Real>
inline void histogram_sparse(const SparseBlock<Code>& block, int32_t k, const Real* A, Real* hist) {
  with_width(k, [&](auto width) {
    constexpr int K = decltype(width)::value;
    const size_t stride = K > 0 ? K : k;
    for (int64_t i = 0; i < block.n; ++i)
      add_row<K>(hist + block.codes[i] * stride, A + block.rows[i] * stride, k);
  });
}

inline int32_t widest_of(const int32_t* n_bins, int32_t count) {
  int32_t widest = 2;
  for (int32_t f = 0; f < count; ++f) widest = n_bins[f] > widest ? n_bins[f] : widest;
  return widest;
}

template <class Real>
inline void sum_bins(const Real* hist, int32_t n_bins, int32_t k, double* total) {
  for (int32_t r = 0; r < k; ++r) total[r] = 0.0;
  for (int32_t t = 0; t < n_bins; ++t)
    for (int32_t r = 0; r < k; ++r) total[r] += hist[static_cast<size_t>(t) * k + r];
}

// Sum of all rows of A in double precision; the pieces are added in their order.
template <class Real>
void sum_rows(DbTeam* team, const Real* A, int64_t m, int32_t k, double* total) {
  constexpr int64_t rows = 4096;
  const int32_t pieces = static_cast<int32_t>((m + rows - 1) / rows);
  Scratch<double> parts(static_cast<size_t>(pieces) * k);
  share(team, pieces, [&](int32_t piece) {
    const int64_t begin = piece * rows, end = begin + rows < m ? begin + rows : m;
    with_width(k, [&](auto width) {
      constexpr int K = decltype(width)::value;
      for (int64_t i = begin; i < end; ++i)
        add_row<K>(parts.get() + static_cast<size_t>(piece) * k, A + i * k, k);
    });
  });
  sum_bins(parts.get(), pieces, k, total);
}

// Builds histograms from codes and A. `total` is the sum of all rows of A if there are sparse
// features.
template <class Code, class Real>
struct HistogramBuilder {
  const Code* codes;
  SparseCodes<Code> sparse_codes;
  int64_t m;
  const Real* A;
  int32_t k;
  const double* total;

  const Code* codes_of(int32_t f) const { return codes + sparse_codes.place(f) * m; }

  // Adds the stored rows among begin..begin+n-1 to the histogram of a sparse feature.
  void add_sparse(int32_t f, int64_t begin, int64_t n, Real* hist) const {
    const int64_t block = sparse_codes.block_rows();
    for (int64_t first = begin; first < begin + n; first += block)
      histogram_sparse(sparse_codes.at(f, first / block), k, A + first * k, hist);
  }

  // Adds rows to the histograms of all features; dense features are processed in pairs.
  void add_rows(const int32_t* features, int32_t count, int64_t begin, int64_t n, size_t stride,
                Real* hist) const {
    int32_t waiting = -1;
    for (int32_t j = 0; j < count; ++j) {
      if (sparse_codes.is_sparse(features[j])) {
        add_sparse(features[j], begin, n, hist + j * stride);
      } else if (waiting < 0) {
        waiting = j;
      } else {
        histogram_pair(codes_of(features[waiting]) + begin, codes_of(features[j]) + begin, n, k,
                       A + begin * k, hist + waiting * stride, hist + j * stride);
        waiting = -1;
      }
    }
    if (waiting >= 0)
      histogram_rows(codes_of(features[waiting]) + begin, n, k, A + begin * k,
                     hist + waiting * stride);
  }

  // Writes the histograms of the given features into zeroed memory, each `stride` after the
  // previous one. All features process a block of rows in turn, so that A is read from memory once;
  // every sum runs over the rows in order.
  void build(const int32_t* features, const int32_t* n_bins, int32_t count, size_t stride,
              Real* hist) const {
    const int64_t block = sparse_codes.block_rows();
    const int64_t blocks = static_cast<int64_t>(kRowBytes / (sizeof(Real) * k)) / block;
    const int64_t rows = (blocks > 0 ? blocks : 1) * block;
    for (int64_t begin = 0; begin < m; begin += rows)
      add_rows(features, count, begin, begin + rows < m ? rows : m - begin, stride, hist);
    for (int32_t j = 0; j < count; ++j)
      if (sparse_codes.is_sparse(features[j]))
        add_rest(sparse_codes.most_common(features[j]), n_bins[j], hist + j * stride);
  }

  // The bin of the most common code gets the total minus all other bins.
  void add_rest(int32_t most_common, int32_t n_bins, Real* hist) const {
    Scratch<double> others(k);
    sum_bins(hist, n_bins, k, others.get());
    Real* rest = hist + static_cast<size_t>(most_common) * k;
    for (int32_t r = 0; r < k; ++r) rest[r] = static_cast<Real>(total[r] - others[r]);
  }
};

}  // namespace DB_SPACE
