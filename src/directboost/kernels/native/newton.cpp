// The second derivative of the quadratic model in the live jumps, times a direction.
//
// The bins of a feature between two live jumps always move together: they are one segment. A
// direction becomes a table per feature over its segments, the tables become scores, the model
// bends them, and sums over the segments lead back to the jumps: one pass over the rows.
#include "model.h"

namespace DB_SPACE {

constexpr int64_t kTogether = 64;  // rows whose scores stay in the nearest cache

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

template <class Code, class Real>
class Product {
 public:
  Product(const DbModel& model, const DbLive& live, size_t size)
      : model_(model),
        live_(live),
        curvature_(model),
        k_(model.k),
        size_(size),
        tables_(size),
        hist_(size * model_pieces(model.n)) {}

  void set_tables(const double* tables) {
    for (size_t i = 0; i < size_; ++i) tables_[i] = static_cast<Real>(tables[i]);
  }

  // sums += what the model bends the scores of the tables to, summed over the segments.
  void bend(DbTeam* team, double* sums) {
    each_block(team, [&](auto width, auto coupling, int64_t first, int64_t n, Work& work) {
      constexpr int K = decltype(width)::value;
      forward<K>(first, n, work.scores);
      apply<K, decltype(coupling)::value>(first, n, work);
      backward<K>(first, n, work.images, work.hist);
    });
    add_pieces(sums);
  }

  // Q += H dF for the scores dF of the tables; returns dF' H dF.
  double move(DbTeam* team) {
    Scratch<double> sizes(model_pieces(model_.n));
    each_block(team, [&](auto width, auto coupling, int64_t first, int64_t n, Work& work) {
      constexpr int K = decltype(width)::value;
      const size_t k = K > 0 ? K : k_;
      forward<K>(first, n, work.scores);
      apply<K, decltype(coupling)::value>(first, n, work);
      Real* Q = static_cast<Real*>(model_.Q) + first * k;
      for (int64_t i = 0; i < n; ++i) add_row<K>(Q + i * k, work.images + i * k, k_);
      double size = 0.0;
      for (size_t r = 0; r < k; ++r) {
        size += work.sizes[r];
        work.sizes[r] = 0;
      }
      sizes[first / kModelRows] += size;
    });
    double size = 0.0;
    for (int32_t piece = 0; piece < model_pieces(model_.n); ++piece) size += sizes[piece];
    return size;
  }

  // sums += Q, summed over the segments.
  void gather(DbTeam* team, double* sums) {
    each_block(team, [&](auto width, auto, int64_t first, int64_t n, Work& work) {
      constexpr int K = decltype(width)::value;
      const Real* Q = static_cast<const Real*>(model_.Q) + first * (K > 0 ? K : k_);
      backward<K>(first, n, Q, work.hist);
    });
    add_pieces(sums);
  }

 private:
  struct Work {
    Real *scores, *images, *sizes, *hist;
  };

  template <class Function>
  void each_block(DbTeam* team, Function function) {
    with_width(k_, [&](auto width) {
      with_coupling(curvature_.coupling(), [&](auto coupling) {
        share(team, model_pieces(model_.n), [&](int32_t piece) {
          const int64_t begin = piece * kModelRows;
          const int64_t end = begin + kModelRows < model_.n ? begin + kModelRows : model_.n;
          const size_t block = kTogether * static_cast<size_t>(k_);
          Scratch<Real> space(2 * block + k_);
          Work work{space.get(), space.get() + block, space.get() + 2 * block,
                    hist_.get() + piece * size_};
          for (int64_t first = begin; first < end; first += kTogether)
            function(width, coupling, first, end - first < kTogether ? end - first : kTogether,
                     work);
        });
      });
    });
  }

  template <int K, int kCoupling>
  void apply(int64_t first, int64_t n, Work& work) const {
    const size_t k = K > 0 ? K : k_;
    for (int64_t i = 0; i < n; ++i)
      curvature_.template apply<K, kCoupling>(first + i, work.scores + i * k, work.images + i * k,
                                              work.sizes);
  }

  void add_pieces(double* sums) const {
    for (int32_t piece = 0; piece < model_pieces(model_.n); ++piece)
      for (size_t i = 0; i < size_; ++i) sums[i] += hist_[piece * size_ + i];
  }

  const Code* segments(int32_t w, int64_t first) const {
    return static_cast<const Code*>(live_.segments) + static_cast<size_t>(w) * model_.n + first;
  }

