// Passes over the rows: losses from scores, and penalties of jumps.
#include "loss_tile.h"
#include "prox.h"
#include "team.h"

namespace DB_SPACE {

// A sum of exponentials e^top * sum; other losses leave top at 0.
struct LossSum {
  double sum, top;

  void add(LossSum other) {
    if (other.top > top) {
      sum *= std::exp(top - other.top);
      top = other.top;
    }
    sum += other.sum * std::exp(other.top - top);
  }
};

// Loss of the rows begin..end. Where `shift` is null the exponents get that of the tile.
template <bool kFull, int N, class Real>
LossSum loss_rows(const DbRows& rows, const LossArrays<Real>& arrays, const Real* shift,
                  int64_t begin, int64_t end) {
  LossTile<N, Real> tile(rows);
  const int32_t most = tile_rows(rows.k);
  LossSum total{0.0, 0.0};
  for (int64_t first = begin; first < end; first += most) {
    tile.load(arrays, first, static_cast<int32_t>(end - first < most ? end - first : most));
    const Real top = shift != nullptr ? *shift : tile.highest();
    const double value = tile.template value<kFull>(top);
    if (shift != nullptr) {
      total.sum += value;
    } else {
      total.add({value, static_cast<double>(top)});
    }
    if (kFull) tile.write(arrays);
  }
  return total;
}


constexpr int64_t kPassRows = 4096;  // rows per piece of a pass

inline int32_t pass_pieces(int64_t m) {
  return static_cast<int32_t>((m + kPassRows - 1) / kPassRows);
}

// row = start + step (end - start), `end` itself at step 1; returns whether it is not zero.
inline bool row_between(const double* start, const double* end, double step, int32_t k,
                        double* row) {
  bool live = false;
  for (int32_t r = 0; r < k; ++r) {
    row[r] = step == 1.0 ? end[r] : start[r] + step * (end[r] - start[r]);
    live = live || row[r] != 0.0;
  }
  return live;
}

// Calls f(begin, end, piece) for every piece of m rows.
template <class Function>
inline void share_rows(DbTeam* team, int64_t m, Function f) {
  share(team, pass_pieces(m), [&](int32_t piece) {
    const int64_t begin = piece * kPassRows;
    f(begin, begin + kPassRows < m ? begin + kPassRows : m, piece);
  });
}

// One pass over all rows, with the outputs where they are wanted.
template <class Real>
LossSum sweep_rows(DbTeam* team, const DbRows& rows, const LossArrays<Real>& arrays,
                   const Real* shift) {
  Scratch<LossSum> sums(pass_pieces(rows.m));
  with_strips<Real>(rows.k, [&](auto strips) {
    constexpr int N = decltype(strips)::value;
    share_rows(team, rows.m, [&](int64_t begin, int64_t end, int32_t piece) {
      sums[piece] = arrays.full() ? loss_rows<true, N>(rows, arrays, shift, begin, end)
                                  : loss_rows<false, N>(rows, arrays, shift, begin, end);
    });
  });
  LossSum total{0.0, 0.0};
  for (int32_t piece = 0; piece < pass_pieces(rows.m); ++piece) total.add(sums[piece]);
  return total;
}

// The exponential loss with labels is the logarithm of one sum over all rows, and its weights are
// shares of it: first the sum, then, where more is wanted, the shares.
template <class Real>
double log_sum_pass(DbTeam* team, const DbRows& rows, const LossArrays<Real>& arrays) {
  LossArrays<Real> look = arrays, rest = arrays;
  look.U = look.A = look.C = nullptr;
  // F may be moved in place: not before the last look at it.
  (rest.full() ? look.moved : rest.moved) = nullptr;
  const LossSum total = sweep_rows<Real>(team, rows, look, nullptr);
  const double value = total.top + std::log(total.sum);
  const Real shift = static_cast<Real>(value);
  if (rest.full()) sweep_rows(team, rows, rest, &shift);
  return value;
}

}  // namespace DB_SPACE

DB_EXPORT double DB_NAME(loss_pass)(DbTeam* team, const DbRows* rows, const void* F,
                                    const void* change, double step, int32_t real_bytes,
                                    void* moved, void* U, void* A, void* C) {
  using namespace DB_SPACE;
  double loss = 0.0;
  with_types(1, real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const LossArrays<Real> arrays{static_cast<const Real*>(F), static_cast<const Real*>(change),
                                  static_cast<Real>(step),     static_cast<Real*>(moved),
                                  static_cast<Real*>(U),       static_cast<Real*>(A),
                                  static_cast<Real*>(C)};
    const Real none = 0;
    loss = rows->loss == kExponential && rows->labels != nullptr
               ? log_sum_pass(team, *rows, arrays)
               : sweep_rows(team, *rows, arrays, &none).sum;
  });
  return loss;
}

DB_EXPORT double DB_NAME(penalty)(const double* start, const double* end, double step,
                                  const int64_t* first, const double* nu, int32_t n, int32_t k,
                                  double p) {
  using namespace DB_SPACE;
  double total = 0.0;
  Scratch<double> row(k);
  with_norm(p, [&](auto norm) {
    using Norm = decltype(norm);
    for (int32_t w = 0; w < n; ++w) {
      double sum = 0.0;
      for (int64_t j = first[w]; j < first[w + 1]; ++j)
        if (row_between(start + j * k, end + j * k, step, k, row.get()))
          sum += jump_penalty<Norm>(row.get(), 1, k, p);
      total += nu[w] * sum;
    }
  });
  return total;
}
