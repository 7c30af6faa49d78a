// The preconditioner of the Newton equations: features and classes are independent, except for the
// mean.
//
// With the diagonal curvature of the bins alone the second derivative of one feature and class is a
// chain, that of a categorical feature a star. The strongest coupling of the features is the mean
// of their scores, which even independent features share, and with them the constant. So a share of
// the curvature of its mean is removed from every chain and replaced by the mean of all features: a
// matrix of rank one for every class.
#pragma once

#include "active_set.h"
#include "penalties.h"
#include "threads.h"

namespace DB_SPACE {

// The second derivative of one feature and class in its live jumps, solved in linear time.
//
// Between n jumps lie n + 1 segments with curvatures d; jump j has the curvature e_j of its own. In
// the levels t of the segments, t_0 = -sum x and t_j = t_(j-1) + 2 x_j, the function sum d t^2 / 2
// + sum e x^2 / 2 - r'x couples neighbours only. Any n + 1 levels belong to jumps if t_0 + t_n = 0:
// one condition, enforced by a multiplier. Arrays of one chain, owned by the caller: n each for
// jumps, n + 1 for levels.
struct Chain {
  size_t n;
  double* ratio;  // jumps: the share of its right-hand side that a level passes on
  double* pivot;  // levels: the reciprocals of the pivots
  double* bound;  // levels: the solution for a one at both ends, divided by the sum of its ends

  // d (n + 1), not all zero, none negative; e (n), positive.
  void factor(const double* d, const double* e) {
    double left = d[0];
    for (size_t j = 0; j < n; ++j) {
      const double spring = 0.25 * e[j], whole = left + spring;
      pivot[j] = 1.0 / whole;
      ratio[j] = spring * pivot[j];
      left = d[j + 1] + ratio[j] * left;
    }
    pivot[n] = 1.0 / left;
    for (size_t s = 0; s <= n; ++s) bound[s] = 0.0;
    bound[0] = bound[n] = 1.0;
    sweep(bound);
    const double ends = bound[0] + bound[n];
    for (size_t s = 0; s <= n; ++s) bound[s] /= ends;
  }

  // x = the solution for r, both of jumps; `level` is scratch memory for n + 1 numbers.
  void solve(const double* r, double* level, double* x) const {
    level[0] = -0.5 * r[0];
    for (size_t j = 1; j < n; ++j) level[j] = 0.5 * (r[j - 1] - r[j]);
    level[n] = 0.5 * r[n - 1];
    sweep(level);
    const double ends = level[0] + level[n];
    for (size_t s = 0; s <= n; ++s) level[s] -= ends * bound[s];
    for (size_t j = 0; j < n; ++j) x[j] = 0.5 * (level[j + 1] - level[j]);
  }

 private:
  void sweep(double* level) const {
    for (size_t j = 0; j < n; ++j) level[j + 1] += ratio[j] * level[j];
    level[n] *= pivot[n];
    for (size_t j = n; j-- > 0;) level[j] = level[j] * pivot[j] + ratio[j] * level[j + 1];
  }
};

// The second derivative of one categorical feature and class in its live levels, solved in linear
// time.
//
// Level a has the curvature d_a, all levels together have W. Its jump x_a lowers its own level and
// lifts all others, so with S = sum x the function is (sum d_a (S - 2 x_a)^2 + (W - sum d_a) S^2 +
// sum e_a x_a^2) / 2 - r'x. Where the slope is zero, (4 d_a + e_a) x_a = r_a + 2 d_a S - q with q =
// W S - 2 sum d_a x_a: two unknowns couple the levels. Arrays of one star, owned by the caller.
struct Star {
  size_t n;
  double* scale;  // (n,) 1 / (4 d + e)
  double* d;      // (n + 1,) the curvatures, and W

  // d (n) and W, none negative; e (n), positive.
  void factor(const double* curvature, const double* e, double whole) {
    for (size_t a = 0; a < n; ++a) {
      d[a] = curvature[a];
      scale[a] = 1.0 / (4.0 * d[a] + e[a]);
    }
    d[n] = whole;
  }

