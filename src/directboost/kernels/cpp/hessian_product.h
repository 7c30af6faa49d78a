// The second derivative of the quadratic model in the tables of the live jumps, times a direction.
//
// One pass over the rows: tables over the segments give scores, the Hessian of a row is applied to
// them, and the result is summed over the segments. The most common segment of a feature is left
// out of the pass: its row of the table is replaced by zero and a constant score, and its sum is
// the total minus the other sums.
#pragma once

#include "active_set.h"
#include "dispatch.h"
#include "quadratic_model.h"

namespace DB_SPACE {

// For every row its segments, except the most common ones.
class RowSegments {
 public:
  RowSegments(DbTeam* team, const DbQuadraticModel& model, const ActiveSet& live)
      : stride_(live.features()),
        most_common_(live.features()),
        counts_(static_cast<size_t>(model.n)),
        places_(static_cast<size_t>(model.n) * stride_ + 1, Uninitialised()) {
    with_codes(model.code_bytes, [&](auto* code) {
      auto codes = static_cast<decltype(code)>(model.codes);
      share(team, stride_, [&](int32_t v) { find_most_common(model, live, v, codes); });
      share(team, model_pieces(model.n), [&](int32_t piece) { fill(model, live, piece, codes); });
    });
  }

  uint32_t most_common(int32_t v) const { return most_common_[v]; }
  const uint32_t* begin(int64_t i) const {
    return places_.get() + static_cast<size_t>(i) * stride_;
  }
  uint32_t count(int64_t i) const { return counts_[i]; }

 private:
  static constexpr int64_t kApart = 16;     // every 16th row is counted: an estimate is enough
  static constexpr int64_t kTogether = 64;  // rows processed together; they stay in the cache

  template <class Code>
  void find_most_common(const DbQuadraticModel& model, const ActiveSet& live, int32_t v,
                        const Code* all) {
    const uint32_t* segment = live.segment_of(v);
    const uint32_t first = static_cast<uint32_t>(live.first_segment(v));
    Scratch<uint32_t> rows(live.segments_of(v));
    const Code* codes = all + static_cast<size_t>(model.features[live.work(v)]) * model.n;
    for (int64_t i = 0; i < model.n; i += kApart) ++rows[segment[codes[i]] - first];
    uint32_t best = 0;
    for (int32_t s = 1; s < live.segments_of(v); ++s) best = rows[s] > rows[best] ? s : best;
    most_common_[v] = first + best;
  }

  template <class Code>
  void fill(const DbQuadraticModel& model, const ActiveSet& live, int32_t piece, const Code* all) {
    const int64_t rows = model_piece(model.n), begin = piece * rows;
    const int64_t end = begin + rows < model.n ? begin + rows : model.n;
    for (int64_t first = begin; first < end; first += kTogether) {
      const int64_t last = first + kTogether < end ? first + kTogether : end;
      for (int32_t v = 0; v < stride_; ++v) {
        const uint32_t *segment = live.segment_of(v), common = most_common_[v];
        const Code* codes = all + static_cast<size_t>(model.features[live.work(v)]) * model.n;
        for (int64_t i = first; i < last; ++i) {
          const uint32_t place = segment[codes[i]];
          places_[static_cast<size_t>(i) * stride_ + counts_[i]] = place;
          counts_[i] += place != common;
        }
      }
    }
  }

  const int32_t stride_;
  Scratch<uint32_t> most_common_, counts_;
  Scratch<uint32_t> places_;
};

template <class Real>
class HessianProduct {
 public:
  HessianProduct(DbTeam* team, const DbQuadraticModel& model, const ActiveSet& live)
      : team_(team),
        model_(model),
        live_(live),
        curvature_(model),
        places_(team, model, live),
        k_(model.k),
        width_(padded(model.k)),
        pieces_(model_pieces(model.n)),
        size_((live.segments() + 1) * width_),
        tables_(size_),
        hist_(size_ * pieces_),
        seen_(pieces_) {}

  // sums += Hessian times the scores of the tables, summed over the segments; both (segments, k).
  void apply(const double* tables, double* sums) {
    set_tables(tables);
    std::memset(hist_.get(), 0, sizeof(Real) * size_ * pieces_);
    each_row([&](auto vectors, auto coupling, int64_t i, Real* work, Real* hist) {
      constexpr int N = decltype(vectors)::value;
      forward<N>(i, work);
      curvature_.template apply<N, decltype(coupling)::value>(i, work, work, work + width_);
      backward<N>(i, work, hist);
    });
    add_pieces(1.0, sums);
  }

  // Q += H dF for the scores dF of the tables; returns dF' H dF.
  double move(const double* tables) {
    set_tables(tables);
    each_row([&](auto vectors, auto coupling, int64_t i, Real* work, Real*) {
      constexpr int N = decltype(vectors)::value;
      forward<N>(i, work);
      curvature_.template apply<N, decltype(coupling)::value>(i, work, work, work + width_);
      add_vectors<N>(static_cast<Real*>(model_.Q) + i * width_, work, width_ / kRowLanes);
    });
    double curvature = 0.0;
    for (int32_t piece = 0; piece < pieces_; ++piece) curvature += seen_[piece];
    return curvature;
  }

  // sums -= Q, summed over the segments.
  void subtract_gradient(double* sums) {
    std::memset(hist_.get(), 0, sizeof(Real) * size_ * pieces_);
    each_row([&](auto vectors, auto, int64_t i, Real*, Real* hist) {
      const Real* Q = static_cast<const Real*>(model_.Q) + i * width_;
      backward<decltype(vectors)::value>(i, Q, hist);
    });
    add_pieces(-1.0, sums);
  }

