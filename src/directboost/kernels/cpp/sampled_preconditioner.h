// The preconditioner of the Newton equations where products of stumps are live.
//
// Products overlap in many ways: neither a diagonal nor blocks of a pair come close to their second
// derivative. Classes are treated apart, and the second derivative sum_i d_i h_i h_i' of a class, h_i
// being the responses of its live columns to row i, is estimated from a few rows, drawn in proportion to
// their curvature d_i. With a diagonal P of the penalty, the ridge and a share of the curvature it is
// P + B'B, B having a row per drawn row, which is inverted by the Woodbury identity:
//
//   (P + B'B)^-1 = P^-1 - P^-1 B' (I + B P^-1 B')^-1 B P^-1.
#pragma once

#include <cmath>

#include "active_set.h"
#include "penalties.h"
#include "quadratic_model.h"
#include "threads.h"

namespace DB_SPACE {

// The live columns of one class: P, and B as signs, with square roots of the weights of its rows.
// Arrays of one class, owned by the caller.
struct SampledCurvature {
  using V = RowVector<float>;

  size_t n;              // columns
  int32_t rows;          // a multiple of kSampleStep
  const float* signs;    // (256, 8): the eight signs that a byte stands for
  uint8_t* bits;         // (n, rows / 8): a bit is one where the response is +1
  double* inverse;       // (n,) 1 / P
  float* root;           // (rows,) square roots of the weights
  float* factor;         // (factor_size(rows),) the lower triangle; see `row_of`
  float* image;          // (rows,) scratch memory

  int32_t bytes() const { return rows / kRowLanes; }

  // Numbers of the lower triangle of a square matrix. Its rows are stored in groups of sixteen, and
  // those of a group have the length of its last row.
  static size_t factor_size(int32_t rows) { return row_place(rows); }
  float* row_of(int32_t a) const { return factor + row_place(a); }

  // Stores the responses of column j to the first `count` drawn rows: whether each of them is +1.
  template <class Answer>
  void set_bits(size_t j, int32_t count, Answer is_positive) {
    uint8_t* own = bits + j * bytes();
    for (int32_t c = 0; c < count; c += kRowLanes) {
      const int32_t end = count - c < kRowLanes ? count - c : kRowLanes;
      uint32_t byte = 0;
      for (int32_t b = 0; b < end; ++b) byte |= static_cast<uint32_t>(is_positive(c + b)) << b;
      own[c / kRowLanes] = static_cast<uint8_t>(byte);
    }
  }

  // The Cholesky factor of I + B P^-1 B', rows of the lower triangle.
  void factorise() {
    add_columns();
    for (int32_t a = 0; a < rows; ++a) {
      float* row = row_of(a);
      for (int32_t b = 0; b <= a; ++b) row[b] *= root[a] * root[b];
      row[a] += 1.0f;
    }
    for (int32_t a = 0; a < rows; ++a) {
      float* row = row_of(a);
      for (int32_t b = 0; b < a; ++b) {
        const float* other = row_of(b);
        row[b] = (row[b] - dot(row, other, b)) * other[b];
      }
      const float pivot = row[a] - dot(row, row, a);
      row[a] = 1.0f / std::sqrt(pivot > 1e-6f ? pivot : 1e-6f);  // the reciprocal of the diagonal
    }
  }

  // x = (P + B'B)^-1 x, (n,).
  void solve(double* x) const {
    double size = 0.0;  // single precision has a small range
    for (size_t j = 0; j < n; ++j) size = std::fabs(x[j]) > size ? std::fabs(x[j]) : size;
    if (size == 0.0) return;
    float* z = image;
    std::memset(z, 0, sizeof(float) * rows);
    for (size_t j = 0; j < n; ++j) {
      x[j] *= inverse[j] / size;
      const V scale = V::all(static_cast<float>(x[j]));
      const uint8_t* own = bits + j * bytes();
      for (int32_t v = 0; v < bytes(); ++v)
        (V::load(z + v * kRowLanes) + scale * V::load(signs + own[v] * kRowLanes))
            .store(z + v * kRowLanes);
    }
    for (int32_t a = 0; a < rows; ++a) z[a] *= root[a];
    for (int32_t a = 0; a < rows; ++a) {
      const float* row = row_of(a);
      z[a] = (z[a] - dot(row, z, a)) * row[a];
    }
    for (int32_t a = rows; a-- > 0;) {
      const float* row = row_of(a);
      const float done = z[a] *= row[a];
      for (int32_t b = 0; b < a; ++b) z[b] -= done * row[b];
    }
    for (int32_t a = 0; a < rows; ++a) z[a] *= root[a];
    for (size_t j = 0; j < n; ++j) {
      const uint8_t* own = bits + j * bytes();
      V sum = V::all(0);
      for (int32_t v = 0; v < bytes(); ++v)
        sum = sum + V::load(z + v * kRowLanes) * V::load(signs + own[v] * kRowLanes);
      x[j] = size * (x[j] - inverse[j] * sum.sum());
    }
  }

