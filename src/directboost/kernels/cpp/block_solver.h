// The block solver: all jumps of one feature at once, on the quadratic model of one histogram.
//
// G (n, k) are sums of A = -dL/dF and D (n, k) of the curvature over the rows of a bin; if the
// table changes by g, the remaining gradient of bin t is G_t - D_t g_t. A jump at position j of an
// order of the bins adds +d to the bins after it and -d to the bins up to it, so its edges are e_j
// = total - 2 prefix_j, and every jump has the same curvature T = sum_t D_t, since h^2 = 1. One
// sweep visits the jumps from left to right with running sums, O(k) each. The jump of a category
// adds -d to its own bin and +d to all others: prefix_j is the gradient of that bin.
#pragma once

#include "thresholds.h"
#include "penalties.h"

namespace DB_SPACE {

// Bins (or merged bins) with their remaining gradient and the change of the table so far.
struct BlockBins {
  int32_t n;
  double* G;
  double* D;
  double* change;
};

// An order of the bins, and the jump after each position (-1: none). A feature with a missing code
// has two orders: missing last and missing first.
struct BinOrder {
  int32_t* bin;
  int32_t* row;
};

struct BlockScratch {
  double *T, *total, *prefix, *curve, *run, *edge, *target, *runs;
};

template <class Norm>
class BlockSolver {
 public:
  BlockSolver(int32_t widest, int32_t classes)
      : classes_(classes),
        k_((classes + 3) / 4 * 4),
        small_(7 * static_cast<size_t>(k_)),
        runs_(static_cast<size_t>(widest) * k_),
        merged_(3 * static_cast<size_t>(widest) * k_),
        order_space_(8 * static_cast<size_t>(widest)),
        left_(3 * static_cast<size_t>(widest) * k_),
        jumps_(2 * static_cast<size_t>(widest) * k_),
        live_(2 * static_cast<size_t>(widest)),
        kept_(widest) {
    double* s = small_.get();
    const int32_t k = k_;
    scratch_ = {s, s + k, s + 2 * k, s + 3 * k, s + 4 * k, s + 5 * k, s + 6 * k, runs_.get()};
    widest_ = widest;
  }

  // Changes `jumps` and writes the change of the table; see directboost.h.
  void solve(const double* G, const double* D, int32_t n, uint8_t kind, const int8_t* signs,
             double nu, double p, int32_t full_sweeps, int32_t segment_sweeps, double tolerance,
             double* jumps, double* change) {
    n_ = n;
    kind_ = kind;
    signs_ = signs;
    nu_ = nu;
    p_ = p;
    const size_t size = static_cast<size_t>(n) * k_;
    BlockBins all{n, left_.get(), left_.get() + size, left_.get() + 2 * size};
    widen(G, n, all.G);
    widen(D, n, all.D);
    widen(jumps, n_thresholds(), jumps_.get());
    std::memset(all.change, 0, size * sizeof(double));
    set_curvature(all.D);
    mark_live(jumps_.get());
    run(all, full_sweeps, segment_sweeps, tolerance);
    narrow(all.change, n, change);
    narrow(jumps_.get(), n_thresholds(), jumps);
  }

 private:
  void run(const BlockBins& all, int32_t full_sweeps, int32_t segment_sweeps, double tolerance) {
    const bool categorical = kind_ == DB_CATEGORICAL;
    const int32_t orders = set_orders();
    double first = 0.0;
    for (int32_t round = 0; round < full_sweeps; ++round) {
      double moved = 0.0;
      if (categorical) moved = sweep_levels(all, false);
      for (int32_t v = 0; v < orders && !categorical; ++v)
        moved += sweep(all, orders_[v], jumps_.get());
      if (moved == 0.0) break;
      if (round == 0) first = moved;
      if (round > 0 && moved <= tolerance * tolerance * first) break;
      if (categorical)
        sweep_live_levels(all, segment_sweeps, tolerance);
      else
        sweep_segments(all, segment_sweeps, tolerance, jumps_.get());
    }
  }