  // x = the solution for r, both (n,); they may be the same array.
  void solve(const double* r, double* x) const {
    double sums[3] = {0, 0, 0}, right[2] = {0, 0};
    for (size_t a = 0; a < n; ++a) {
      const double one = scale[a], scaled = one * d[a];
      sums[0] += one;
      sums[1] += scaled;
      sums[2] += scaled * d[a];
      right[0] += one * r[a];
      right[1] += scaled * r[a];
    }
    const double across = 1.0 - 2.0 * sums[1], rest = d[n] - 4.0 * sums[2];
    const double size = across * across + sums[0] * rest;
    const double S = (across * right[0] + 2.0 * sums[0] * right[1]) / size;
    const double q = (rest * right[0] - 2.0 * across * right[1]) / size;
    for (size_t a = 0; a < n; ++a) x[a] = scale[a] * (r[a] + 2.0 * d[a] * S - q);
  }
};

constexpr double kRidge = 1e-3;  // share of the diagonal that is added to the second derivative

class Preconditioner {
 public:
  // V (jumps, k); D (segments, k) the diagonal curvature.
  Preconditioner(DbTeam* team, const ActiveSet& live, const double* V, const double* D, int32_t k,
                 const PenaltyCurvature& penalty)
      : team_(team),
        live_(live),
        penalty_(penalty),
        D_(D),
        k_(k),
        places_(static_cast<size_t>(live.features()) * k),
        diagonal_(live.jumps() * k),
        inverse_(live.jumps() * k),
        first_(places_ + 1),
        members_(list_members(V)),
        flat_(places_),
        arrays_(kKinds * first_[places_] + 2 * (first_[places_] + places_)),
        along_(places_),
        gone_(places_),
        total_(k),
        share_(k) {
    share(team, live.features(), [&](int32_t v) { list_feature(v, V); });
    set_floor();
    share(team, live.features(), [&](int32_t v) { factor_feature(v); });
    set_means();
  }

  // The diagonal of the second derivative, (jumps, k); zero where V is.
  const double* diagonal() const { return diagonal_.get(); }

  // scaled = the inverse of the preconditioner times the residual, both (jumps, k).
  void apply(const double* residual, double* scaled) {
    share(team_, live_.features(), [&](int32_t v) { apply_feature(v, residual, scaled); });
    for (int32_t r = 0; r < k_; ++r) {
      double sum = 0.0;
      for (size_t place = r; place < places_; place += k_) sum += along_[place];
      total_[r] = share_[r] * sum;
    }
    share(team_, live_.features(), [&](int32_t v) { subtract_mean(v, scaled); });
  }

 private:
  static constexpr double kShare = 0.9;      // of the curvature of the mean that features share
  static constexpr double kNothing = 1e-290;  // smaller curvatures have no finite reciprocal

  // Finds the first member of every feature and class; returns the number of members.
  size_t list_members(const double* V) {
    size_t place = 0;
    for (int32_t v = 0; v < live_.features(); ++v) {
      for (int32_t r = 0; r < k_; ++r, ++place) {
        size_t n = 0;
        for (size_t j = live_.first_threshold(v); j < live_.first_threshold(v + 1); ++j)
          n += V[j * k_ + r] != 0.0;
        first_[place + 1] = first_[place] + n;
      }
    }
    return first_[place];
  }

  size_t members(size_t place) const { return first_[place + 1] - first_[place]; }
  const uint32_t* member(size_t place) const { return members_.get() + first_[place]; }

  // For the jumps of a place: the ratios of its chain, its mean, the solution for the mean, the
  // solution for rows with missing values, and scratch memory.
  enum Kind { kRatio, kMean, kSolution, kGone, kWork, kKinds };
  double* of_jumps(Kind kind, size_t place) {
    return arrays_.get() + kind * first_[places_] + first_[place];
  }
  // For its segments: pivots, and the solution for the condition on the ends.
  double* of_levels(int kind, size_t place) {
    const size_t all = first_[places_];
    return arrays_.get() + kKinds * all + kind * (all + places_) + first_[place] + place;
  }
  Chain chain(size_t place) {
    return {members(place), of_jumps(kRatio, place), of_levels(0, place), of_levels(1, place)};
  }

  Star star(size_t place) {
    return {members(place), of_jumps(kRatio, place), of_levels(0, place)};
  }
  bool is_star(size_t place) const { return live_.levels(static_cast<int32_t>(place / k_)); }

