// Distinct values of the columns of a matrix, and the cuts between them.
#include <math.h>

#include "matrix.h"
#include "sort.h"
#include "team.h"

namespace DB_SPACE {

constexpr int32_t kSlots = 512;       // of the table every feature tries first
constexpr int32_t kManySlots = 16384;  // of the one a long crowded column tries next

struct Slot {
  double value, mass;
};

// A table of slots in the order of the values. It works as long as no slot is asked to hold two of
// them: numbers on a grid, such as integers, need no sorting.
inline void clear(Slot* slots, int32_t n) {
  for (int32_t s = 0; s < n; ++s) slots[s] = {NAN, 0.0};
}

inline int32_t place_of(double x, double low, double scale, int32_t last) {
  double place = (x - low) * scale;
  place = place > 0.0 ? place : 0.0;  // missing too
  return static_cast<int32_t>(place < last ? place : last);
}

// Returns false where the slot holds another value already.
inline bool add(Slot* slot, double x, double weight) {
  if (slot->value == x) {
    slot->mass += weight;
    return true;
  }
  if (x != x) return true;
  if (slot->mass > 0.0) return false;
  *slot = {x, weight};
  return true;
}

inline void cut_slots(const Slot* slots, int32_t n_slots, int32_t f, double* values, double* mass,
                      const Cuts& out) {
  int64_t n = 0;
  double sum = 0.0;
  for (int32_t s = 0; s < n_slots; ++s) {
    if (!(slots[s].mass > 0.0)) continue;
    sum += slots[s].mass;
    values[n] = slots[s].value, mass[n] = sum;
    ++n;
  }
  choose_cuts(values, mass, n, f, out);
}

template <class Real>
bool cut_by_slots(const Matrix<Real>& X, const double* weight, int32_t f, double low, double high,
                  const Cuts& out) {
  Scratch<Slot> slots(kManySlots);
  clear(slots.get(), kManySlots);
  const double scale = (kManySlots - 1) / (high - low);
  for (int64_t i = 0; i < X.m; ++i) {
    const double x = *X.at(i, f);
    Slot* slot = slots.get() + place_of(x, low, scale, kManySlots - 1);
    if (!add(slot, x, weight == nullptr ? 1.0 : weight[i])) return false;
  }
  Scratch<double> values(kManySlots), mass(kManySlots);
  cut_slots(slots.get(), kManySlots, f, values.get(), mass.get(), out);
  return true;
}

template <class Real>
void cut_by_sorting(const Matrix<Real>& X, int32_t column, const double* weight, Sorter& sorter,
                    int32_t f, const Cuts& out) {
  int64_t n = 0;
  for (int64_t i = 0; i < X.m; ++i) {
    const double x = *X.at(i, column);
    if (x == x) sorter.put(n++, x, i);
  }
  sorter.sort(n);
  sorter.cut(n, weight, f, out);
}

// Sorts the listed features. Short columns are copied out of the rows together: one at a time,
// every number would cost a visit to another page.
template <class Real>
void sort_features(const Matrix<Real>& X, const double* weight, const int32_t* features, int32_t n,
                   const Cuts& out) {
  constexpr int64_t room = int64_t{1} << 18;  // numbers
  const int32_t group = static_cast<int32_t>(room / X.m < n ? room / X.m : n);
  Sorter sorter(X.m, weight != nullptr);
  if (group < 2) {
    for (int32_t c = 0; c < n; ++c) cut_by_sorting(X, features[c], weight, sorter, features[c], out);
    return;
  }
  Scratch<Real> copy(static_cast<size_t>(group) * X.m);
  const Matrix<Real> columns{copy.get(), X.m, group, 1, X.m};
  for (int32_t first = 0; first < n; first += group) {
    const int32_t some = n - first < group ? n - first : group;
    for (int64_t i = 0; i < X.m; ++i)
      for (int32_t g = 0; g < some; ++g) copy[g * X.m + i] = *X.at(i, features[first + g]);
    for (int32_t g = 0; g < some; ++g)
      cut_by_sorting(columns, g, weight, sorter, features[first + g], out);
  }
}

// The small tables of neighbouring features, filled row by row: neighbours share cache lines of X,
// and their additions do not wait for one another.
template <class Real>
class Tile {
 public:
  static constexpr int32_t kMost = 64;  // features; more would wash their tables out of the cache

