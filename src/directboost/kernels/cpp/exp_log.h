// Exponential and logarithm as branch-free arithmetic, so that loops over them are vectorised.
// Series are summed in two chains, so that an operation waits for the previous one half as often.
#pragma once

#include "simd.h"

namespace DB_SPACE {

// The format of a number: the bits of its fraction, and the bias of its exponent.
template <class Real>
struct Layout;
template <>
struct Layout<float> {
  using Bits = uint32_t;
  static constexpr int kFraction = 23, kBias = 127, kTerms = 6, kFewTerms = 4;
  static constexpr Bits kRootHalf = 0x3f3504f3u;  // the bits of sqrt(1/2)
};
template <>
struct Layout<double> {
  using Bits = uint64_t;
  static constexpr int kFraction = 52, kBias = 1023, kTerms = 15, kFewTerms = 9;
  static constexpr Bits kRootHalf = 0x3fe6a09e667f3bcdull;
};

template <class To, class From>
DB_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Vectorised exp: range reduction with a magic addition, a polynomial, the exponent by bits.
// Relative error below 3e-16 (double) and 1.2e-7 (float); arguments are clamped, so the result is
// never 0 or infinite.
DB_INLINE double exp_of(double x) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  x = x < -708.0 ? -708.0 : (x > 708.0 ? 708.0 : x);
  const double shifted = x * 1.4426950408889634074 + magic;
  const double n = shifted - magic;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  const double q = r * r;
  double odd = 1.6059043836821613e-10, even = 2.0876756987868100e-09;
  odd = odd * q + 2.5052108385441720e-08;
  even = even * q + 2.7557319223985888e-07;
  odd = odd * q + 2.7557319223985893e-06;
  even = even * q + 2.4801587301587302e-05;
  odd = odd * q + 1.9841269841269841e-04;
  even = even * q + 1.3888888888888889e-03;
  odd = odd * q + 8.3333333333333332e-03;
  even = even * q + 4.1666666666666664e-02;
  odd = odd * q + 1.6666666666666666e-01;
  even = even * q + 0.5;
  const double y = (odd * r + even) * q + r;
  const double scale = bits_as<double>((bits_as<uint64_t>(shifted) + 1023u) << 52);
  return scale + scale * y;
}

DB_INLINE float exp_of(float x) {
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23
  x = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
  const float shifted = x * 1.44269504f + magic;
  const float n = shifted - magic;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const float q = r * r;
  float odd = 1.9875691500e-4f, even = 1.3981999507e-3f;
  odd = odd * q + 8.3334519073e-3f;
  even = even * q + 4.1665795894e-2f;
  odd = odd * q + 1.6666665459e-1f;
  even = even * q + 5.0000001201e-1f;
  const float y = (odd * r + even) * q + r;
  const float scale = bits_as<float>((bits_as<uint32_t>(shifted) + 127u) << 23);
  return scale + scale * y;
}

// sum q^i / (2 j + 1) for j = J, J + 2, ... up to Last; i counts the terms. A recursion, so that
// the vectoriser sees no inner loop.
template <int J, int Last, class Real>
DB_INLINE Real every_second(Real q) {
  constexpr Real term = static_cast<Real>(1.0 / (2 * J + 1));
  if constexpr (J + 2 > Last) {
    return term;
  } else {
    return term + q * every_second<J + 2, Last>(q);
  }
}

// sum_j q^j / (2 j + 1) for j from 0 to Last.
template <int Last, class Real>
DB_INLINE Real odd_series(Real q) {
  return every_second<0, Last>(q * q) + q * every_second<1, Last>(q * q);
}

// log(1 + e) for 0 <= e <= 1, exact to rounding in relative terms: twice the inverse hyperbolic
// tangent of e / (2 + e) <= 1/3.
template <class Real>
DB_INLINE Real log1p_of(Real e) {
  const Real s = e / (2 + e);
  return 2 * s * odd_series<Layout<Real>::kTerms>(s * s);
}

// Logarithm of a positive normal number, by the same series: the fraction is brought to
// [sqrt(1/2), sqrt(2)). The exponent becomes a number by writing it into the low bits of a power of
// two so large that they stand for ones.
template <class Real>
DB_INLINE Real log_of(Real x) {
  using L = Layout<Real>;
  using Bits = typename L::Bits;
  constexpr Bits one = Bits(1) << L::kFraction;
  constexpr Bits offset = (Bits(L::kBias) << L::kFraction) - L::kRootHalf;
  constexpr Real large = static_cast<Real>(one);
  const Bits shifted = bits_as<Bits>(x) + offset;
  const Bits magic = Bits(L::kBias + L::kFraction) << L::kFraction;
  const Real n = bits_as<Real>((shifted >> L::kFraction) | magic) - (large + L::kBias);
  const Real y = bits_as<Real>((shifted & (one - 1)) + L::kRootHalf);
  const Real s = (y - 1) / (y + 1);
  const Real near = 2 * s * odd_series<L::kFewTerms>(s * s);
  return near + n * static_cast<Real>(0.693147180559945309417);
}

}  // namespace DB_SPACE
