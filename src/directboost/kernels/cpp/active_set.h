// The active set: the non-zero (live) jumps of a model, and the segments of bins between them.
//
// The bins of a feature between two live jumps always move together: they are one segment. A
// missing code is a segment of its own, the last one of its feature. Of a categorical feature every
// live level is a segment, and all others together are the last one.
#pragma once

#include "thresholds.h"
#include "scratch.h"

namespace DB_SPACE {

struct ActiveCount {
  int32_t features;
  size_t jumps;
};

inline size_t jumps_of(const DbQuadraticModel& model, int32_t w) {
  return static_cast<size_t>(count_thresholds(model.n_bins[w], model.kinds[w]));
}

inline bool is_live(const double* jump, int32_t k) {
  bool live = false;
  for (int32_t r = 0; r < k; ++r) live |= jump[r] != 0.0;
  return live;
}

// Calls visit(w, j, jump) for every live jump j of every feature w of the working set.
template <class Visit>
inline void each_live_jump(const DbQuadraticModel& model, Visit visit) {
  double* jump = model.jumps;
  for (int32_t w = 0; w < model.n_work; ++w)
    for (size_t j = 0; j < jumps_of(model, w); ++j, jump += model.k)
      if (is_live(jump, model.k)) visit(w, static_cast<int32_t>(j), jump);
}

inline ActiveCount count_active(const DbQuadraticModel& model) {
  ActiveCount count{0, 0};
  int32_t last = -1;
  each_live_jump(model, [&](int32_t w, int32_t, double*) {
    count.features += w != last;
    ++count.jumps;
    last = w;
  });
  return count;
}

class ActiveSet {
 public:
  explicit ActiveSet(const DbQuadraticModel& model) : ActiveSet(model, count_active(model)) {}

  int32_t features() const { return features_; }
  size_t jumps() const { return jumps_; }
  size_t segments() const { return first_segment_[features_]; }

  // Feature v of those with live jumps: its place in the working set, first segment and first jump.
  int32_t work(int32_t v) const { return work_[v]; }
  size_t first_segment(int32_t v) const { return first_segment_[v]; }
  size_t first_threshold(int32_t v) const { return first_jump_[v]; }
  int32_t segments_of(int32_t v) const {
    return static_cast<int32_t>(first_segment_[v + 1] - first_segment_[v]);
  }
  bool missing(int32_t v) const { return model_.kinds[work_[v]] == DB_WITH_MISSING; }
  bool levels(int32_t v) const { return model_.kinds[work_[v]] == DB_CATEGORICAL; }
  bool product(int32_t v) const { return model_.kinds[work_[v]] == DB_PRODUCT; }
  double nu(int32_t v) const { return model_.nu[work_[v]]; }

  // A jump: its entries in the model, the segment of its feature before it (categorical: the
  // segment of its level), and whether it sends missing values to the left.
  double* weights(size_t j) const { return weights_[j]; }
  int32_t position(size_t j) const { return position_[j]; }
  bool left(size_t j) const { return left_[j] != 0; }

  // The segment, among all, of every bin of feature v.
  const uint32_t* segment_of(int32_t v) const { return segment_.get() + bin_offset_[v]; }

  // Sums an array (all bins, k) over the segments; `value` returns an entry of it.
  template <class Value>
  void sum(Value value, double* out) const {
    const int32_t k = model_.k;
    std::memset(out, 0, segments() * k * sizeof(double));
    for (int32_t v = 0; v < features_; ++v)
      for (int32_t t = 0; t < model_.n_bins[work_[v]]; ++t)
        for (int32_t r = 0; r < k; ++r)
          out[static_cast<size_t>(segment_of(v)[t]) * k + r] += value((first_bin_[v] + t) * k + r);
  }

  // Adds an array (segments, k), times a factor, to the bins, (all bins, k).
  void spread(const double* from, double factor, double* bins) const {
    const int32_t k = model_.k;
    for (int32_t v = 0; v < features_; ++v)
      for (int32_t t = 0; t < model_.n_bins[work_[v]]; ++t)
        for (int32_t r = 0; r < k; ++r)
          bins[(first_bin_[v] + t) * k + r] +=
              factor * from[static_cast<size_t>(segment_of(v)[t]) * k + r];
  }

 private:
  ActiveSet(const DbQuadraticModel& model, ActiveCount count)
      : model_(model),
        features_(count.features),
        jumps_(count.jumps),
        work_(count.features),
        position_(count.jumps),
        left_(count.jumps),
        weights_(count.jumps),
        first_bin_(count.features),
        bin_offset_(static_cast<size_t>(count.features) + 1),
        first_jump_(static_cast<size_t>(count.features) + 1),
        first_segment_(static_cast<size_t>(count.features) + 1),
        segment_(list_jumps()) {
    for (int32_t v = 0; v < features_; ++v) {
      if (levels(v))
        part(v);
      else
        cut(v);
    }
  }

  // Lists the jumps and their features; returns the number of bins of these features.
  size_t list_jumps() {
    int32_t v = -1;
    size_t j = 0;
    each_live_jump(model_, [&](int32_t w, int32_t threshold, double* weights) {
      if (v < 0 || work_[v] != w) {
        work_[++v] = w;
        first_jump_[v] = j;
      }
      const int32_t last = model_.n_bins[w] - 1;
      left_[j] = model_.kinds[w] == DB_WITH_MISSING && threshold >= last;
      position_[j] = left_[j] ? threshold - last : threshold;  // a bin, until the segments are known
      weights_[j++] = weights;
    });
    first_jump_[features_] = j;
    size_t bin = 0;
    for (int32_t w = 0, next = 0; w < model_.n_work && next < features_; ++w) {
      if (work_[next] == w) {
        first_bin_[next] = bin;
        bin_offset_[next + 1] = bin_offset_[next] + model_.n_bins[w];
        ++next;
      }
      bin += model_.n_bins[w];
    }
    return bin_offset_[features_];
  }

