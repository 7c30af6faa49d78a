// The preconditioner of the Newton equations: one small Cholesky factor per feature and class.
//
// Within one feature and class the second derivative with the diagonal curvature of the bins alone
// is known: two jumps agree on all bins but those between them, so the entry is T - 2 |C_i - C_j|
// with C the curvature up to a jump. Where a feature has many live jumps, the diagonal serves.
#pragma once

#include "bend.h"
#include "live.h"
#include "team.h"

namespace DB_SPACE {

class Factors {
 public:
  // V (jumps, k); D (segments, k) the diagonal curvature.
  Factors(DbTeam* team, const Live& live, const double* V, const double* D, int32_t k,
          const Bend& bend)
      : team_(team),
        live_(live),
        bend_(bend),
        D_(D),
        k_(k),
        diagonal_(live.jumps() * k),
        inverse_(live.jumps() * k),
        first_member_(static_cast<size_t>(live.features()) * k + 1),
        first_factor_(static_cast<size_t>(live.features()) * k + 1),
        members_(list_members(V)),
        flat_(static_cast<size_t>(live.features()) * k),
        factors_(first_factor_[static_cast<size_t>(live.features()) * k]) {
    size_t at = 0;
    for (int32_t v = 0; v < live.features(); ++v)
      for (int32_t r = 0; r < k; ++r)
        for (size_t j = live.first_jump(v); j < live.first_jump(v + 1); ++j)
          if (V[j * k + r] != 0.0) members_[at++] = static_cast<uint32_t>(j * k + r);
    share(team, live.features(), [&](int32_t v) { factor_feature(v); });
    set_floor();
  }

  // The diagonal of the second derivative, (jumps, k); zero where V is.
  const double* diagonal() const { return diagonal_.get(); }

  // scaled = the factors' inverse times the residual, both (jumps, k).
  void apply(const double* residual, double* scaled) const {
    share(team_, live_.features(), [&](int32_t v) { apply_feature(v, residual, scaled); });
  }

 private:
  static constexpr size_t kMost = 64;     // live jumps up to which a factor pays
  static constexpr double kFloor = 1e-4;  // share of the total curvature added to a factor

  // Finds where the members and factors of every feature and class begin; returns their number.
  size_t list_members(const double* V) {
    size_t place = 0;
    for (int32_t v = 0; v < live_.features(); ++v) {
      for (int32_t r = 0; r < k_; ++r, ++place) {
        size_t n = 0;
        for (size_t j = live_.first_jump(v); j < live_.first_jump(v + 1); ++j)
          n += V[j * k_ + r] != 0.0;
        first_member_[place + 1] = first_member_[place] + n;
        first_factor_[place + 1] = first_factor_[place] + (n <= kMost ? n * n : 0);
      }
    }
    return first_member_[place];
  }

  void factor_feature(int32_t v) {
    const int32_t n = live_.segments_of(v);
    Scratch<double> below(static_cast<size_t>(n));
    const double* D = D_ + live_.first_segment(v) * k_;
    for (int32_t r = 0; r < k_; ++r) {
      double total = 0.0;
      for (int32_t s = 0; s < n; ++s) below[s] = total += D[static_cast<size_t>(s) * k_ + r];
      const size_t place = static_cast<size_t>(v) * k_ + r;
      const size_t live = first_member_[place + 1] - first_member_[place];
      for (size_t a = 0; a < live; ++a) {
        const uint32_t i = members_[first_member_[place] + a];
        diagonal_[i] = total + bend_.diagonal(i);
      }
      const double gone = live_.missing(v) ? D[static_cast<size_t>(n - 1) * k_ + r] : 0.0;
      flat_[place] = !(total > 0.0);
      if (live <= kMost && !flat_[place]) factor(place, total, gone, below.get());
    }
  }

