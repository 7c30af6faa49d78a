// A matrix of numbers with strides in elements.
#pragma once

#include "common.h"

namespace DB_SPACE {

template <class Real>
struct Matrix {
  const Real* data;
  int64_t m;
  int32_t d;
  int64_t row_stride, column_stride;
  const Real* at(int64_t i, int64_t f) const { return data + i * row_stride + f * column_stride; }
};

inline int64_t size_of(int64_t stride) { return stride < 0 ? -stride : stride; }

}  // namespace DB_SPACE