  void sweep_live_levels(const BlockBins& all, int32_t sweeps, double tolerance) {
    for (int32_t t = 0; t < n_; ++t) kept_[t] = live_[t];
    double first = 0.0;
    for (int32_t s = 0; s < sweeps && live_count_ > 0; ++s) {
      const double moved = sweep_levels(all, true);
      if (s == 0) first = moved;
      if (moved <= tolerance * tolerance * first) break;
    }
  }

  // Rows of `classes` numbers to rows of k_ numbers, a multiple of four: no remainders of vectors.
  void widen(const double* from, int32_t rows, double* to) const {
    for (int32_t i = 0; i < rows; ++i) {
      for (int32_t r = 0; r < classes_; ++r) to[r] = from[r];
      for (int32_t r = classes_; r < k_; ++r) to[r] = 0.0;
      from += classes_;
      to += k_;
    }
  }

  void narrow(const double* from, int32_t rows, double* to) const {
    for (int32_t i = 0; i < rows; ++i) {
      for (int32_t r = 0; r < classes_; ++r) to[r] = from[r];
      from += k_;
      to += classes_;
    }
  }

  void set_curvature(const double* D) {
    double top = 0.0;
    for (int32_t r = 0; r < k_; ++r) scratch_.T[r] = 0.0;
    for (int32_t t = 0; t < n_; ++t)
      for (int32_t r = 0; r < k_; ++r) scratch_.T[r] += D[static_cast<size_t>(t) * k_ + r];
    for (int32_t r = 0; r < k_; ++r) top = scratch_.T[r] > top ? scratch_.T[r] : top;
    const double floor = top > 0.0 ? 1e-10 * top : 1e-300;
    for (int32_t r = 0; r < k_; ++r) scratch_.T[r] = scratch_.T[r] > floor ? scratch_.T[r] : floor;
  }

  int32_t n_thresholds() const { return count_thresholds(n_, kind_); }

  void mark_live(const double* jumps) {
    live_count_ = 0;
    for (int32_t j = 0; j < n_thresholds(); ++j) {
      live_[j] = 0;
      for (int32_t r = 0; r < k_; ++r)
        if (jumps[static_cast<size_t>(j) * k_ + r] != 0.0) live_[j] = 1;
      live_count_ += live_[j];
    }
  }

  // Orders of all bins: 0..n-1, and with a missing code also n-1, 0, .., n-2.
  int32_t set_orders() {
    for (int32_t v = 0; v < 2; ++v) {
      int32_t* begin = order_space_.get() + 2 * v * widest_;
      orders_[v] = {begin, begin + widest_};
    }
    for (int32_t i = 0; i < n_; ++i) {
      orders_[0].bin[i] = i;
      orders_[0].row[i] = i;
      orders_[1].bin[i] = i == 0 ? n_ - 1 : i - 1;
      orders_[1].row[i] = i == 0 ? -1 : n_ - 2 + i;
    }
    return kind_ == DB_WITH_MISSING && n_ > 2 ? 2 : 1;
  }

  // One sweep in one order; returns sum T d^2, the size of the change.
  double sweep(const BlockBins& bins, const BinOrder& order, double* jumps) {
    const size_t k = 4 * static_cast<size_t>(k_ / 4);
    double *__restrict prefix = scratch_.prefix, *__restrict curve = scratch_.curve,
           *__restrict run = scratch_.run;
    clear(bins);
    double moved = 0.0;
    for (int32_t i = 0; i + 1 < bins.n; ++i) {
      const double *__restrict G = bins.G + order.bin[i] * k,
                   *__restrict D = bins.D + order.bin[i] * k;
      double* __restrict runs = scratch_.runs + i * k;
      for (size_t r = 0; r < k; ++r) {
        runs[r] = run[r];
        prefix[r] += G[r] - D[r] * run[r];
        curve[r] += D[r];
      }
      if (order.row[i] >= 0) moved += visit(order.row[i], jumps);
    }
    if (moved > 0.0) settle(bins, order);
    return moved;
  }

  // Initialises the running sums of a sweep.
  void clear(const BlockBins& bins) {
    const size_t k = static_cast<size_t>(k_);
    for (size_t r = 0; r < k; ++r)
      scratch_.total[r] = scratch_.prefix[r] = scratch_.curve[r] = scratch_.run[r] = 0.0;
    for (int32_t t = 0; t < bins.n; ++t)
      for (size_t r = 0; r < k; ++r) scratch_.total[r] += bins.G[t * k + r];
  }