 private:
  static constexpr int32_t kTogether = 32, kHigh = 4, kWide = 2;  // columns, rows and vectors of a tile
  static constexpr int32_t kGroup = kWide * kRowLanes;

  static size_t row_place(int32_t a) {
    const size_t group = a / kGroup;
    return kGroup * kGroup * group * (group + 1) / 2 + a % kGroup * (group + 1) * kGroup;
  }

  // factor += signs P^-1 signs': the lower triangle, and what its tiles cover above it.
  void add_columns() {
    Scratch<float> columns(static_cast<size_t>(kTogether) * rows);
    for (size_t first = 0; first < n; first += kTogether) {
      const size_t count = n - first < kTogether ? n - first : kTogether;
      for (size_t j = 0; j < count; ++j) {
        const V scale = V::all(static_cast<float>(std::sqrt(inverse[first + j])));
        const uint8_t* own = bits + (first + j) * bytes();
        for (int32_t v = 0; v < bytes(); ++v)
          (scale * V::load(signs + own[v] * kRowLanes))
              .store(columns.get() + j * rows + v * kRowLanes);
      }
      for (int32_t a = 0; a < rows; a += kHigh)
        for (int32_t b = 0; b <= a; b += kWide * kRowLanes) add_tile(columns.get(), count, a, b);
    }
  }

  void add_tile(const float* columns, size_t count, int32_t a, int32_t b) {
    V sums[kHigh][kWide];
    for (int h = 0; h < kHigh; ++h)
      for (int w = 0; w < kWide; ++w) sums[h][w] = V::all(0);
    for (size_t j = 0; j < count; ++j) {
      const float* column = columns + j * rows;
      V right[kWide];
      for (int w = 0; w < kWide; ++w) right[w] = V::load(column + b + w * kRowLanes);
      for (int h = 0; h < kHigh; ++h) {
        const V left = V::all(column[a + h]);
        for (int w = 0; w < kWide; ++w) sums[h][w] = sums[h][w] + left * right[w];
      }
    }
    for (int h = 0; h < kHigh; ++h)
      for (int w = 0; w < kWide; ++w) {
        float* out = row_of(a + h) + b + w * kRowLanes;
        (V::load(out) + sums[h][w]).store(out);
      }
  }

  static float dot(const float* a, const float* b, int32_t n) {
    V sum = V::all(0);
    int32_t i = 0;
    for (; i + kRowLanes <= n; i += kRowLanes) sum = sum + V::load(a + i) * V::load(b + i);
    float out = sum.sum();
    for (; i < n; ++i) out += a[i] * b[i];
    return out;
  }
};

class SampledPreconditioner {
 public:
  static constexpr int32_t kMostRows = 256;  // drawn for a class

  // V (jumps, k); D and ridge (segments, k): the diagonal curvature, and the ridge on the tables.
  template <class Real>
  SampledPreconditioner(DbTeam* team, const DbQuadraticModel& model,
                        const RowCurvature<Real>& curvature, const ActiveSet& live, const double* V,
                        const double* D, const double* ridge, const PenaltyCurvature& penalty)
      : team_(team),
        model_(model),
        live_(live),
        k_(model.k),
        diagonal_(live.jumps() * k_),
        least_(live.jumps() * k_),
        first_(static_cast<size_t>(k_) + 1),
        members_(live.jumps() * k_),
        rows_(k_),
        first_bit_(static_cast<size_t>(k_) + 1),
        first_factor_(static_cast<size_t>(k_) + 1),
        scale_(k_),
        signs_(256 * kRowLanes),
        bits_(list_members(V)),
        inverse_(first_[k_]),
        work_(first_[k_]),
        root_(static_cast<size_t>(k_) * most_rows()),
        image_(static_cast<size_t>(k_) * most_rows()),
        factor_(first_factor_[k_]) {
    for (int32_t byte = 0; byte < 256; ++byte)
      for (int32_t v = 0; v < kRowLanes; ++v)
        signs_[byte * kRowLanes + v] = (byte >> v & 1) != 0 ? 1.0f : -1.0f;
    set_diagonal(V, D, ridge, penalty);
    share(team, k_, [&](int32_t r) { set_class(r, curvature); });
  }

