// Sums of products of two stumps. A product needs two comparisons of codes, whose result is a sign,
// and one addition of +-w per class with a weight w. Both are done for a group of rows at a time.
#pragma once

#include "encode.h"
#include "matrix.h"
#include "simd.h"

namespace DB_SPACE {

constexpr int32_t kGroup = 32;  // rows whose scores of one class stay in registers
constexpr int32_t kBatch = 64;  // products whose signs stay in the first-level cache

// Signs of one product for a group of rows: +1 where both stumps hold or neither does, else -1. A
// stump holds for codes first .. first + span. The loops are as narrow as their types, so that the
// compiler vectorises them.
template <class Code>
inline void signs_of(const Code* one, Code first_one, Code span_one, const Code* two,
                     Code first_two, Code span_two, double* signs) {
  int8_t sign[kGroup];
  for (int32_t i = 0; i < kGroup; ++i) {
    const bool holds_one = static_cast<Code>(one[i] - first_one) <= span_one;
    const bool holds_two = static_cast<Code>(two[i] - first_two) <= span_two;
    sign[i] = holds_one == holds_two ? 1 : -1;
  }
  for (int32_t i = 0; i < kGroup; ++i) signs[i] = sign[i];
}

// The weight of one product for one class.
struct ProductWeight {
  double value;
  int64_t number;  // of the product in its batch
};

// The weights of one class in one batch of products, up to `end`.
struct ClassRun {
  int64_t end;
  int32_t label;
};

// F[i] += weight * sign of product i, over the products of a run in order.
inline void add_run(const ProductWeight* from, const ProductWeight* to, const double* signs,
                    double* F) {
  using V = Register<double>;
  constexpr int n = kGroup / V::kLanes;
  V sum[n];
  for (int v = 0; v < n; ++v) sum[v] = V::load(F + v * V::kLanes);
  for (; from < to; ++from) {
    const V weight = V::all(from->value);
    const double* sign = signs + from->number * kGroup;
    for (int v = 0; v < n; ++v) sum[v] = sum[v] + weight * V::load(sign + v * V::kLanes);
  }
  for (int v = 0; v < n; ++v) sum[v].store(F + v * V::kLanes);
}

// The weights of all products: batch after batch, class after class, in the order of the products.
class SortedWeights {
 public:
  SortedWeights(const DbProducts& products, int32_t k)
      : weights_(products.starts[products.n]), runs_(products.starts[products.n]),
        ends_((products.n + kBatch - 1) / kBatch) {
    Scratch<int64_t> place(k);
    int64_t n_runs = 0;
    for (int32_t first = 0; first < products.n; first += kBatch) {
      const int32_t last = first + kBatch < products.n ? first + kBatch : products.n;
      for (int32_t r = 0; r < k; ++r) place[r] = 0;
      for (int64_t e = products.starts[first]; e < products.starts[last]; ++e)
        ++place[products.classes[e]];
      int64_t end = products.starts[first];
      for (int32_t r = 0; r < k; ++r) {
        const int64_t count = place[r];
        place[r] = end;
        end += count;
        if (count > 0) runs_[n_runs++] = {end, r};
      }
      for (int32_t j = first; j < last; ++j)
        for (int64_t e = products.starts[j]; e < products.starts[j + 1]; ++e)
          weights_[place[products.classes[e]]++] = {products.weights[e], j - first};
      ends_[first / kBatch] = n_runs;
    }
  }

  // Adds the products of one batch to a group of rows. F has one row of kRows numbers per class.
  void add_batch(int32_t batch, const double* signs, double* F) const {
    int64_t run = batch == 0 ? 0 : ends_[batch - 1];
    int64_t begin = run == 0 ? 0 : runs_[run - 1].end;
    for (; run < ends_[batch]; ++run) {
      add_run(weights_.get() + begin, weights_.get() + runs_[run].end, signs,
              F + static_cast<size_t>(runs_[run].label) * kRows);
      begin = runs_[run].end;
    }
  }

 private:
  Scratch<ProductWeight> weights_;
  Scratch<ClassRun> runs_;
  Scratch<int64_t> ends_;  // number of runs up to the end of every batch
};

// The products of a model, prepared for many rows.
template <class Real>
class ProductSum {
 public:
  ProductSum(DbTeam* team, const DbProducts& products, int32_t k, int64_t rows)
      : products_(products), k_(k), weights_(products, k),
        searches_(team, products.thresholds, products.n_thresholds, products.n_used, rows) {
    int32_t most = 0;
    for (int32_t u = 0; u < products.n_used; ++u)
      most = products.n_thresholds[u] > most ? products.n_thresholds[u] : most;
    code_bytes_ = most + 1 <= UINT8_MAX ? 1 : most + 1 <= UINT16_MAX ? 2 : 4;
  }

  // Adds the products to the scores F (m, k) of the rows begin .. end - 1.
  void add(const Matrix<Real>& X, int64_t begin, int64_t end, double* F) const {
    if (products_.n == 0) return;
    with_codes(code_bytes_, [&](auto* code) {
      using Code = Pointee<decltype(code)>;
      Scratch<Code> codes(static_cast<size_t>(products_.n_used) * kRows);
      Scratch<double> scores(static_cast<size_t>(k_) * kRows);
      for (int64_t i = begin; i < end; i += kRows) {
        const int32_t rows = static_cast<int32_t>(i + kRows < end ? kRows : end - i);
        encode_rows(X, i, rows, codes.get());
        double* own = F + static_cast<size_t>(i) * k_;
        for (int32_t j = 0; j < rows; ++j)
          for (int32_t r = 0; r < k_; ++r) scores[r * kRows + j] = own[j * k_ + r];
        add_to_block(codes.get(), rows, scores.get());
        for (int32_t j = 0; j < rows; ++j)
          for (int32_t r = 0; r < k_; ++r) own[j * k_ + r] = scores[r * kRows + j];
      }
    });
  }

 private:
  template <class Code>
  void encode_rows(const Matrix<Real>& X, int64_t i, int32_t rows, Code* codes) const {
    Real x[kRows] = {};
    int32_t wide[kRows];
    for (int32_t u = 0; u < products_.n_used; ++u, codes += kRows) {
      const Real* column = X.at(i, products_.features[u]);
      for (int32_t j = 0; j < rows; ++j) x[j] = column[j * X.row_stride];
      count_below(searches_[u], x, products_.n_thresholds[u] + 1, wide);
      for (int32_t j = 0; j < kRows; ++j) codes[j] = static_cast<Code>(wide[j]);
    }
  }

  template <class Code>
  void add_to_block(const Code* codes, int32_t rows, double* scores) const {
    double signs[kBatch * kGroup];
    for (int32_t first = 0; first < products_.n; first += kBatch) {
      const int32_t last = first + kBatch < products_.n ? first + kBatch : products_.n;
      for (int32_t group = 0; group < rows; group += kGroup) {
        double* sign = signs;
        for (int32_t j = first; j < last; ++j, sign += kGroup) {
          const int32_t* own = products_.factors + 6 * static_cast<size_t>(j);
          signs_of(codes + own[0] * kRows + group, static_cast<Code>(own[1]),
                   static_cast<Code>(own[2] - own[1]), codes + own[3] * kRows + group,
                   static_cast<Code>(own[4]), static_cast<Code>(own[5] - own[4]), sign);
        }
        weights_.add_batch(first / kBatch, signs, scores + group);
      }
    }
  }

  const DbProducts& products_;
  int32_t k_, code_bytes_;
  SortedWeights weights_;
  ThresholdSearches<Real> searches_;
};

}  // namespace DB_SPACE
