// Scores from tables: adds the table row of every feature to every row.
#include "dispatch.h"
#include "scratch.h"
#include "simd.h"
#include "sparse_codes.h"
#include "threads.h"

namespace DB_SPACE {

constexpr int64_t kTableRows = 8 * kBlockRows;  // rows per piece, unless a block is larger

// Subtracts the row of the most common code from the table of every sparse feature; `base` (k,) is
// the sum of these rows.
template <class Code, class Real>
void split_off_base(const SparseCodes<Code>& sparse_codes, const int32_t* features,
                    const int32_t* n_bins, int32_t n_work, int32_t k, Real* table, Real* base) {
  Scratch<double> sum(k);
  Scratch<Real> most_common(k);
  for (int32_t w = 0; w < n_work; ++w) {
    const size_t size = static_cast<size_t>(n_bins[w]) * k;
    if (sparse_codes.is_sparse(features[w])) {
      const size_t place = static_cast<size_t>(sparse_codes.most_common(features[w])) * k;
      std::memcpy(most_common.get(), table + place, sizeof(Real) * k);
      for (int32_t r = 0; r < k; ++r) sum[r] += most_common[r];
      for (size_t i = 0; i < size; i += k)
        for (int32_t r = 0; r < k; ++r) table[i + r] -= most_common[r];
    }
    table += size;
  }
  for (int32_t r = 0; r < k; ++r) base[r] = static_cast<Real>(sum[r]);
}

template <int K, class Code, class Real>
void add_feature(const Code* codes, int64_t n, const Real* table, int32_t k, Real* F) {
  const size_t stride = K > 0 ? K : k;
  for (int64_t i = 0; i < n; ++i) add_row<K>(F + i * stride, table + codes[i] * stride, k);
}

template <int K, class Code, class Real>
void add_sparse(const SparseBlock<Code>& block, const Real* table, int32_t k, Real* F) {
  const size_t stride = K > 0 ? K : k;
  for (int64_t i = 0; i < block.n; ++i)
    add_row<K>(F + block.rows[i] * stride, table + block.codes[i] * stride, k);
}

// Rows are processed in blocks, so that a block of F stays in the cache for all features.
template <int K, class Code, class Real>
void add_block_of_tables(const Code* codes, const SparseCodes<Code>& sparse_codes, int64_t m,
                         int64_t first, const int32_t* features, const int32_t* n_bins,
                         int32_t n_work, const Real* table, const Real* base, int32_t k, Real* F) {
  const int64_t block = sparse_codes.block_rows(), n = m - first < block ? m - first : block;
  if (sparse_codes.any())
    for (int64_t i = 0; i < n; ++i) add_row<K>(F + i * k, base, k);
  for (int32_t w = 0; w < n_work; ++w) {
    const int32_t f = features[w];
    if (sparse_codes.is_sparse(f)) {
      add_sparse<K>(sparse_codes.at(f, first / block), table, k, F);
    } else {
      add_feature<K>(codes + sparse_codes.place(f) * m + first, n, table, k, F);
    }
    table += static_cast<size_t>(n_bins[w]) * k;
  }
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(add_tables)(DbTeam* team, const void* codes, int32_t code_bytes,
                                      int64_t m, const DbSparseCodes* sparse,
                                      const int32_t* features, const int32_t* n_bins,
                                      int32_t n_work, void* tables, int32_t k, void* F,
                                      int32_t real_bytes) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_types(code_bytes, real_bytes, [&](auto* code, auto* real) {
      using Code = Pointee<decltype(code)>;
      using Real = Pointee<decltype(real)>;
      const SparseCodes<Code> sparse_codes(sparse, m);
      Real* table = static_cast<Real*>(tables);
      Scratch<Real> base(k);
      split_off_base(sparse_codes, features, n_bins, n_work, k, table, base.get());
      const int64_t block = sparse_codes.block_rows();
      const int64_t rows = block > kTableRows ? block : kTableRows;
      with_width(k, [&](auto width) {
        share(team, static_cast<int32_t>((m + rows - 1) / rows), [&](int32_t piece) {
          const int64_t begin = piece * rows;
          for (int64_t i = begin; i < begin + rows && i < m; i += block)
            add_block_of_tables<decltype(width)::value>(
                static_cast<const Code*>(codes), sparse_codes, m, i, features, n_bins, n_work,
                table, base.get(), k, static_cast<Real*>(F) + i * k);
        });
      });
    });
  });
}