  // The diagonal of the second derivative, (jumps, k); zero where V is.
  const double* diagonal() const { return diagonal_.get(); }

  // scaled = the inverse of the preconditioner times the residual, both (jumps, k).
  void apply(const double* residual, double* scaled) {
    for (size_t i = 0; i < live_.jumps() * k_; ++i) scaled[i] = 0.0;
    share(team_, k_, [&](int32_t r) {
      double* x = work_.get() + first_[r];
      for (size_t a = 0; a < members(r); ++a) x[a] = residual[member(r, a)];
      if (rows_[r] > 0) {
        of_class(r).solve(x);
        for (size_t a = 0; a < members(r); ++a) x[a] *= scale_[r];
      } else {
        for (size_t a = 0; a < members(r); ++a) x[a] /= diagonal_[member(r, a)];
      }
      for (size_t a = 0; a < members(r); ++a) scaled[member(r, a)] = x[a];
    });
  }

 private:
  static constexpr double kShare = 0.1;      // of the diagonal that is added to the estimate
  static constexpr double kByCurvature = 0.7;  // of the draws; the other rows are drawn evenly
  static constexpr int32_t kRowStep = 16;
  static constexpr int64_t kMostNumbers = 8000000;  // of all factors together

  int32_t most_rows() const {
    int64_t rows = kMostRows;
    while (rows > kRowStep && rows * rows * k_ > kMostNumbers) rows -= kRowStep;
    const int64_t all = (model_.n + kRowStep - 1) / kRowStep * kRowStep;
    return static_cast<int32_t>(rows < all ? rows : all);
  }

  size_t members(int32_t r) const { return first_[r + 1] - first_[r]; }
  uint32_t member(int32_t r, size_t a) const { return members_[first_[r] + a]; }

  // Lists the live entries of every class, and how many rows it draws: about one for every entry.
  // Returns the number of bytes that their responses take.
  size_t list_members(const double* V) {
    size_t next = 0;
    for (int32_t r = 0; r < k_; ++r) {
      for (size_t j = 0; j < live_.jumps(); ++j)
        if (V[j * k_ + r] != 0.0) members_[next++] = static_cast<uint32_t>(j * k_ + r);
      first_[r + 1] = next;
      const size_t wanted = (members(r) + kRowStep - 1) / kRowStep * kRowStep;
      const size_t most = static_cast<size_t>(most_rows());
      rows_[r] = static_cast<int32_t>(wanted < most ? wanted : most);
      first_bit_[r + 1] = first_bit_[r] + members(r) * rows_[r] / kRowLanes;
      first_factor_[r + 1] = first_factor_[r] + SampledCurvature::factor_size(rows_[r]);
    }
    return first_bit_[k_];
  }

  SampledCurvature of_class(int32_t r) {
    const size_t at = static_cast<size_t>(r) * most_rows();
    return {members(r), rows_[r], signs_.get(), bits_.get() + first_bit_[r],
            inverse_.get() + first_[r], root_.get() + at, factor_.get() + first_factor_[r],
            image_.get() + at};
  }

