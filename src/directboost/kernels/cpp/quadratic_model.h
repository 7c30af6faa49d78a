// The quadratic model of the loss on a few rows: its second derivative, row by row, and the pass
// that keeps H dF up to date while the tables of the features change.
#pragma once

#include "dispatch.h"
#include "scratch.h"
#include "simd.h"
#include "threads.h"

namespace DB_SPACE {

// How the classes of one row are coupled in the second derivative of the loss in F.
enum Coupling : int32_t {
  kDiagonal = 0,  // one-vs-all: h_r d_r
  kPairs = 1,     // pairwise, one term per margin: h_r (d_r - d_y), class y gets minus the sum
  kSimplex = 2    // multinomial: w h_r (d_r - sum_l h_l d_l)
};

// The second derivative of the model, row by row.
template <class Real>
class RowCurvature {
 public:
  explicit RowCurvature(const DbQuadraticModel& model)
      : vectors_(padded(model.k) / kRowLanes),
        width_(padded(model.k)),
        coupling_(model.coupling),
        labels_(model.labels),
        h_(static_cast<const Real*>(model.H)),
        weight_(static_cast<const Real*>(model.weight)),
        unit_(static_cast<size_t>(width_) * width_) {
    for (int32_t r = 0; r < width_; ++r) unit_[static_cast<size_t>(r) * width_ + r] = 1;
  }

  int32_t coupling() const { return coupling_; }

  // Entry r of the diagonal of H_i.
  double diagonal(int64_t i, int32_t r) const {
    const Real* h = h_ + i * width_;
    if (coupling_ == kSimplex) {  // a rounded share may exceed 1
      const double rest = 1.0 - h[r];
      return rest > 0.0 ? weight_[i] * (h[r] * rest) : 0.0;
    }
    if (coupling_ == kDiagonal || labels_[i] != r) return h[r];
    double sum = 0.0;
    for (int32_t v = 0; v < width_; ++v) sum += h[v];
    return sum;
  }

  // out = H_i d, and sizes += the terms of d' H_i d, in vectors. `out` may be `d`.
  template <int N, int kCoupling>
  DB_INLINE void apply(int64_t i, const Real* d, Real* out, Real* sizes) const {
    using V = RowVector<Real>;
    const int32_t n = N > 0 ? N : vectors_;
    const Real* h = h_ + i * width_;
    if constexpr (kCoupling == kDiagonal) {
      for (int32_t v = 0; v < n; ++v) {
        const V x = V::load(d + v * kRowLanes), t = V::load(h + v * kRowLanes) * x;
        (V::load(sizes + v * kRowLanes) + t * x).store(sizes + v * kRowLanes);
        t.store(out + v * kRowLanes);
      }
    } else if constexpr (kCoupling == kPairs) {
      const int32_t own = labels_[i];
      const V base = V::all(d[own]);
      V total = V::all(0);
      for (int32_t v = 0; v < n; ++v) {
        const V x = V::load(d + v * kRowLanes) - base, t = V::load(h + v * kRowLanes) * x;
        (V::load(sizes + v * kRowLanes) + t * x).store(sizes + v * kRowLanes);
        total = total + t;
        t.store(out + v * kRowLanes);
      }
      const V sum = V::all(total.sum());
      // A row of a unit matrix, since a scalar store would stall the following vector loads.
      const Real* unit = unit_.get() + static_cast<size_t>(own) * width_;
      for (int32_t v = 0; v < n; ++v)
        (V::load(out + v * kRowLanes) - sum * V::load(unit + v * kRowLanes))
            .store(out + v * kRowLanes);
    } else {
      V total = V::all(0);
      for (int32_t v = 0; v < n; ++v)
        total = total + V::load(h + v * kRowLanes) * V::load(d + v * kRowLanes);
      const V mean = V::all(total.sum()), w = V::all(weight_[i]);
      for (int32_t v = 0; v < n; ++v) {
        const V x = V::load(d + v * kRowLanes) - mean, t = w * V::load(h + v * kRowLanes) * x;
        (V::load(sizes + v * kRowLanes) + t * x).store(sizes + v * kRowLanes);
        t.store(out + v * kRowLanes);
      }
    }
  }

