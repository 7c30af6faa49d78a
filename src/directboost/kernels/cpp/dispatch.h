// From run-time values to compile-time types and constants.
#pragma once

#include <type_traits>

#include "simd.h"

namespace DB_SPACE {

// Calls f with a typed null pointer for the type of the codes: the only switch on `code_bytes`.
template <class Function>
inline void with_codes(int32_t code_bytes, Function f) {
  if (code_bytes == 1) {
    f(static_cast<const uint8_t*>(nullptr));
  } else if (code_bytes == 2) {
    f(static_cast<const uint16_t*>(nullptr));
  } else {
    f(static_cast<const uint32_t*>(nullptr));
  }
}

// Calls f with a typed null pointer for the real type: the only switch on `real_bytes`.
template <class Function>
inline void with_reals(int32_t real_bytes, Function f) {
  if (real_bytes == 4) {
    f(static_cast<const float*>(nullptr));
  } else {
    f(static_cast<const double*>(nullptr));
  }
}

template <class Function>
inline void with_types(int32_t code_bytes, int32_t real_bytes, Function f) {
  with_codes(code_bytes, [&](auto* code) {
    with_reals(real_bytes, [&](auto* real) { f(code, real); });
  });
}

// The type that such a null pointer stands for.
template <class Pointer>
using Pointee = std::remove_const_t<std::remove_pointer_t<Pointer>>;

// Calls f with n as a compile-time constant where it is one of `Values`, else with 0.
template <int... Values, class Function>
inline void with_constant(int32_t n, Function f) {
  const bool found =
      ((n == Values ? (f(std::integral_constant<int, Values>()), true) : false) || ...);
  if (!found) f(std::integral_constant<int, 0>());
}

// The number of classes as a constant, so that the compiler keeps a row in registers.
template <class Function>
inline void with_width(int32_t k, Function f) {
  with_constant<2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16>(k, f);
}

// The number of row vectors of a padded row of k classes as a constant.
template <class Function>
inline void with_row_vectors(int32_t k, Function f) {
  with_constant<1, 2, 3, 4>(padded(k) / kRowLanes, f);
}

// The number of registers of a row of k classes as a constant.
template <class Real, class Function>
inline void with_registers(int32_t k, Function f) {
  with_constant<1, 2, 3, 4>(registers<Real>(k), f);
}

}  // namespace DB_SPACE