  void set_diagonal(const double* V, const double* D, const double* ridge,
                    const PenaltyCurvature& penalty) {
    double top = 0.0;
    for (int32_t v = 0; v < live_.features(); ++v) {
      for (int32_t r = 0; r < k_; ++r) {
        double whole = 0.0, added = 0.0;
        for (size_t s = live_.first_segment(v); s < live_.first_segment(v + 1); ++s) {
          whole += D[s * k_ + r];
          added += ridge[s * k_ + r];
        }
        for (size_t j = live_.first_threshold(v); j < live_.first_threshold(v + 1); ++j) {
          const size_t i = j * k_ + r;
          if (V[i] == 0.0) continue;
          diagonal_[i] = whole + penalty.diagonal(i);
          least_[i] = added + penalty.diagonal(i);
          top = diagonal_[i] > top ? diagonal_[i] : top;
        }
      }
    }
    for (size_t m = 0; m < first_[k_]; ++m) {
      double& diagonal = diagonal_[members_[m]];
      diagonal = diagonal > 1e-12 * top ? diagonal : 1e-12 * top;
    }
  }

  // Draws the rows of a class, and factorises its estimate. All curvatures are divided by their
  // sum, which keeps them within the range of single precision.
  template <class Real>
  void set_class(int32_t r, const RowCurvature<Real>& curvature) {
    Scratch<double> d(model_.n);
    double sum = 0.0;
    for (int64_t i = 0; i < model_.n; ++i) sum += d[i] = curvature.diagonal(i, r);
    if (!(sum > 1e-290)) rows_[r] = 0;
    if (rows_[r] == 0) return;
    scale_[r] = 1.0 / sum;
    SampledCurvature own = of_class(r);
    for (size_t a = 0; a < members(r); ++a) {
      const uint32_t i = member(r, a);
      own.inverse[a] = sum / (least_[i] + kShare * diagonal_[i]);
    }
    Scratch<int64_t> drawn(own.rows);
    int32_t count = 0;
    if (model_.n <= own.rows) {
      for (; count < model_.n; ++count) drawn[count] = count, own.root[count] = root_of(d[count] / sum);
    } else {
      double passed = 0.0;
      const double even = (1.0 - kByCurvature) / static_cast<double>(model_.n);
      for (int64_t i = 0; i < model_.n && count < own.rows; ++i) {
        const double chance = kByCurvature * d[i] / sum + even;
        passed += chance;
        for (; count < own.rows && passed * own.rows > count + 0.5; ++count) {
          drawn[count] = i;
          own.root[count] = root_of(d[i] / (sum * chance * own.rows));
        }
      }
    }
    with_codes(model_.code_bytes, [&](auto* code) {
      auto codes = static_cast<decltype(code)>(model_.codes);
      size_t a = 0;
      for (int32_t v = 0; v < live_.features() && a < members(r); ++v) {
        const auto* rows = codes + static_cast<size_t>(model_.features[live_.work(v)]) * model_.n;
        for (; a < members(r) && member(r, a) / k_ < live_.first_threshold(v + 1); ++a) {
          const size_t j = member(r, a) / k_;
          if (live_.product(v)) {  // two codes: no look-up per row
            const bool answers[2] = {is_positive(v, j, 0), is_positive(v, j, 1)};
            own.set_bits(a, count, [&](int32_t c) { return answers[rows[drawn[c]]]; });
          } else {
            own.set_bits(a, count, [&](int32_t c) { return is_positive(v, j, rows[drawn[c]]); });
          }
        }
      }
    });
    own.factorise();
  }

  // Whether the response of a live jump of feature v to a code is +1.
  bool is_positive(int32_t v, size_t j, uint32_t code) const {
    const int32_t first = static_cast<int32_t>(live_.first_segment(v));
    const int32_t segment = static_cast<int32_t>(live_.segment_of(v)[code]) - first;
    if (live_.levels(v)) return segment != live_.position(j);
    if (live_.left(j) && segment == live_.segments_of(v) - 1) return false;
    return segment > live_.position(j);
  }

  static float root_of(double weight) { return static_cast<float>(std::sqrt(weight)); }

  DbTeam* team_;
  const DbQuadraticModel& model_;
  const ActiveSet& live_;
  const int32_t k_;
  Scratch<double> diagonal_, least_;
  Scratch<size_t> first_;
  Scratch<uint32_t> members_;
  Scratch<int32_t> rows_;  // drawn for every class; 0 if it has no curvature or no live entries
  Scratch<size_t> first_bit_, first_factor_;
  Scratch<double> scale_;
  Scratch<float> signs_;
  Scratch<uint8_t> bits_;
  Scratch<double> inverse_, work_;
  Scratch<float> root_, image_, factor_;
};

}  // namespace DB_SPACE