 private:
  // The last row of the tables is the score of a row in the most common segments of all features.
  void set_tables(const double* tables) {
    Real* base = tables_.get() + live_.segments() * width_;
    for (int32_t r = 0; r < k_; ++r) {
      double sum = 0.0;
      for (int32_t v = 0; v < live_.features(); ++v)
        sum += tables[static_cast<size_t>(places_.most_common(v)) * k_ + r];
      base[r] = static_cast<Real>(sum);
    }
    for (int32_t v = 0; v < live_.features(); ++v) {
      const double* zero = tables + static_cast<size_t>(places_.most_common(v)) * k_;
      for (size_t s = live_.first_segment(v); s < live_.first_segment(v + 1); ++s)
        for (int32_t r = 0; r < k_; ++r)
          tables_[s * width_ + r] = static_cast<Real>(tables[s * k_ + r] - zero[r]);
    }
  }

  // Calls f for every row with scratch memory for its scores and the sizes of its piece.
  template <class Function>
  void each_row(Function f) {
    with_row_vectors(k_, [&](auto vectors) {
      with_coupling(curvature_.coupling(), [&](auto coupling) {
        share(team_, pieces_, [&](int32_t piece) {
          const int64_t rows = model_piece(model_.n), begin = piece * rows;
          const int64_t end = begin + rows < model_.n ? begin + rows : model_.n;
          Scratch<Real> work(2 * static_cast<size_t>(width_));
          for (int64_t i = begin; i < end; ++i)
            f(vectors, coupling, i, work.get(), hist_.get() + piece * size_);
          seen_[piece] = 0.0;
          for (int32_t r = 0; r < width_; ++r) seen_[piece] += work[width_ + r];
        });
      });
    });
  }

  // Two running sums, since a single one would wait for its own additions.
  template <int N>
  DB_INLINE void forward(int64_t i, Real* scores) const {
    using V = RowVector<Real>;
    const uint32_t *place = places_.begin(i), count = places_.count(i);
    const Real *tables = tables_.get(), *base = tables + live_.segments() * width_;
    if constexpr (N > 0) {
      V sum[N], other[N];
      for (int v = 0; v < N; ++v) {
        sum[v] = V::load(base + v * kRowLanes);
        other[v] = V::all(0);
      }
      uint32_t c = 0;
      for (; c + 2 <= count; c += 2) {
        const Real *row = tables + static_cast<size_t>(place[c]) * (N * kRowLanes),
                   *next = tables + static_cast<size_t>(place[c + 1]) * (N * kRowLanes);
        for (int v = 0; v < N; ++v) sum[v] = sum[v] + V::load(row + v * kRowLanes);
        for (int v = 0; v < N; ++v) other[v] = other[v] + V::load(next + v * kRowLanes);
      }
      if (c < count) {
        const Real* row = tables + static_cast<size_t>(place[c]) * (N * kRowLanes);
        for (int v = 0; v < N; ++v) sum[v] = sum[v] + V::load(row + v * kRowLanes);
      }
      for (int v = 0; v < N; ++v) (sum[v] + other[v]).store(scores + v * kRowLanes);
    } else {
      std::memcpy(scores, base, sizeof(Real) * width_);
      for (uint32_t c = 0; c < count; ++c)
        add_vectors<0>(scores, tables + static_cast<size_t>(place[c]) * width_, width_ / kRowLanes);
    }
  }

  // The last row of the sums is the total.
  template <int N>
  DB_INLINE void backward(int64_t i, const Real* image, Real* hist) const {
    using V = RowVector<Real>;
    const uint32_t *place = places_.begin(i), count = places_.count(i);
    Real* total = hist + live_.segments() * width_;
    if constexpr (N > 0) {
      V row[N];
      for (int v = 0; v < N; ++v) row[v] = V::load(image + v * kRowLanes);
      for (uint32_t c = 0; c < count; ++c) {
        Real* into = hist + static_cast<size_t>(place[c]) * (N * kRowLanes);
        for (int v = 0; v < N; ++v)
          (V::load(into + v * kRowLanes) + row[v]).store(into + v * kRowLanes);
      }
    } else {
      for (uint32_t c = 0; c < count; ++c)
        add_vectors<0>(hist + static_cast<size_t>(place[c]) * width_, image, width_ / kRowLanes);
    }
    add_vectors<N>(total, image, width_ / kRowLanes);
  }

  void add_pieces(double sign, double* sums) {
    share(team_, live_.features(), [&](int32_t v) { add_feature(v, sign, sums); });
  }

  void add_feature(int32_t v, double sign, double* sums) const {
    const size_t common = places_.most_common(v);
    for (int32_t piece = 0; piece < pieces_; ++piece) {
      const Real *hist = hist_.get() + piece * size_, *total = hist + live_.segments() * width_;
      double* rest = sums + common * k_;
      for (int32_t r = 0; r < k_; ++r) rest[r] += sign * total[r];
      for (size_t s = live_.first_segment(v); s < live_.first_segment(v + 1); ++s) {
        if (s == common) continue;
        for (int32_t r = 0; r < k_; ++r) {
          const double sum = sign * hist[s * width_ + r];
          sums[s * k_ + r] += sum;
          rest[r] -= sum;
        }
      }
    }
  }

  DbTeam* team_;
  const DbQuadraticModel& model_;
  const ActiveSet& live_;
  const RowCurvature<Real> curvature_;
  const RowSegments places_;
  const int32_t k_, width_, pieces_;
  const size_t size_;
  Scratch<Real> tables_, hist_;
  Scratch<double> seen_;
};

}  // namespace DB_SPACE
