// The second derivative of the quadratic model in the tables of the live jumps, times a direction.
//
// One pass over the rows: tables over the segments give scores, the Hessian of a row is applied to
// them, and the result is summed over the segments. The most common segment of a feature is left
// out of the pass: its row of the table is replaced by zero and a constant score, and its sum is
// the total minus the other sums.
//
// Products of stumps, which are many and have two segments each, are processed six at a time: the
// six codes of a row together are one code of 64, so that a row takes one look-up for all of them.
// The result of the pass is kept for all rows, and summed group by group: every sum has one copy.
#pragma once

#include "active_set.h"
#include "dispatch.h"
#include "quadratic_model.h"

namespace DB_SPACE {

// The features of an active set: the products, and all others.
class SplitFeatures {
 public:
  explicit SplitFeatures(const ActiveSet& live) : features_(live.features()) {
    for (int32_t v = 0; v < live.features(); ++v)
      if (!live.product(v)) features_[others_++] = v;
    for (int32_t v = 0, next = others_; v < live.features(); ++v)
      if (live.product(v)) features_[next++] = v;
    products_ = live.features() - others_;
  }

  int32_t others() const { return others_; }
  int32_t other(int32_t u) const { return features_[u]; }
  int32_t products() const { return products_; }
  int32_t product(int32_t u) const { return features_[others_ + u]; }

 private:
  Scratch<int32_t> features_;
  int32_t others_ = 0, products_ = 0;
};

// Products in groups of six, each with one code of 64 for every row: bit b is the code of member b.
class JointCodes {
 public:
  static constexpr int32_t kMembers = 6, kCells = 64;

  JointCodes(DbTeam* team, const DbQuadraticModel& model, const SplitFeatures& split,
             const ActiveSet& live)
      : n_(model.n),
        groups_((split.products() + kMembers - 1) / kMembers),
        codes_(static_cast<size_t>(model.n) * groups_) {
    with_codes(model.code_bytes, [&](auto* code) {
      auto all = static_cast<decltype(code)>(model.codes);
      share(team, groups_, [&](int32_t group) {
        uint8_t* out = codes_.get() + static_cast<size_t>(group) * n_;
        for (int32_t b = 0; b < kMembers && group * kMembers + b < split.products(); ++b) {
          const int32_t w = live.work(split.product(group * kMembers + b));
          auto codes = all + static_cast<size_t>(model.features[w]) * n_;
          for (int64_t i = 0; i < n_; ++i) out[i] |= static_cast<uint8_t>(codes[i] << b);
        }
      });
    });
  }

  int32_t groups() const { return groups_; }
  const uint8_t* of(int32_t group) const {
    return codes_.get() + static_cast<size_t>(group) * n_;
  }