  Tile(const Matrix<Real>& X, int32_t first, int32_t n, const double* low, const double* high)
      : X_(X), first_(first), n_(n), slots_(static_cast<size_t>(n) * kSlots) {
    for (int32_t j = 0; j < n; ++j) {
      low_[j] = low[first + j];
      scale_[j] = (kSlots - 1) / (high[first + j] - low[first + j]);
    }
    clear(slots_.get(), n * kSlots);
  }
  void activate(int32_t j) { active_[left_++] = j; }

  // Lists the features that the tables cannot hold, and returns how many there are.
  int32_t fill(const double* weight, int32_t* crowded) {
    int32_t n_crowded = 0;
    for (int64_t i = 0; i < X_.m && left_ > 0; ++i) {
      const double own = weight == nullptr ? 1.0 : weight[i];
      const Real* row = X_.at(i, first_);
      const int64_t stride = X_.column_stride;
      stride == 1 ? find_places(row, 1) : find_places(row, stride);
      for (int32_t a = 0; a < left_; ++a) {
        const int32_t j = active_[a];
        if (add(slots_.get() + j * kSlots + place_[j], row[j * stride], own)) continue;
        crowded[n_crowded++] = first_ + j;
        active_[a--] = active_[--left_];
      }
    }
    return n_crowded;
  }
  void cut(const Cuts& out) const {
    Scratch<double> values(kSlots), mass(kSlots);
    for (int32_t a = 0; a < left_; ++a)
      cut_slots(slots_.get() + active_[a] * kSlots, kSlots, first_ + active_[a], values.get(),
                mass.get(), out);
  }

 private:
  void find_places(const Real* row, int64_t stride) {
    for (int32_t j = 0; j < n_; ++j)
      place_[j] = place_of(row[j * stride], low_[j], scale_[j], kSlots - 1);
  }

  const Matrix<Real>& X_;
  int32_t first_, n_, left_ = 0;
  Scratch<Slot> slots_;
  double low_[kMost], scale_[kMost];
  int32_t place_[kMost], active_[kMost];
};

template <class Real>
void cut_piece(const Matrix<Real>& X, const double* weight, int32_t first, int32_t n,
               const double* low, const double* high, const Cuts& out) {
  int32_t crowded[Tile<Real>::kMost], left = 0, n_crowded;
  {
    Tile<Real> tile(X, first, n, low, high);
    for (int32_t f = first; f < first + n; ++f) {
      out.n_cuts[f] = 0, out.centre[f] = 0, out.exact[f] = 1;  // where all are missing
      if (low[f] <= high[f]) tile.activate(f - first);
    }
    n_crowded = tile.fill(weight, crowded);
    tile.cut(out);
  }
  for (int32_t c = 0; c < n_crowded; ++c) {
    const int32_t f = crowded[c];
    // A short column is sorted sooner than the large table is cleared.
    const bool worth = X.m > 2 * kManySlots;
    if (!worth || !cut_by_slots(X, weight, f, low[f], high[f], out)) crowded[left++] = f;
  }
  if (left > 0) sort_features(X, weight, crowded, left, out);
}

// Long rows lie on pages of their own, and every visit to a page costs: the more of it is read at
// once the better, as long as there are pieces enough for all threads.
template <class Real>
void find_cuts(DbTeam* team, const Matrix<Real>& X, const double* weight, const double* low,
               const double* high, const Cuts& out) {
  const bool by_rows = size_of(X.column_stride) <= size_of(X.row_stride);
  const int32_t wide = by_rows ? X.d / 12 / 8 * 8 : 0;
  const int32_t tile = wide < 8 ? 8 : wide < Tile<Real>::kMost ? wide : Tile<Real>::kMost;
  share(team, (X.d + tile - 1) / tile, [&](int32_t piece) {
    const int32_t first = piece * tile, n = X.d - first < tile ? X.d - first : tile;
    cut_piece(X, weight, first, n, low, high, out);
  });
}

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(cuts)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m, int32_t d,
                             int64_t row_stride, int64_t column_stride, const double* weight,
                             int64_t max_bins, const double* low, const double* high,
                             int64_t width, double* before, double* after, int32_t* n_cuts,
                             int64_t* centre, uint8_t* exact) {
  const DB_SPACE::Cuts out{max_bins, width, before, after, n_cuts, centre, exact};
  DB_SPACE::with_types(1, real_bytes, [&](auto*, auto* real) {
    using Real = std::remove_const_t<std::remove_pointer_t<decltype(real)>>;
    const DB_SPACE::Matrix<Real> matrix{static_cast<const Real*>(X), m, d, row_stride,
                                        column_stride};
    DB_SPACE::find_cuts(team, matrix, weight, low, high, out);
  });
}