  // Cuts the bins of a feature after its live jumps, and before a missing code.
  void cut(int32_t v) {
    uint32_t* segment = segment_.get() + bin_offset_[v];
    const int32_t n = model_.n_bins[work_[v]];
    for (size_t j = first_jump_[v]; j < first_jump_[v + 1]; ++j) segment[position_[j] + 1] = 1;
    if (missing(v)) segment[n - 1] = 1;
    segment[0] = static_cast<uint32_t>(first_segment_[v]);
    for (int32_t t = 1; t < n; ++t) segment[t] += segment[t - 1];
    first_segment_[v + 1] = static_cast<size_t>(segment[n - 1]) + 1;
    for (size_t j = first_jump_[v]; j < first_jump_[v + 1]; ++j)
      position_[j] = static_cast<int32_t>(segment[position_[j]] - segment[0]);
  }

  // Separates the live levels of a categorical feature from the others.
  void part(int32_t v) {
    uint32_t* segment = segment_.get() + bin_offset_[v];
    const uint32_t first = static_cast<uint32_t>(first_segment_[v]);
    const uint32_t live = static_cast<uint32_t>(first_jump_[v + 1] - first_jump_[v]);
    for (int32_t t = 0; t < model_.n_bins[work_[v]]; ++t) segment[t] = first + live;
    for (uint32_t i = 0; i < live; ++i) {
      int32_t& position = position_[first_jump_[v] + i];
      segment[position] = first + i;
      position = static_cast<int32_t>(i);
    }
    first_segment_[v + 1] = first_segment_[v] + live + 1;
  }

  const DbQuadraticModel& model_;
  const int32_t features_;
  const size_t jumps_;
  Scratch<int32_t> work_, position_;
  Scratch<uint8_t> left_;
  Scratch<double*> weights_;
  Scratch<size_t> first_bin_, bin_offset_, first_jump_, first_segment_;
  Scratch<uint32_t> segment_;
};

// The table of a categorical feature: the sum of its jumps minus twice the own jump of a live
// level.
inline void level_table(const ActiveSet& live, int32_t v, const double* jumps, int32_t k,
                        double* table) {
  const int32_t n = live.segments_of(v);
  double* rest = table + static_cast<size_t>(n - 1) * k;
  const double* own = jumps + live.first_threshold(v) * k;
  for (int32_t i = 0; i < (n - 1) * k; ++i) rest[i % k] += own[i];
  for (int32_t i = 0; i < (n - 1) * k; ++i) table[i] = rest[i % k] - 2.0 * own[i];
}

// Tables over the segments, (segments, k), of jumps (jumps, k).
inline void tables_of(const ActiveSet& live, const double* jumps, int32_t k, double* tables) {
  std::memset(tables, 0, live.segments() * k * sizeof(double));
  for (int32_t v = 0; v < live.features(); ++v) {
    if (live.levels(v)) {
      level_table(live, v, jumps, k, tables + live.first_segment(v) * k);
      continue;
    }
    const int32_t present = live.segments_of(v) - (live.missing(v) ? 1 : 0);
    double *table = tables + live.first_segment(v) * k,
           *gone = table + static_cast<size_t>(present) * k;
    for (size_t j = live.first_threshold(v); j < live.first_threshold(v + 1); ++j) {
      const double* d = jumps + j * k;
      double* after = table + (static_cast<size_t>(live.position(j)) + 1) * k;
      for (int32_t r = 0; r < k; ++r) table[r] -= d[r];
      if (live.position(j) + 1 < present)
        for (int32_t r = 0; r < k; ++r) after[r] += 2.0 * d[r];
      if (live.missing(v))
        for (int32_t r = 0; r < k; ++r) gone[r] += live.left(j) ? -d[r] : d[r];
    }
    for (int32_t i = k; i < present * k; ++i) table[i] += table[i - k];
  }
}

// Edges of the live jumps, (jumps, k), from sums over the segments: the total minus twice the sum
// over the segments where a jump is -1. `prefix` holds one segment more than there are.
inline void edges_of(const ActiveSet& live, const double* all_sums, int32_t k, double* prefix,
                     double* edges) {
  for (int32_t v = 0; v < live.features(); ++v) {
    const int32_t n = live.segments_of(v);
    const double* sums = all_sums + live.first_segment(v) * k;
    for (int32_t r = 0; r < k; ++r) prefix[r] = 0.0;
    for (int32_t i = 0; i < n * k; ++i) prefix[i + k] = prefix[i] + sums[i];
    const double *total = prefix + static_cast<size_t>(n) * k, *gone = sums + (n - 1) * k;
    if (live.levels(v)) {
      double* own = edges + live.first_threshold(v) * k;
      for (int32_t i = 0; i < (n - 1) * k; ++i) own[i] = total[i % k] - 2.0 * sums[i];
      continue;
    }
    for (size_t j = live.first_threshold(v); j < live.first_threshold(v + 1); ++j) {
      const double* below = prefix + (static_cast<size_t>(live.position(j)) + 1) * k;
      const double left = live.missing(v) && live.left(j) ? 1.0 : 0.0;
      for (int32_t r = 0; r < k; ++r)
        edges[j * k + r] = total[r] - 2.0 * (below[r] + left * gone[r]);
    }
  }
}

}  // namespace DB_SPACE