 private:
  const int64_t n_;
  const int32_t groups_;
  Scratch<uint8_t> codes_;
};

// For every row its segments, except the most common ones; without products.
class RowSegments {
 public:
  RowSegments(DbTeam* team, const DbQuadraticModel& model, const SplitFeatures& split,
              const ActiveSet& live)
      : stride_(split.others()),
        most_common_(live.features()),
        counts_(static_cast<size_t>(model.n)),
        places_(static_cast<size_t>(model.n) * stride_ + 1, Uninitialised()) {
    with_codes(model.code_bytes, [&](auto* code) {
      auto codes = static_cast<decltype(code)>(model.codes);
      share(team, stride_, [&](int32_t u) { find_most_common(model, live, split.other(u), codes); });
      share(team, model_pieces(model.n),
            [&](int32_t piece) { fill(model, split, live, piece, codes); });
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
  void fill(const DbQuadraticModel& model, const SplitFeatures& split, const ActiveSet& live,
            int32_t piece, const Code* all) {
    const int64_t rows = model_piece(model.n), begin = piece * rows;
    const int64_t end = begin + rows < model.n ? begin + rows : model.n;
    for (int64_t first = begin; first < end; first += kTogether) {
      const int64_t last = first + kTogether < end ? first + kTogether : end;
      for (int32_t u = 0; u < stride_; ++u) {
        const int32_t v = split.other(u);
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
        split_(live),
        places_(team, model, split_, live),
        joint_(team, model, split_, live),
        k_(model.k),
        width_(padded(model.k)),
        piece_(joint_.groups() > 0 ? (model.n + kEnoughPieces - 1) / kEnoughPieces
                                   : model_piece(model.n)),
        pieces_(static_cast<int32_t>((model.n + piece_ - 1) / piece_)),
        tile_(joint_.groups() > 0 ? kTile : 1),
        first_cell_((live.segments() + 1) * width_),
        tables_(first_cell_ + static_cast<size_t>(joint_.groups()) * JointCodes::kCells * width_),
        hist_(first_cell_ * pieces_),
        image_(joint_.groups() > 0 ? static_cast<size_t>(model.n) * width_ : 0),
        seen_(pieces_) {}

  int32_t products() const { return split_.products(); }
  const RowCurvature<Real>& curvature() const { return curvature_; }

  // sums += Hessian times the scores of the tables, summed over the segments; both (segments, k).
  void apply(const double* tables, double* sums) {
    set_tables(tables);
    std::memset(hist_.get(), 0, sizeof(Real) * first_cell_ * pieces_);
    const bool groups = joint_.groups() > 0;
    each_tile([&](auto vectors, auto coupling, int64_t begin, int64_t end, Real* work, Real* sizes,
                  Real* hist) {
      constexpr int N = decltype(vectors)::value;
      Real* rows = groups ? image_.get() + begin * width_ : work;
      forward_tile<N>(begin, end, rows);
      for (int64_t i = begin; i < end; ++i) {
        Real* row = rows + (i - begin) * width_;
        curvature_.template apply<N, decltype(coupling)::value>(i, row, row, sizes);
        backward<N>(i, row, hist);
      }
    });
    add_sums(1.0, image_.get(), sums);
  }

  // Q += H dF for the scores dF of the tables; returns dF' H dF.
  double move(const double* tables) {
    set_tables(tables);
    each_tile([&](auto vectors, auto coupling, int64_t begin, int64_t end, Real* work, Real* sizes,
                  Real*) {
      constexpr int N = decltype(vectors)::value;
      forward_tile<N>(begin, end, work);
      for (int64_t i = begin; i < end; ++i) {
        Real* row = work + (i - begin) * width_;
        curvature_.template apply<N, decltype(coupling)::value>(i, row, row, sizes);
        add_vectors<N>(static_cast<Real*>(model_.Q) + i * width_, row, width_ / kRowLanes);
      }
    });
    double curvature = 0.0;
    for (int32_t piece = 0; piece < pieces_; ++piece) curvature += seen_[piece];
    return curvature;
  }

  // sums -= Q, summed over the segments.
  void subtract_gradient(double* sums) {
    std::memset(hist_.get(), 0, sizeof(Real) * first_cell_ * pieces_);
    const Real* Q = static_cast<const Real*>(model_.Q);
    each_tile([&](auto vectors, auto, int64_t begin, int64_t end, Real*, Real*, Real* hist) {
      for (int64_t i = begin; i < end; ++i)
        backward<decltype(vectors)::value>(i, Q + i * width_, hist);
    });
    add_sums(-1.0, Q, sums);
  }

 private:
  static constexpr int64_t kTile = 256;   // rows whose scores stay in the first-level cache
  static constexpr int32_t kTogether = 4;  // groups that share each row of scores that is loaded
  static constexpr int32_t kSummed = 2;    // groups whose sums stay in the first-level cache
  static constexpr int64_t kRounded = 1024;  // rows that are added up in the precision of the scores

  // The last row of the tables of segments is the score of a row in the most common segments of all
  // features but the products. The tables of the groups of products follow.
  void set_tables(const double* tables) {
    Real* base = tables_.get() + live_.segments() * width_;
    for (int32_t r = 0; r < k_; ++r) {
      double sum = 0.0;
      for (int32_t u = 0; u < split_.others(); ++u)
        sum += tables[static_cast<size_t>(places_.most_common(split_.other(u))) * k_ + r];
      base[r] = static_cast<Real>(sum);
    }
    for (int32_t u = 0; u < split_.others(); ++u) {
      const int32_t v = split_.other(u);
      const double* zero = tables + static_cast<size_t>(places_.most_common(v)) * k_;
      for (size_t s = live_.first_segment(v); s < live_.first_segment(v + 1); ++s)
        for (int32_t r = 0; r < k_; ++r)
          tables_[s * width_ + r] = static_cast<Real>(tables[s * k_ + r] - zero[r]);
    }
    share(team_, joint_.groups(), [&](int32_t group) { set_cells(group, tables); });
  }

  // The sum of the two-segment tables of the members of a group, for each of their joint codes.
  void set_cells(int32_t group, const double* tables) {
    Scratch<double> cells(static_cast<size_t>(JointCodes::kCells) * k_);
    int32_t known = 1;  // joint codes of the members so far
    for (int32_t u = group * JointCodes::kMembers; u < last_member(group); ++u, known *= 2) {
      const double* own = tables + live_.first_segment(split_.product(u)) * k_;
      for (int32_t c = 0; c < known * k_; ++c) cells[known * k_ + c] = cells[c] + own[k_ + c % k_];
      for (int32_t c = 0; c < known * k_; ++c) cells[c] += own[c % k_];
    }
    Real* out = tables_.get() + first_cell_ + cells_before(group);
    for (int32_t c = 0; c < known; ++c)
      for (int32_t r = 0; r < k_; ++r) out[c * width_ + r] = static_cast<Real>(cells[c * k_ + r]);
  }

  int32_t last_member(int32_t group) const {
    const int32_t end = (group + 1) * JointCodes::kMembers;
    return end < split_.products() ? end : split_.products();
  }

  size_t cells_before(int32_t group) const {
    return static_cast<size_t>(group) * JointCodes::kCells * width_;
  }

  // Calls f for tiles of rows with scratch memory for their scores and the sizes of their piece.
  template <class Function>
  void each_tile(Function f) {
    with_row_vectors(k_, [&](auto vectors) {
      with_coupling(curvature_.coupling(), [&](auto coupling) {
        share(team_, pieces_, [&](int32_t piece) {
          const int64_t begin = piece * piece_;
          const int64_t end = begin + piece_ < model_.n ? begin + piece_ : model_.n;
          Scratch<Real> work(static_cast<size_t>(tile_ + 1) * width_);
          Real* sizes = work.get() + tile_ * width_;
          for (int64_t i = begin; i < end; i += tile_)
            f(vectors, coupling, i, i + tile_ < end ? i + tile_ : end, work.get(), sizes,
              hist_.get() + piece * first_cell_);
          seen_[piece] = 0.0;
          for (int32_t r = 0; r < width_; ++r) seen_[piece] += sizes[r];
        });
      });
    });
  }

  template <int N>
  DB_INLINE void forward_tile(int64_t begin, int64_t end, Real* scores) const {
    const size_t width = N > 0 ? N * kRowLanes : width_;
    const int32_t vectors = static_cast<int32_t>(width / kRowLanes);
    for (int64_t i = begin; i < end; ++i) forward<N>(i, scores + (i - begin) * width);
    int32_t group = 0;
    if constexpr (N > 0) {
      for (; group + kTogether <= joint_.groups(); group += kTogether) {
        const uint8_t* code = joint_.of(group) + begin;
        const Real* cells = tables_.get() + first_cell_ + cells_before(group);
        const size_t next = JointCodes::kCells * width;
        for (int64_t i = 0; i < end - begin; ++i) {
          for (int v = 0; v < N; ++v) {
            Real* into = scores + i * width + v * kRowLanes;
            RowVector<Real> sum = RowVector<Real>::load(into);
            for (int g = 0; g < kTogether; ++g)
              sum = sum + RowVector<Real>::load(cells + g * next + code[g * model_.n + i] * width +
                                                v * kRowLanes);
            sum.store(into);
          }
        }
      }
    }
    for (; group < joint_.groups(); ++group) {
      const uint8_t* code = joint_.of(group) + begin;
      const Real* cells = tables_.get() + first_cell_ + cells_before(group);
      for (int64_t i = 0; i < end - begin; ++i)
        add_vectors<N>(scores + i * width, cells + code[i] * width, vectors);
    }
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

  // sums += sign * the sums of the pieces, and of the rows of an image (n, width) for the products.
  void add_sums(double sign, const Real* image, double* sums) const {
    share(team_, split_.others(), [&](int32_t u) { add_feature(split_.other(u), sign, sums); });
    with_row_vectors(k_, [&](auto vectors) {
      share(team_, (joint_.groups() + kSummed - 1) / kSummed, [&](int32_t piece) {
        add_groups<decltype(vectors)::value>(piece * kSummed, sign, image, sums);
      });
    });
  }

  // Sums the rows of an image by the codes of some groups, and these by the code of every member.
  template <int N>
  void add_groups(int32_t first, double sign, const Real* image, double* sums) const {
    const size_t width = N > 0 ? N * kRowLanes : width_, size = JointCodes::kCells * width;
    const int32_t vectors = static_cast<int32_t>(width / kRowLanes);
    const int32_t left = joint_.groups() - first, count = left < kSummed ? left : kSummed;
    Scratch<Real> part(size * count);
    Scratch<double> cells(size * count);
    for (int64_t begin = 0; begin < model_.n; begin += kRounded) {
      const int64_t end = begin + kRounded < model_.n ? begin + kRounded : model_.n;
      std::memset(part.get(), 0, sizeof(Real) * size * count);
      for (int64_t i = begin; i < end; ++i)
        for (int32_t g = 0; g < count; ++g)
          add_vectors<N>(part.get() + g * size + joint_.of(first + g)[i] * width, image + i * width,
                         vectors);
      for (size_t c = 0; c < size * count; ++c) cells[c] += part[c];
    }
    for (int32_t g = 0; g < count; ++g) {
      const int32_t member = (first + g) * JointCodes::kMembers;
      const int32_t members = last_member(first + g) - member;
      for (int32_t b = 0; b < members; ++b) {
        double* out = sums + live_.first_segment(split_.product(member + b)) * k_;
        for (int32_t c = 0; c < 1 << members; ++c)
          for (int32_t r = 0; r < k_; ++r)
            out[(c >> b & 1) * k_ + r] += sign * cells[g * size + c * width + r];
      }
    }
  }

  void add_feature(int32_t v, double sign, double* sums) const {
    const size_t common = places_.most_common(v);
    for (int32_t piece = 0; piece < pieces_; ++piece) {
      const Real *hist = hist_.get() + piece * first_cell_, *total = hist + live_.segments() * width_;
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
  const SplitFeatures split_;
  const RowSegments places_;
  const JointCodes joint_;
  const int32_t k_, width_;
  const int64_t piece_;  // rows of a piece
  const int32_t pieces_;
  const int64_t tile_;
  const size_t first_cell_;  // of the first group; the size of the tables of segments
  Scratch<Real> tables_, hist_, image_;
  Scratch<double> seen_;
};

}  // namespace DB_SPACE