  // Cholesky, column by column: the inner loops run along columns and need no order of additions.
  // Stored by columns, with the reciprocals on the diagonal.
  void factor(size_t place, double total, double gone, const double* below) {
    const uint32_t* member = members_.get() + first_member_[place];
    const size_t n = first_member_[place + 1] - first_member_[place];
    double* L = factors_.get() + first_factor_[place];
    for (size_t b = 0; b < n; ++b) {
      const size_t other = member[b] / k_;
      for (size_t a = b; a < n; ++a) {
        const size_t jump = member[a] / k_;
        double entry = total - 2.0 * std::fabs(below[live_.position(jump)] - below[live_.position(other)]);
        if (live_.left(jump) != live_.left(other)) entry -= 2.0 * gone;
        L[b * n + a] = entry;
      }
      L[b * n + b] += bend_.diagonal(member[b]) + kFloor * total;
    }
    const double floor = kFloor * total;
    for (size_t b = 0; b < n; ++b) {
      double* column = L + b * n;
      const double pivot = column[b] > floor ? column[b] : floor, scale = 1.0 / std::sqrt(pivot);
      column[b] = scale;
      for (size_t a = b + 1; a < n; ++a) column[a] *= scale;
      for (size_t c = b + 1; c < n; ++c) {
        double* into = L + c * n;
        const double factor = column[c];
        for (size_t a = c; a < n; ++a) into[a] -= factor * column[a];
      }
    }
  }

  void set_floor() {
    double top = 0.0;
    const size_t size = live_.jumps() * k_;
    for (size_t i = 0; i < size; ++i) top = diagonal_[i] > top ? diagonal_[i] : top;
    for (size_t m = 0; m < first_member_[static_cast<size_t>(live_.features()) * k_]; ++m) {
      double& diagonal = diagonal_[members_[m]];
      diagonal = diagonal > 1e-12 * top ? diagonal : 1e-12 * top;
      inverse_[members_[m]] = 1.0 / diagonal;
    }
  }

  void apply_feature(int32_t v, const double* residual, double* scaled) const {
    const size_t begin = live_.first_jump(v) * k_, end = live_.first_jump(v + 1) * k_;
    for (size_t i = begin; i < end; ++i) scaled[i] = residual[i] * inverse_[i];
    double y[kMost];
    for (int32_t r = 0; r < k_; ++r) {
      const size_t place = static_cast<size_t>(v) * k_ + r;
      const size_t n = first_member_[place + 1] - first_member_[place];
      if (n < 2 || n > kMost || flat_[place]) continue;
      const uint32_t* member = members_.get() + first_member_[place];
      for (size_t a = 0; a < n; ++a) y[a] = residual[member[a]];
      solve(factors_.get() + first_factor_[place], n, y);
      for (size_t a = 0; a < n; ++a) scaled[member[a]] = y[a];
    }
  }

  // y <- (L L')^-1 y.
  static void solve(const double* L, size_t n, double* y) {
    for (size_t b = 0; b < n; ++b) {
      const double* column = L + b * n;
      const double x = y[b] *= column[b];
      for (size_t a = b + 1; a < n; ++a) y[a] -= x * column[a];
    }
    for (size_t b = n; b-- > 0;) {
      const double* column = L + b * n;
      double sums[4] = {0.0, 0.0, 0.0, 0.0};
      size_t a = b + 1;
      for (; a + 4 <= n; a += 4)
        for (int j = 0; j < 4; ++j) sums[j] += column[a + j] * y[a + j];
      for (; a < n; ++a) sums[0] += column[a] * y[a];
      y[b] = (y[b] - ((sums[0] + sums[2]) + (sums[1] + sums[3]))) * column[b];
    }
  }

  DbTeam* team_;
  const Live& live_;
  const Bend& bend_;
  const double* D_;
  const int32_t k_;
  Scratch<double> diagonal_, inverse_;
  Scratch<size_t> first_member_, first_factor_;
  Scratch<uint32_t> members_;
  Scratch<uint8_t> flat_;  // a feature and class without curvature has no factor
  Scratch<double> factors_;
};

}  // namespace DB_SPACE
