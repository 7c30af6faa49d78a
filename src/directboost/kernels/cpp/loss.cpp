// The loss pass: the loss and its derivatives from scores.
#include "dispatch.h"
#include "loss_tile.h"
#include "threads.h"

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

// Loss of the rows begin..end. If `shift` is null, the exponents are shifted by the highest of the
// tile.
template <bool kFull, int N, class Real>
LossSum loss_rows(const DbLossRows& rows, const LossArrays<Real>& arrays, const Real* shift,
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

// Calls f(begin, end, piece) for every piece of m rows.
template <class Function>
inline void share_rows(DbTeam* team, int64_t m, Function f) {
  share(team, pass_pieces(m), [&](int32_t piece) {
    const int64_t begin = piece * kPassRows;
    f(begin, begin + kPassRows < m ? begin + kPassRows : m, piece);
  });
}

// One pass over all rows; writes the wanted outputs.
template <class Real>
LossSum sweep_rows(DbTeam* team, const DbLossRows& rows, const LossArrays<Real>& arrays,
                   const Real* shift) {
  Scratch<LossSum> sums(pass_pieces(rows.m));
  with_registers<Real>(rows.k, [&](auto registers) {
    constexpr int N = decltype(registers)::value;
    share_rows(team, rows.m, [&](int64_t begin, int64_t end, int32_t piece) {
      sums[piece] = arrays.full() ? loss_rows<true, N>(rows, arrays, shift, begin, end)
                                  : loss_rows<false, N>(rows, arrays, shift, begin, end);
    });
  });
  LossSum total{0.0, 0.0};
  for (int32_t piece = 0; piece < pass_pieces(rows.m); ++piece) total.add(sums[piece]);
  return total;
}

// The exponential loss with labels is the logarithm of one sum over all rows, and its gradient
// consists of shares of the sum: first the sum, then, if more is wanted, the shares.
template <class Real>
double log_sum_pass(DbTeam* team, const DbLossRows& rows, const LossArrays<Real>& arrays) {
  LossArrays<Real> look = arrays, rest = arrays;
  look.U = look.A = look.C = nullptr;
  // F may be moved in place, so only the last pass may move it.
  (rest.full() ? look.moved : rest.moved) = nullptr;
  const LossSum total = sweep_rows<Real>(team, rows, look, nullptr);
  const double value = total.top + std::log(total.sum);
  const Real shift = static_cast<Real>(value);
  if (rest.full()) sweep_rows(team, rows, rest, &shift);
  return value;
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(loss_pass)(DbTeam* team, const DbLossRows* rows, const void* F,
                                     const void* change, double step, int32_t real_bytes,
                                     void* moved, void* U, void* A, void* C, double* loss) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_reals(real_bytes, [&](auto* real) {
      using Real = Pointee<decltype(real)>;
      const LossArrays<Real> arrays{static_cast<const Real*>(F), static_cast<const Real*>(change),
                                    static_cast<Real>(step),     static_cast<Real*>(moved),
                                    static_cast<Real*>(U),       static_cast<Real*>(A),
                                    static_cast<Real*>(C)};
      const Real none = 0;
      *loss = rows->loss == kExponential && rows->labels != nullptr
                  ? log_sum_pass(team, *rows, arrays)
                  : sweep_rows(team, *rows, arrays, &none).sum;
    });
  });
}