 private:
  const int32_t vectors_, width_, coupling_;
  const int32_t* labels_;
  const Real *h_, *weight_;
  Scratch<Real> unit_;
};

// Calls f with the coupling as a constant.
template <class Function>
inline void with_coupling(int32_t coupling, Function f) {
  switch (coupling) {
    case kDiagonal: return f(std::integral_constant<int, kDiagonal>());
    case kPairs: return f(std::integral_constant<int, kPairs>());
    default: return f(std::integral_constant<int, kSimplex>());
  }
}

// Pieces of the rows: enough of them for an even share per thread, each large enough to pay for its
// own sums over all segments, and not too many, since the sums take memory.
constexpr int64_t kLeastRows = 256, kModelRows = 1024, kEnoughPieces = 8, kMostPieces = 64;

// Rows per piece; the number does not depend on the threads.
inline int64_t model_piece(int64_t n) {
  const int64_t few = (n + kEnoughPieces - 1) / kEnoughPieces;
  const int64_t rows = few < kLeastRows ? kLeastRows : (few < kModelRows ? few : kModelRows);
  const int64_t many = (n + kMostPieces - 1) / kMostPieces;
  return many > rows ? many : rows;
}

inline int32_t model_pieces(int64_t n) {
  return static_cast<int32_t>((n + model_piece(n) - 1) / model_piece(n));
}

// A pass over the rows of the model; the interface does not depend on the types of the data.
class ModelPass {
 public:
  virtual ~ModelPass() = default;

  // Adds H dF of the change (n_bins, k) of feature `previous` to Q (previous < 0: nothing), and
  // writes the sums of Q by the codes of feature `next` (next < 0: none). Features are positions
  // in the working set. Returns the curvature dF' H dF of the change.
  virtual double run(int32_t previous, const double* change, int32_t next, double* sums) = 0;
};

template <class Code, class Real>
class TypedModelPass final : public ModelPass {
 public:
  TypedModelPass(DbTeam* team, const DbQuadraticModel& model, int32_t widest)
      : team_(team),
        model_(model),
        curvature_(model),
        k_(model.k),
        width_(padded(model.k)),
        pieces_(model_pieces(model.n)),
        table_(static_cast<size_t>(widest) * width_),
        step_(table_),
        hist_(table_ * pieces_),
        sizes_(static_cast<size_t>(pieces_) * width_) {}

  double run(int32_t previous, const double* change, int32_t next, double* sums) override {
    if (previous >= 0) set_step(change, model_.n_bins[previous]);
    with_row_vectors(k_, [&](auto vectors) {
      with_coupling(curvature_.coupling(), [&](auto coupling) {
        share(team_, pieces_, [&](int32_t piece) {
          over_rows<decltype(vectors)::value, decltype(coupling)::value>(piece, codes(previous),
                                                                         next, codes(next));
        });
      });
    });
    if (next >= 0) add_pieces(model_.n_bins[next], sums);
    if (previous < 0) return 0.0;
    double curvature = 0.0;
    for (size_t i = 0; i < static_cast<size_t>(pieces_) * width_; ++i) curvature += sizes_[i];
    return curvature;
  }

 private:
  static constexpr int kMostInRegisters = 4;  // row vectors of which two sums stay in registers

  const Code* codes(int32_t w) const {
    if (w < 0) return nullptr;
    const size_t row = static_cast<size_t>(model_.features[w]);
    return static_cast<const Code*>(model_.codes) + row * model_.n;
  }

  void set_step(const double* change, int32_t bins) {
    for (int32_t t = 0; t < bins; ++t)
      for (int32_t r = 0; r < k_; ++r)
        step_[static_cast<size_t>(t) * width_ + r] =
            static_cast<Real>(change[static_cast<size_t>(t) * k_ + r]);
  }

