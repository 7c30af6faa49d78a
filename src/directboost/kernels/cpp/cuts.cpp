// Ranges of the columns of a matrix, and the cuts between their distinct values.
#include <math.h>

#include "dispatch.h"
#include "matrix.h"
#include "radix_sort.h"
#include "threads.h"

namespace DB_SPACE {

// Smallest, largest and missing values, all as numbers so that the compiler vectorises the loops.
template <class Real>
struct Range {
  Real *low, *high, *gone;

  void clear(int32_t n) const {
    for (int32_t f = 0; f < n; ++f) {
      low[f] = static_cast<Real>(HUGE_VAL), high[f] = static_cast<Real>(-HUGE_VAL);
      gone[f] = 0;
    }
  }
  void row(const Real* x, int64_t stride, int32_t n) const {
    for (int32_t f = 0; f < n; ++f) {
      const Real value = x[f * stride];
      low[f] = value < low[f] ? value : low[f];
      high[f] = value > high[f] ? value : high[f];
      gone[f] = value != value ? Real(1) : gone[f];
    }
  }
};

template <class Real>
inline void range_rows(const Matrix<Real>& X, int64_t begin, int64_t end, Range<Real> range) {
  range.clear(X.d);
  for (int64_t i = begin; i < end; ++i) {
    if (X.column_stride == 1) {
      range.row(X.at(i, 0), 1, X.d);
    } else {
      range.row(X.at(i, 0), X.column_stride, X.d);
    }
  }
}

// A column is folded into eight lanes, which is as fast as a row.
template <class Real>
inline void range_column(const Matrix<Real>& X, int32_t f, Range<Real> range) {
  constexpr int32_t lanes = 8;
  Real low[lanes], high[lanes], gone[lanes];
  const Range<Real> fold{low, high, gone};
  fold.clear(lanes);
  int64_t i = 0;
  for (; i + lanes <= X.m; i += lanes) {
    if (X.row_stride == 1) {
      fold.row(X.at(i, f), 1, lanes);
    } else {
      fold.row(X.at(i, f), X.row_stride, lanes);
    }
  }
  for (; i < X.m; ++i) fold.row(X.at(i, f), 1, 1);
  range.clear(1);
  for (int32_t l = 0; l < lanes; ++l) {
    *range.low = low[l] < *range.low ? low[l] : *range.low;
    *range.high = high[l] > *range.high ? high[l] : *range.high;
    *range.gone = gone[l] > 0 ? gone[l] : *range.gone;
  }
}

template <class Real>
void find_ranges(DbTeam* team, const Matrix<Real>& X, double* low, double* high,
                 uint8_t* missing) {
  const bool by_rows = X.by_rows();
  // At most 64 pieces of rows, since each piece stores the extremes of every feature.
  const int64_t rows = X.m / 64 < 2048 ? 2048 : X.m / 64 + 1;
  const int32_t pieces = static_cast<int32_t>(by_rows ? (X.m + rows - 1) / rows : 1);
  const size_t each = 3 * static_cast<size_t>(X.d);
  Scratch<Real> parts(pieces * each);
  const auto range_of = [&](int32_t piece) {
    Real* part = parts.get() + piece * each;
    return Range<Real>{part, part + X.d, part + 2 * X.d};
  };
  share(team, by_rows ? pieces : X.d, [&](int32_t piece) {
    if (by_rows) {
      const int64_t begin = piece * rows, end = begin + rows < X.m ? begin + rows : X.m;
      range_rows(X, begin, end, range_of(piece));
    } else {
      const Range<Real> all = range_of(0);
      range_column(X, piece, {all.low + piece, all.high + piece, all.gone + piece});
    }
  });
  for (int32_t f = 0; f < X.d; ++f) {
    low[f] = HUGE_VAL, high[f] = -HUGE_VAL, missing[f] = 0;
    for (int32_t piece = 0; piece < pieces; ++piece) {
      const Range<Real> part = range_of(piece);
      low[f] = part.low[f] < low[f] ? part.low[f] : low[f];
      high[f] = part.high[f] > high[f] ? part.high[f] : high[f];
      missing[f] |= part.gone[f] > 0;
    }
  }
}

// Parameters of the cuts, and the arrays for the results of every feature.
struct CutOutput {
  int64_t max_bins, width;
  double *before, *after;
  int32_t* n_cuts;
  int64_t* centre;
  uint8_t* exact;
};

// Cuts between n > 0 ascending distinct values; `mass` is cumulative. The slack keeps a quantile or
// a median that falls on a value at this value despite rounding. Quantiles on the largest value cut
// before it, so that a feature with most of its mass there keeps a threshold.
inline void choose_cuts(const double* values, const double* mass, int64_t n, int32_t f,
                        const CutOutput& out) {
  double* before = out.before + f * out.width;
  double* after = out.after + f * out.width;
  const double total = mass[n - 1], middle = 0.5 * total * (1.0 - 1e-12);
  int64_t median = 0, cuts = 0, centre = 0, last = -1;
  while (mass[median] < middle) ++median;
  const auto cut = [&](int64_t j) {
    before[cuts] = values[j], after[cuts] = values[j + 1];
    ++cuts;
    centre += j < median;
  };
  const bool exact = n <= out.max_bins;
  if (exact) {
    for (int64_t j = 0; j + 1 < n; ++j) cut(j);
  } else {
    for (int64_t i = 1, j = 0; i < out.max_bins; ++i) {
      const double share = total * static_cast<double>(i) / static_cast<double>(out.max_bins);
      const double target = share * (1.0 - 1e-12);
      while (j < n - 2 && mass[j] < target) ++j;
      if (j != last) cut(j);
      last = j;
    }
  }
  out.n_cuts[f] = static_cast<int32_t>(cuts);
  out.centre[f] = centre;
  out.exact[f] = exact;
}

constexpr int32_t kSlots = 512;        // slots of the first table of every feature
constexpr int32_t kManySlots = 16384;  // slots of the second table, for long columns

struct Slot {
  double value, mass;
};

// A table of slots in the order of the values. It works if no slot gets two distinct values:
// numbers on a grid, such as integers, need no sorting.
inline void clear(Slot* slots, int32_t n) {
  for (int32_t s = 0; s < n; ++s) slots[s] = {NAN, 0.0};
}

inline int32_t place_of(double x, double low, double scale, int32_t last) {
  double place = (x - low) * scale;
  place = place > 0.0 ? place : 0.0;  // also if x is missing
  return static_cast<int32_t>(place < last ? place : last);
}

// Returns false if the slot already holds another value.
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
                      const CutOutput& out) {
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
                  const CutOutput& out) {
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

// Cuts between the n sorted values; they and their masses take the place of the keys.
inline void cut_sorted(RadixSorter& sorter, int64_t n, const double* weight, int32_t f,
                       const CutOutput& out) {
  const uint64_t* keys = sorter.keys();
  const uint32_t* rows = sorter.rows();
  double *values = reinterpret_cast<double*>(sorter.keys()),
         *mass = reinterpret_cast<double*>(sorter.spare());
  int64_t distinct = 0;
  double sum = 0.0;
  for (int64_t i = 0; i < n;) {
    const uint64_t key = keys[i];
    double own = 0.0;
    for (; i < n && keys[i] == key; ++i) own += rows == nullptr ? 1.0 : weight[rows[i]];
    sum += own;
    const double value = value_of(key);
    std::memcpy(values + distinct, &value, sizeof value);
    std::memcpy(mass + distinct, &sum, sizeof sum);
    ++distinct;
  }
  choose_cuts(values, mass, distinct, f, out);
}

template <class Real>
void cut_by_sorting(const Matrix<Real>& X, int32_t column, const double* weight,
                    RadixSorter& sorter, int32_t f, const CutOutput& out) {
  int64_t n = 0;
  for (int64_t i = 0; i < X.m; ++i) {
    const double x = *X.at(i, column);
    if (x == x) sorter.put(n++, x, i);
  }
  sorter.sort(n);
  cut_sorted(sorter, n, weight, f, out);
}

// Sorts the given features. Short columns are copied out of the rows together: copied one at a
// time, every number would touch another page.
template <class Real>
void sort_features(const Matrix<Real>& X, const double* weight, const int32_t* features, int32_t n,
                   const CutOutput& out) {
  constexpr int64_t buffer = int64_t{1} << 18;  // numbers
  const int32_t group = static_cast<int32_t>(buffer / X.m < n ? buffer / X.m : n);
  RadixSorter sorter(X.m, weight != nullptr);
  if (group < 2) {
    for (int32_t c = 0; c < n; ++c)
      cut_by_sorting(X, features[c], weight, sorter, features[c], out);
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

// The first tables of neighbouring features, filled row by row: neighbours share cache lines of X,
// and their additions do not wait for each other.
template <class Real>
class SlotTables {
 public:
  static constexpr int32_t kMost = 64;  // features; the tables of more would not fit into the cache

  SlotTables(const Matrix<Real>& X, int32_t first, int32_t n, const double* low, const double* high)
      : X_(X), first_(first), n_(n), slots_(static_cast<size_t>(n) * kSlots) {
    for (int32_t j = 0; j < n; ++j) {
      low_[j] = low[first + j];
      scale_[j] = (kSlots - 1) / (high[first + j] - low[first + j]);
    }
    clear(slots_.get(), n * kSlots);
  }
  void activate(int32_t j) { active_[left_++] = j; }

  // Lists the features with too many distinct values, and returns their number.
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
  void cut(const CutOutput& out) const {
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
               const double* low, const double* high, const CutOutput& out) {
  int32_t crowded[SlotTables<Real>::kMost], left = 0, n_crowded;
  {
    SlotTables<Real> tile(X, first, n, low, high);
    for (int32_t f = first; f < first + n; ++f) {
      out.n_cuts[f] = 0, out.centre[f] = 0, out.exact[f] = 1;  // if all are missing
      if (low[f] <= high[f]) tile.activate(f - first);
    }
    n_crowded = tile.fill(weight, crowded);
    tile.cut(out);
  }
  for (int32_t c = 0; c < n_crowded; ++c) {
    const int32_t f = crowded[c];
    // Sorting a short column is faster than clearing the large table.
    const bool worth = X.m > 2 * kManySlots;
    if (!worth || !cut_by_slots(X, weight, f, low[f], high[f], out)) crowded[left++] = f;
  }
  if (left > 0) sort_features(X, weight, crowded, left, out);
}

// Long rows lie on different pages, and every access to a page costs: reading more of it at once is
// better, as long as there are enough pieces for all threads.
template <class Real>
void find_cuts(DbTeam* team, const Matrix<Real>& X, const double* weight, const double* low,
               const double* high, const CutOutput& out) {
  const bool by_rows = X.by_rows();
  const int32_t wide = by_rows ? X.d / 12 / 8 * 8 : 0;
  constexpr int32_t most = SlotTables<Real>::kMost;
  const int32_t tile = wide < 8 ? 8 : wide < most ? wide : most;
  share(team, (X.d + tile - 1) / tile, [&](int32_t piece) {
    const int32_t first = piece * tile, n = X.d - first < tile ? X.d - first : tile;
    cut_piece(X, weight, first, n, low, high, out);
  });
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(ranges)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                  int32_t d, int64_t row_stride, int64_t column_stride, double* low,
                                  double* high, uint8_t* missing) {
  using namespace DB_SPACE;
  return status_of([&] {
    with_reals(real_bytes, [&](auto* real) {
      using Real = Pointee<decltype(real)>;
      const Matrix<Real> matrix{static_cast<const Real*>(X), m, d, row_stride, column_stride};
      find_ranges(team, matrix, low, high, missing);
    });
  });
}

DB_EXPORT int32_t DB_NAME(find_cuts)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                     int32_t d, int64_t row_stride, int64_t column_stride,
                                     const double* weight, int64_t max_bins, const double* low,
                                     const double* high, int64_t width, double* before,
                                     double* after, int32_t* n_cuts, int64_t* centre,
                                     uint8_t* exact) {
  using namespace DB_SPACE;
  return status_of([&] {
    const CutOutput out{max_bins, width, before, after, n_cuts, centre, exact};
    with_reals(real_bytes, [&](auto* real) {
      using Real = Pointee<decltype(real)>;
      const Matrix<Real> matrix{static_cast<const Real*>(X), m, d, row_stride, column_stride};
      find_cuts(team, matrix, weight, low, high, out);
    });
  });
}