  // One sweep over the levels of a categorical feature, or over the kept ones; returns sum T d^2.
  double sweep_levels(const BlockBins& all, bool some) {
    const size_t k = static_cast<size_t>(k_);
    clear(all);
    double moved = 0.0;
    for (int32_t t = 0; t < n_; ++t) {
      const double *G = all.G + t * k, *D = all.D + t * k;
      std::memcpy(scratch_.runs + t * k, scratch_.run, k * sizeof(double));
      if (some && !kept_[t]) continue;
      for (size_t r = 0; r < k; ++r) {
        scratch_.prefix[r] = G[r] - D[r] * scratch_.run[r];
        scratch_.curve[r] = D[r];
      }
      moved += visit(t, jumps_.get());
    }
    if (moved > 0.0) settle_levels(all);
    return moved;
  }

  // Writes the changes of a sweep into the bins: all move by run, and the own bin by -2 d more.
  void settle_levels(const BlockBins& all) {
    const size_t k = static_cast<size_t>(k_);
    for (int32_t t = 0; t < n_; ++t) {
      const double *before = scratch_.runs + t * k, *after = t + 1 < n_ ? before + k : scratch_.run;
      for (size_t r = 0; r < k; ++r) {
        const double d = scratch_.run[r] - 2.0 * (after[r] - before[r]);
        all.change[t * k + r] += d;
        all.G[t * k + r] -= all.D[t * k + r] * d;
      }
    }
  }

  // Moves one jump to its best value; returns sum T d^2.
  double visit(int32_t row, double* jumps) {
    const int32_t k = 4 * (k_ / 4);
    double *__restrict total = scratch_.total, *__restrict prefix = scratch_.prefix,
           *__restrict edge = scratch_.edge;
    for (int32_t r = 0; r < k; ++r) edge[r] = total[r] - 2.0 * prefix[r];
    if (!live_[row]) {
      keep_signs(edge);
      if (Norm::is_zero(edge, k, nu_, p_)) return 0.0;
    }
    double *__restrict v = jumps + static_cast<size_t>(row) * k,
           *__restrict target = scratch_.target;
    const double *__restrict T = scratch_.T, *__restrict curve = scratch_.curve;
    double* __restrict run = scratch_.run;
    for (int32_t r = 0; r < k; ++r) {
      edge[r] = v[r] + edge[r] / T[r];
      target[r] = edge[r] * v[r] > 0.0 ? v[r] : 0.0;
    }
    keep_signs(edge);
    Norm::prox(edge, T, k, 1.0, nu_, p_, target);
    Norm::prox(edge, T, k, -1.0, nu_, p_, target);
    double sizes[4] = {0, 0, 0, 0};
    bool alive = false;
    for (int32_t r = 0; r < k; r += 4) {
      for (int j = 0; j < 4; ++j) {
        const double d = target[r + j] - v[r + j];
        sizes[j] += T[r + j] * d * d;
        v[r + j] = target[r + j];
        total[r + j] -= d * (T[r + j] - 2.0 * curve[r + j]);
        prefix[r + j] += d * curve[r + j];
        run[r + j] += d;
      }
    }
    for (int32_t r = 0; r < k; ++r) alive |= target[r] != 0.0;
    live_count_ += static_cast<int32_t>(alive) - static_cast<int32_t>(live_[row]);
    live_[row] = alive;
    return (sizes[0] + sizes[2]) + (sizes[1] + sizes[3]);
  }

  // Sets entries to zero that would give a jump a sign that its class must not have.
  void keep_signs(double* x) const {
    if (signs_ == nullptr) return;
    for (int32_t r = 0; r < classes_; ++r)
      if (signs_[r] * x[r] < 0.0) x[r] = 0.0;
  }

