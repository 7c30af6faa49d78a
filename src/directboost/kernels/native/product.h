// The second derivative of the quadratic model in the live jumps, times a direction.
//
// The bins of a feature between two live jumps always move together: they are one segment. A
// direction becomes a table per feature over its segments, the tables become scores, the model
// bends them, and sums over the segments lead back to the jumps: one pass over the rows.
#pragma once

#include "model.h"

namespace DB_SPACE {

// Tables of the segments from the jumps of a direction, features one after the other.
inline void tables_of(const DbLive& live, const double* direction, int32_t k, double* tables) {
  double* table = tables;
  for (int32_t w = 0; w < live.n_work; ++w) {
    const int32_t n = live.n_segments[w], present = n - (live.missing[w] ? 1 : 0);
    for (int32_t i = 0; i < n * k; ++i) table[i] = 0.0;
    double* gone = table + static_cast<size_t>(present) * k;
    for (int32_t j = live.offsets[w]; j < live.offsets[w + 1]; ++j) {
      const double* v = direction + static_cast<size_t>(j) * k;
      double* after = table + (static_cast<size_t>(live.position[j]) + 1) * k;
      for (int32_t r = 0; r < k; ++r) table[r] -= v[r];
      if (live.position[j] + 1 < present)
        for (int32_t r = 0; r < k; ++r) after[r] += 2.0 * v[r];
      if (live.missing[w])
        for (int32_t r = 0; r < k; ++r) gone[r] += live.left[j] ? -v[r] : v[r];
    }
    for (int32_t i = k; i < present * k; ++i) table[i] += table[i - k];
    table += static_cast<size_t>(n) * k;
  }
}

// Edges of the live jumps from the sums over the segments.
inline void edges_of(const DbLive& live, const double* sums, int32_t k, double* prefix,
                     double* out) {
  for (int32_t w = 0; w < live.n_work; ++w) {
    const int32_t n = live.n_segments[w], present = n - (live.missing[w] ? 1 : 0);
    for (int32_t r = 0; r < k; ++r) prefix[r] = 0.0;
    for (int32_t s = 0; s < n; ++s)
      for (int32_t r = 0; r < k; ++r)
        prefix[(s + 1) * k + r] = prefix[s * k + r] + sums[s * k + r];
    const double *total = prefix + static_cast<size_t>(n) * k,
                 *gone = sums + static_cast<size_t>(present) * k;
    for (int32_t j = live.offsets[w]; j < live.offsets[w + 1]; ++j) {
      const double* below = prefix + (static_cast<size_t>(live.position[j]) + 1) * k;
      const bool left = live.missing[w] && live.left[j];
      for (int32_t r = 0; r < k; ++r)
        out[static_cast<size_t>(j) * k + r] = total[r] - 2.0 * (below[r] + (left ? gone[r] : 0.0));
    }
    sums += static_cast<size_t>(n) * k;
  }
}

// Rows come with one place per feature: where the row of its segment lies in the joined tables.
template <class Real>
class Product {
 public:
  Product(const DbModel& model, const DbLive& live, size_t segments)
      : model_(model),
        live_(live),
        curvature_(model),
        k_(model.k),
        width_(padded(model.k)),
        segments_(segments),
        size_(segments * width_),
        tables_(size_),
        hist_(size_ * model_pieces(model.n)) {}

  void set_tables(const double* tables) {
    for (size_t s = 0; s < segments_; ++s)
      for (int32_t r = 0; r < k_; ++r)
        tables_[s * width_ + r] = static_cast<Real>(tables[s * k_ + r]);
  }

  // sums += what the model bends the scores of the tables to, summed over the segments.
  void bend(DbTeam* team, double* sums) {
    std::memset(hist_.get(), 0, sizeof(Real) * size_ * model_pieces(model_.n));
    each_row(team, [&](auto vectors, auto coupling, int64_t i, Real* work, Real* hist) {
      constexpr int N = decltype(vectors)::value;
      forward<N>(i, work);
      curvature_.template apply<N, decltype(coupling)::value>(i, work, work, work + width_);
      backward<N>(i, work, hist);
    });
    add_pieces(sums);
  }

  // Q += H dF for the scores dF of the tables; returns dF' H dF.
  double move(DbTeam* team) {
    each_row(team, [&](auto vectors, auto coupling, int64_t i, Real* work, Real*) {
      constexpr int N = decltype(vectors)::value;
      forward<N>(i, work);
      curvature_.template apply<N, decltype(coupling)::value>(i, work, work, work + width_);
      add_vectors<N>(static_cast<Real*>(model_.Q) + i * width_, work, width_ / kLanes);
    });
    return curvature_seen_;
  }

  // sums += Q, summed over the segments.
  void gather(DbTeam* team, double* sums) {
    each_row(team, [&](auto vectors, auto, int64_t i, Real*, Real* hist) {
      const Real* Q = static_cast<const Real*>(model_.Q) + i * width_;
      backward<decltype(vectors)::value>(i, Q, hist);
    });
    add_pieces(sums);
  }

