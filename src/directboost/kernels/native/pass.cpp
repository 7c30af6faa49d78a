// Passes over the rows: losses from scores.
#include "losses.h"
#include "team.h"

namespace DB_SPACE {

template <int K, class Real>
double loss_rows(const DbRows& rows, const Real* F, Real shift, int64_t begin, int64_t end, Real* U,
                 Real* A, Real* C, double* top) {
  const int32_t k = rows.k;
  const Real* c = static_cast<const Real*>(rows.c);
  Scratch<Real> z(static_cast<size_t>(kBlock) * k), u(static_cast<size_t>(kBlock) * k),
      h(static_cast<size_t>(kBlock) * k);
  const LossBlock<Real> block{z.get(), u.get(), h.get()};
  double loss = 0.0;
  *top = -1e30;
  for (int64_t first = begin; first < end; first += kBlock) {
    const int32_t n = static_cast<int32_t>(end - first < kBlock ? end - first : kBlock);
    const size_t size = static_cast<size_t>(n) * k, offset = static_cast<size_t>(first) * k;
    const double highest = negative_margins<K>(rows, F + offset, first, n, z.get());
    *top = highest > *top ? highest : *top;
    loss += loss_of_block<K>(rows.loss, block, c + first, n, k, shift);
    if (U != nullptr)
      for (int32_t i = 0; i < n; ++i)
        for (int32_t r = 0; r < k; ++r) U[offset + i * k + r] = c[first + i] * u[i * k + r];
    if (A == nullptr && C == nullptr) continue;
    to_scores<K>(rows, c + first, first, n, u.get(), h.get());
    if (A != nullptr) std::memcpy(A + offset, u.get(), size * sizeof(Real));
    if (C != nullptr) std::memcpy(C + offset, h.get(), size * sizeof(Real));
  }
  return loss;
}

}  // namespace DB_SPACE

namespace DB_SPACE {

constexpr int64_t kPassRows = 4096;  // rows per piece of a pass

inline int32_t pass_pieces(int64_t m) {
  return static_cast<int32_t>((m + kPassRows - 1) / kPassRows);
}

// Calls f(begin, end, piece) for every piece of m rows.
template <class Function>
inline void share_rows(DbTeam* team, int64_t m, Function f) {
  share(team, pass_pieces(m), [&](int32_t piece) {
    const int64_t begin = piece * kPassRows;
    f(begin, begin + kPassRows < m ? begin + kPassRows : m, piece);
  });
}

}  // namespace DB_SPACE

DB_EXPORT double DB_NAME(loss_pass)(DbTeam* team, const DbRows* rows, const void* F,
                                    int32_t real_bytes, double shift, void* U, void* A, void* C,
                                    double* top) {
  using namespace DB_SPACE;
  Scratch<double> losses(pass_pieces(rows->m)), tops(pass_pieces(rows->m));
  with_types(1, real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    with_width(rows->k, [&](auto width) {
      share_rows(team, rows->m, [&](int64_t begin, int64_t end, int32_t piece) {
        losses[piece] = loss_rows<decltype(width)::value>(
            *rows, static_cast<const Real*>(F), static_cast<Real>(shift), begin, end,
            static_cast<Real*>(U), static_cast<Real*>(A), static_cast<Real*>(C), &tops[piece]);
      });
    });
  });
  double loss = 0.0;
  *top = -1e30;
  for (int32_t piece = 0; piece < pass_pieces(rows->m); ++piece) {
    loss += losses[piece];
    *top = tops[piece] > *top ? tops[piece] : *top;
  }
  return loss;
}