  template <int K>
  void forward(int64_t first, int64_t n, Real* scores) const {
    const size_t k = K > 0 ? K : k_;
    std::memset(scores, 0, sizeof(Real) * n * k);
    const Real* table = tables_.get();
    for (int32_t w = 0; w < live_.n_work; ++w) {
      const Code* segment = segments(w, first);
      for (int64_t i = 0; i < n; ++i) add_row<K>(scores + i * k, table + segment[i] * k, k_);
      table += live_.n_segments[w] * k;
    }
  }

  template <int K>
  void backward(int64_t first, int64_t n, const Real* images, Real* hist) const {
    const size_t k = K > 0 ? K : k_;
    for (int32_t w = 0; w < live_.n_work; ++w) {
      const Code* segment = segments(w, first);
      for (int64_t i = 0; i < n; ++i) add_row<K>(hist + segment[i] * k, images + i * k, k_);
      hist += live_.n_segments[w] * k;
    }
  }

  const DbModel& model_;
  const DbLive& live_;
  const RowCurvature<Real> curvature_;
  const int32_t k_;
  const size_t size_;
  Scratch<Real> tables_, hist_;
};

inline size_t segment_count(const DbLive& live) {
  size_t count = 0;
  for (int32_t w = 0; w < live.n_work; ++w) count += live.n_segments[w];
  return count;
}

// Calls f with the product of the right types.
template <class Function>
inline void with_product(const DbModel& model, const DbLive& live, Function f) {
  with_types(live.segment_bytes, model.real_bytes, [&](auto* code, auto* real) {
    using Code = std::remove_const_t<std::remove_pointer_t<decltype(code)>>;
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    Product<Code, Real> product(model, live, segment_count(live) * model.k);
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

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(recode)(DbTeam* team, const DbModel* model, const int32_t* segment_of,
                               void* segments, int32_t segment_bytes) {
  using namespace DB_SPACE;
  Scratch<size_t> begin_of(static_cast<size_t>(model->n_work) + 1);
  for (int32_t w = 0; w < model->n_work; ++w) begin_of[w + 1] = begin_of[w] + model->n_bins[w];
  share(team, model->n_work, [&](int32_t w) {
    const int32_t* map = segment_of + begin_of[w];
    with_codes(model->code_bytes, [&](auto* code) {
      auto codes = static_cast<decltype(code)>(model->codes) +
                   static_cast<size_t>(model->rows[w]) * model->n;
      const size_t offset = static_cast<size_t>(w) * model->n;
      if (segment_bytes == 1) {
        uint8_t* out = static_cast<uint8_t*>(segments) + offset;
        for (int64_t i = 0; i < model->n; ++i) out[i] = static_cast<uint8_t>(map[codes[i]]);
      } else {
        uint32_t* out = static_cast<uint32_t*>(segments) + offset;
        for (int64_t i = 0; i < model->n; ++i) out[i] = static_cast<uint32_t>(map[codes[i]]);
      }
    });
  });
}

DB_EXPORT void DB_NAME(model_product)(DbTeam* team, const DbModel* model, const DbLive* live,
                                      const double* direction, double* out) {
  using namespace DB_SPACE;
  const size_t size = segment_count(*live) * model->k;
  Scratch<double> tables(size), sums(size);
  tables_of(*live, direction, model->k, tables.get());
  for (size_t i = 0; i < size; ++i) sums[i] = live->ridge[i] * tables[i];
  with_product(*model, *live, [&](auto& product) {
    product.set_tables(tables.get());
    product.bend(team, sums.get());
  });
  write_edges(*live, sums.get(), model->k, out);
}

DB_EXPORT double DB_NAME(model_move)(DbTeam* team, const DbModel* model, const DbLive* live,
                                     const double* direction) {
  using namespace DB_SPACE;
  const size_t size = segment_count(*live) * model->k;
  Scratch<double> tables(size);
  tables_of(*live, direction, model->k, tables.get());
  double curvature = 0.0;
  with_product(*model, *live, [&](auto& product) {
    product.set_tables(tables.get());
    curvature = product.move(team);
  });
  for (size_t i = 0; i < size; ++i) curvature += live->ridge[i] * tables[i] * tables[i];
  return curvature;
}

DB_EXPORT void DB_NAME(model_gather)(DbTeam* team, const DbModel* model, const DbLive* live,
                                     double* out) {
  using namespace DB_SPACE;
  Scratch<double> sums(segment_count(*live) * model->k);
  with_product(*model, *live, [&](auto& product) { product.gather(team, sums.get()); });
  write_edges(*live, sums.get(), model->k, out);
}