  // Jumps in the order of their positions, for both directions of missing values.
  void fill_members(int32_t v, int32_t r, const double* V) {
    uint32_t* all = members_.get() + first_[static_cast<size_t>(v) * k_ + r];
    size_t n = 0;
    for (size_t j = live_.first_threshold(v); j < live_.first_threshold(v + 1); ++j) {
      if (V[j * k_ + r] == 0.0) continue;
      const int32_t here = live_.position(j);
      size_t at = n++;
      for (; at > 0 && live_.position(all[at - 1] / k_) > here; --at) all[at] = all[at - 1];
      all[at] = static_cast<uint32_t>(j * k_ + r);
    }
  }

  // The curvature of a feature and class: cumulated over the segments, and of missing values.
  struct Curve {
    double whole, gone;
  };
  Curve add_up(int32_t v, int32_t r, double* below) const {
    const int32_t segments = live_.segments_of(v), present = segments - (live_.missing(v) ? 1 : 0);
    const double* D = D_ + live_.first_segment(v) * k_ + r;
    double sum = 0.0;
    for (int32_t s = 0; s < present; ++s) below[s] = sum += D[static_cast<size_t>(s) * k_];
    return {sum, present < segments ? D[static_cast<size_t>(present) * k_] : 0.0};
  }

  void list_feature(int32_t v, const double* V) {
    Scratch<double> below(live_.segments_of(v));
    for (int32_t r = 0; r < k_; ++r) {
      const size_t place = static_cast<size_t>(v) * k_ + r;
      fill_members(v, r, V);
      const Curve curve = add_up(v, r, below.get());
      for (size_t a = 0; a < members(place); ++a) {
        const uint32_t i = member(place)[a];
        diagonal_[i] = curve.whole + curve.gone + penalty_.diagonal(i);
      }
    }
  }

  void factor_feature(int32_t v) {
    Scratch<double> below(live_.segments_of(v)), d(members_of(v) + 1), e(members_of(v) + 1);
    for (int32_t r = 0; r < k_; ++r) {
      const size_t place = static_cast<size_t>(v) * k_ + r, n = members(place);
      const Curve curve = add_up(v, r, below.get());
      flat_[place] = n == 0 || !(curve.whole > kNothing);
      if (flat_[place]) continue;
      double before = 0.0;
      for (size_t a = 0; a < n; ++a) {
        const uint32_t i = member(place)[a];
        const int32_t position = live_.position(i / k_);
        const double here = below[position];
        e[a] = penalty_.diagonal(i) + kRidge * diagonal_[i];
        if (is_star(place)) before = position > 0 ? below[position - 1] : 0.0;
        d[a] = here - before;
        before = here;
      }
      d[n] = curve.whole - before;
      if (is_star(place))
        star(place).factor(d.get(), e.get(), curve.whole);
      else
        chain(place).factor(d.get(), e.get());
      if (live_.missing(v)) add_gone(place, curve.gone);
      share_mean(place, d.get(), curve);
    }
  }

  // Rows with a missing value have the level s'x, s = 1 for jumps that send them to the right and
  // -1 for the others: gone s s' is added to the chain A. Stored are u = A^-1 s and 1 / (1 / gone +
  // s'u).
  void add_gone(size_t place, double gone) {
    const size_t n = members(place);
    double *u = of_jumps(kGone, place), *work = of_jumps(kWork, place);
    Scratch<double> level(n + 1);
    for (size_t a = 0; a < n; ++a) work[a] = side(place, a);
    chain(place).solve(work, level.get(), u);
    const double inside = dot(work, u, n);
    gone_[place] = gone > 0.0 ? 1.0 / (1.0 / gone + inside) : 0.0;
  }
  double side(size_t place, size_t a) const {
    return live_.left(member(place)[a] / k_) ? -1.0 : 1.0;
  }

  // x = the solution for r of one feature and class alone; x and r may be the same array.
  void solve(size_t place, const double* r, double* level, double* x) {
    const size_t n = members(place);
    if (is_star(place)) return star(place).solve(r, x);
    chain(place).solve(r, level, x);
    if (gone_[place] == 0.0) return;
    const double* u = of_jumps(kGone, place);
    double along = 0.0;
    for (size_t a = 0; a < n; ++a) along += side(place, a) * x[a];
    along *= gone_[place];
    for (size_t a = 0; a < n; ++a) x[a] -= along * u[a];
  }