 private:
  // Calls f for every row with room for its scores and the sizes of its piece.
  template <class Function>
  void each_row(DbTeam* team, Function f) {
    const int32_t pieces = model_pieces(model_.n);
    Scratch<double> seen(pieces);
    with_vectors(k_, [&](auto vectors) {
      with_coupling(curvature_.coupling(), [&](auto coupling) {
        share(team, pieces, [&](int32_t piece) {
          const int64_t begin = piece * kModelRows;
          const int64_t end = begin + kModelRows < model_.n ? begin + kModelRows : model_.n;
          Scratch<Real> work(2 * static_cast<size_t>(width_));
          for (int64_t i = begin; i < end; ++i)
            f(vectors, coupling, i, work.get(), hist_.get() + piece * size_);
          for (int32_t r = 0; r < width_; ++r) seen[piece] += work[width_ + r];
        });
      });
    });
    curvature_seen_ = 0.0;
    for (int32_t piece = 0; piece < pieces; ++piece) curvature_seen_ += seen[piece];
  }

  template <int N>
  DB_INLINE void forward(int64_t i, Real* scores) const {
    using V = Lanes<Real>;
    const uint32_t* place = live_.places + static_cast<size_t>(i) * live_.n_work;
    const Real* tables = tables_.get();
    if constexpr (N > 0) {
      V sum[N];
      for (int v = 0; v < N; ++v) sum[v] = V::all(0);
      for (int32_t w = 0; w < live_.n_work; ++w) {
        const Real* row = tables + static_cast<size_t>(place[w]) * (N * kLanes);
        for (int v = 0; v < N; ++v) sum[v] = sum[v] + V::load(row + v * kLanes);
      }
      for (int v = 0; v < N; ++v) sum[v].store(scores + v * kLanes);
    } else {
      std::memset(scores, 0, sizeof(Real) * width_);
      for (int32_t w = 0; w < live_.n_work; ++w)
        add_vectors<0>(scores, tables + static_cast<size_t>(place[w]) * width_, width_ / kLanes);
    }
  }

  template <int N>
  DB_INLINE void backward(int64_t i, const Real* image, Real* hist) const {
    using V = Lanes<Real>;
    const uint32_t* place = live_.places + static_cast<size_t>(i) * live_.n_work;
    if constexpr (N > 0) {
      V row[N];
      for (int v = 0; v < N; ++v) row[v] = V::load(image + v * kLanes);
      for (int32_t w = 0; w < live_.n_work; ++w) {
        Real* into = hist + static_cast<size_t>(place[w]) * (N * kLanes);
        for (int v = 0; v < N; ++v) (V::load(into + v * kLanes) + row[v]).store(into + v * kLanes);
      }
    } else {
      for (int32_t w = 0; w < live_.n_work; ++w)
        add_vectors<0>(hist + static_cast<size_t>(place[w]) * width_, image, width_ / kLanes);
    }
  }

  void add_pieces(double* sums) const {
    for (int32_t piece = 0; piece < model_pieces(model_.n); ++piece)
      for (size_t s = 0; s < segments_; ++s)
        for (int32_t r = 0; r < k_; ++r) sums[s * k_ + r] += hist_[piece * size_ + s * width_ + r];
  }

  const DbModel& model_;
  const DbLive& live_;
  const RowCurvature<Real> curvature_;
  const int32_t k_, width_;
  const size_t segments_, size_;
  double curvature_seen_ = 0.0;
  Scratch<Real> tables_, hist_;
};

inline size_t segment_count(const DbLive& live) {
  size_t count = 0;
  for (int32_t w = 0; w < live.n_work; ++w) count += live.n_segments[w];
  return count;
}

// Calls f with the product of the right type.
template <class Function>
inline void with_product(const DbModel& model, const DbLive& live, Function f) {
  with_types(1, model.real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    Product<Real> product(model, live, segment_count(live));
    f(product);
  });
}

inline void write_edges(const DbLive& live, const double* sums, int32_t k, double* out) {
  int32_t longest = 0;
  for (int32_t w = 0; w < live.n_work; ++w)
    longest = live.n_segments[w] > longest ? live.n_segments[w] : longest;
  Scratch<double> prefix((static_cast<size_t>(longest) + 1) * k);
  edges_of(live, sums, k, prefix.get(), out);
}

// out = second derivative of the loss and the ridge in the live jumps times the direction.
template <class ProductOfType>
inline void product_of(DbTeam* team, const DbLive& live, int32_t k, const double* direction,
                       ProductOfType& product, double* tables, double* sums, double* out) {
  const size_t size = segment_count(live) * k;
  tables_of(live, direction, k, tables);
  for (size_t i = 0; i < size; ++i) sums[i] = live.ridge[i] * tables[i];
  product.set_tables(tables);
  product.bend(team, sums);
  write_edges(live, sums, k, out);
}

}  // namespace DB_SPACE