  // Writes the changes of a sweep into the bins: position i moves by 2 runs_i - run.
  void settle(const BlockBins& bins, const BinOrder& order) {
    const size_t k = static_cast<size_t>(k_);
    for (int32_t i = 0; i < bins.n; ++i) {
      const size_t bin = order.bin[i] * k;
      const double* before = i + 1 < bins.n ? scratch_.runs + i * k : scratch_.run;
      for (size_t r = 0; r < k; ++r) {
        const double d = 2.0 * before[r] - scratch_.run[r];
        bins.change[bin + r] += d;
        bins.G[bin + r] -= bins.D[bin + r] * d;
      }
    }
  }

  // Merges the bins between non-zero jumps and sweeps over the non-zero jumps only.
  void sweep_segments(const BlockBins& all, int32_t sweeps, double tolerance, double* jumps) {
    if (live_count_ == 0 || sweeps == 0) return;
    const size_t k = static_cast<size_t>(k_);
    const size_t size = static_cast<size_t>(widest_) * k;
    BlockBins bins{0, merged_.get(), merged_.get() + size, merged_.get() + 2 * size};
    int32_t* segment = order_space_.get() + 4 * widest_;
    merge(all, &bins, segment);
    const int32_t orders = set_segment_orders(bins.n, segment);
    double first = 0.0;
    for (int32_t s = 0; s < sweeps; ++s) {
      double moved = 0.0;
      for (int32_t v = 0; v < orders; ++v) moved += sweep(bins, segment_orders_[v], jumps);
      if (s == 0) first = moved;
      if (moved <= tolerance * tolerance * first) break;
    }
    for (int32_t t = 0; t < n_; ++t) {
      for (size_t r = 0; r < k; ++r) {
        const double d = bins.change[segment[t] * k + r];
        all.change[t * k + r] += d;
        all.G[t * k + r] -= all.D[t * k + r] * d;
      }
    }
  }

  bool boundary_after(int32_t bin) const {
    if (live_[bin]) return true;
    if (kind_ != DB_WITH_MISSING) return false;
    return bin == n_ - 2 || live_[n_ - 1 + bin];
  }

  void merge(const BlockBins& all, BlockBins* bins, int32_t* segment) {
    const size_t k = static_cast<size_t>(k_);
    int32_t s = -1;
    for (int32_t t = 0; t < n_; ++t) {
      if (t == 0 || boundary_after(t - 1)) {
        ++s;
        for (size_t r = 0; r < k; ++r)
          bins->G[s * k + r] = bins->D[s * k + r] = bins->change[s * k + r] = 0.0;
      }
      segment[t] = s;
      for (size_t r = 0; r < k; ++r) {
        bins->G[s * k + r] += all.G[t * k + r];
        bins->D[s * k + r] += all.D[t * k + r];
      }
    }
    bins->n = s + 1;
  }

  int32_t set_segment_orders(int32_t n, const int32_t* segment) {
    int32_t* base = order_space_.get() + 5 * widest_;
    segment_orders_[0] = {orders_[0].bin, base};
    segment_orders_[1] = {base + widest_, base + 2 * widest_};
    for (int32_t i = 0; i < n; ++i) {
      segment_orders_[0].row[i] = segment_orders_[1].row[i] = -1;
      segment_orders_[1].bin[i] = i == 0 ? n - 1 : i - 1;
    }
    for (int32_t t = 0; t + 1 < n_; ++t) {
      if (segment[t] == segment[t + 1]) continue;
      if (live_[t]) segment_orders_[0].row[segment[t]] = t;
      if (kind_ == DB_WITH_MISSING && t + 2 < n_ && live_[n_ - 1 + t])
        segment_orders_[1].row[segment[t] + 1] = n_ - 1 + t;
    }
    return kind_ == DB_WITH_MISSING && n_ > 2 ? 2 : 1;
  }

  const int32_t classes_, k_;
  int32_t widest_ = 0, n_ = 0, live_count_ = 0;
  uint8_t kind_ = DB_ORDERED;
  const int8_t* signs_ = nullptr;
  double nu_ = 0.0, p_ = 1.0;
  Scratch<double> small_, runs_, merged_;
  Scratch<int32_t> order_space_;
  Scratch<double> left_, jumps_;
  Scratch<uint8_t> live_, kept_;
  BlockScratch scratch_{};
  BinOrder orders_[2]{}, segment_orders_[2]{};
};

}  // namespace DB_SPACE