  size_t members_of(int32_t v) const { return live_.first_threshold(v + 1) - live_.first_threshold(v); }

  // The mean of a place, m = edges of its curvature over the root of their sum, and the solution g
  // for m without the shared part: (A - share m m')^-1 m = A^-1 m / (1 - share m' A^-1 m).
  void share_mean(size_t place, const double* d, Curve curve) {
    const size_t n = members(place);
    const double root = std::sqrt(curve.whole + curve.gone);
    double *m = of_jumps(kMean, place), *g = of_jumps(kSolution, place), before = 0.0;
    Scratch<double> level(n + 1);
    for (size_t a = 0; a < n; ++a) {
      before = is_star(place) ? d[a] : before + d[a];
      m[a] = (curve.whole - 2.0 * before + side(place, a) * curve.gone) / root;
    }
    solve(place, m, level.get(), g);
    const double inside = dot(m, g, n), scale = 1.0 / (1.0 - kShare * inside);
    for (size_t a = 0; a < n; ++a) g[a] *= scale;
    along_[place] = inside * scale;
  }

  // The shared part of all features is solved once: share / (1 + share m' g) over all of them.
  void set_means() {
    for (int32_t r = 0; r < k_; ++r) {
      double sum = 0.0;
      for (size_t place = r; place < places_; place += k_) sum += along_[place];
      share_[r] = kShare / (1.0 + kShare * sum);
    }
  }

  void set_floor() {
    double top = 0.0;
    const size_t size = live_.jumps() * k_;
    for (size_t i = 0; i < size; ++i) top = diagonal_[i] > top ? diagonal_[i] : top;
    for (size_t m = 0; m < first_[places_]; ++m) {
      double& diagonal = diagonal_[members_[m]];
      diagonal = diagonal > 1e-12 * top ? diagonal : 1e-12 * top;
      inverse_[members_[m]] = 1.0 / diagonal;
    }
  }

  void apply_feature(int32_t v, const double* residual, double* scaled) {
    const size_t begin = live_.first_threshold(v) * k_, end = live_.first_threshold(v + 1) * k_;
    for (size_t i = begin; i < end; ++i) scaled[i] = residual[i] * inverse_[i];
    Scratch<double> level(members_of(v) + 1);
    for (int32_t r = 0; r < k_; ++r) {
      const size_t place = static_cast<size_t>(v) * k_ + r, n = members(place);
      if (flat_[place]) continue;
      double* x = of_jumps(kWork, place);
      for (size_t a = 0; a < n; ++a) x[a] = residual[member(place)[a]];
      solve(place, x, level.get(), x);
      const double *m = of_jumps(kMean, place), *g = of_jumps(kSolution, place);
      const double back = kShare * dot(m, x, n);
      for (size_t a = 0; a < n; ++a) x[a] += back * g[a];
      for (size_t a = 0; a < n; ++a) scaled[member(place)[a]] = x[a];
      along_[place] = dot(m, x, n);
    }
  }

  void subtract_mean(int32_t v, double* scaled) {
    for (int32_t r = 0; r < k_; ++r) {
      const size_t place = static_cast<size_t>(v) * k_ + r;
      if (flat_[place]) continue;
      const double* g = of_jumps(kSolution, place);
      for (size_t a = 0; a < members(place); ++a) scaled[member(place)[a]] -= total_[r] * g[a];
    }
  }

  static double dot(const double* a, const double* b, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  }

  DbTeam* team_;
  const ActiveSet& live_;
  const PenaltyCurvature& penalty_;
  const double* D_;
  const int32_t k_;
  const size_t places_;  // features times classes
  Scratch<double> diagonal_, inverse_;
  Scratch<size_t> first_;
  Scratch<uint32_t> members_;
  Scratch<uint8_t> flat_;  // feature and class without curvature or jumps: no chain
  Scratch<double> arrays_, along_, gone_, total_, share_;
};

}  // namespace DB_SPACE
