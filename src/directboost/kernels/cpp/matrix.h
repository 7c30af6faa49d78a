// A matrix of numbers with strides in elements.
#pragma once

#include "directboost.h"

namespace DB_SPACE {

template <class Real>
struct Matrix {
  const Real* data;
  int64_t m;
  int32_t d;
  int64_t row_stride, column_stride;
  const Real* at(int64_t i, int64_t f) const { return data + i * row_stride + f * column_stride; }

  // Whether neighbours in a row lie closer together than neighbours in a column.
  bool by_rows() const { return distance(column_stride) <= distance(row_stride); }

 private:
  static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }
};

}  // namespace DB_SPACE