  template <int N, int kCoupling>
  void over_rows(int32_t piece, const Code* previous, int32_t next, const Code* codes) {
    const size_t width = N > 0 ? N * kRowLanes : width_;
    const int32_t bins = next < 0 ? 0 : model_.n_bins[next];
    Real* hist = hist_.get() + piece * table_;
    std::memset(hist, 0, sizeof(Real) * static_cast<size_t>(bins) * width);
    if constexpr (N > 0 && N <= kMostInRegisters) {
      if (bins == 2) {  // a product of stumps: sums in memory would wait for their own stores
        TwoSums<N> sums;
        move_rows<N, kCoupling>(piece, previous,
                                [&](int64_t i, const Real* row) { sums.add(codes[i], row); });
        return sums.store(hist);
      }
    }
    const int32_t n = static_cast<int32_t>(width / kRowLanes);
    if (next < 0) return move_rows<N, kCoupling>(piece, previous, [](int64_t, const Real*) {});
    move_rows<N, kCoupling>(piece, previous, [&](int64_t i, const Real* row) {
      add_vectors<N>(hist + codes[i] * width, row, n);
    });
  }

  // Sums of rows by a code that is 0 or 1.
  template <int N>
  struct TwoSums {
    using V = RowVector<Real>;
    V zero[N], one[N];

    TwoSums() {
      for (int v = 0; v < N; ++v) zero[v] = one[v] = V::all(0);
    }

    DB_INLINE void add(Code code, const Real* row) {
      const V share = V::all(static_cast<Real>(code));
      for (int v = 0; v < N; ++v) {
        const V from = V::load(row + v * kRowLanes), own = share * from;
        one[v] = one[v] + own;
        zero[v] = zero[v] + (from - own);
      }
    }

    void store(Real* hist) const {
      for (int v = 0; v < N; ++v) {
        zero[v].store(hist + v * kRowLanes);
        one[v].store(hist + (N + v) * kRowLanes);
      }
    }
  };

  // Adds the pending step to the rows of Q of a piece, if there is one, then visits these rows.
  template <int N, int kCoupling, class Visit>
  DB_INLINE void move_rows(int32_t piece, const Code* previous, Visit visit) {
    const size_t width = N > 0 ? N * kRowLanes : width_;
    const int64_t rows = model_piece(model_.n), begin = piece * rows;
    const int64_t end = begin + rows < model_.n ? begin + rows : model_.n;
    Real* Q = static_cast<Real*>(model_.Q);
    if (previous == nullptr) {
      for (int64_t i = begin; i < end; ++i) visit(i, Q + i * width);
      return;
    }
    Scratch<Real> space(N > 0 ? 0 : 2 * width);
    Real local[N > 0 ? 2 * N * kRowLanes : 1] = {};
    Real *image = N > 0 ? local : space.get(), *sizes = image + width;
    for (int64_t i = begin; i < end; ++i) {
      curvature_.template apply<N, kCoupling>(i, step_.get() + previous[i] * width, image, sizes);
      add_vectors<N>(Q + i * width, image, static_cast<int32_t>(width / kRowLanes));
      visit(i, Q + i * width);
    }
    for (size_t r = 0; r < width; ++r) sizes_[piece * width + r] = sizes[r];
  }

  void add_pieces(int32_t bins, double* sums) const {
    for (int32_t t = 0; t < bins; ++t) {
      for (int32_t r = 0; r < k_; ++r) {
        double sum = 0.0;
        for (int32_t piece = 0; piece < pieces_; ++piece)
          sum += hist_[piece * table_ + static_cast<size_t>(t) * width_ + r];
        sums[static_cast<size_t>(t) * k_ + r] = sum;
      }
    }
  }

  DbTeam* team_;
  const DbQuadraticModel& model_;
  const RowCurvature<Real> curvature_;
  const int32_t k_, width_, pieces_;
  const size_t table_;
  Scratch<Real> step_, hist_, sizes_;
};

}  // namespace DB_SPACE
