// The dual objective of the built-in losses at weights shrunk by tau.
#include "losses.h"
#include "team.h"

namespace DB_SPACE {

// Natural logarithm of a positive normal number; relative error about 1e-7. The mantissa is brought
// to [sqrt(1/2), sqrt(2)), where the series in its distance from 1 is short.
inline float log_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint32_t shifted = bits - 0x3f3504f3u;
  const float n = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  y -= 1.0f;
  float p = 7.0376836292e-2f;
  p = p * y - 1.1514610310e-1f;
  p = p * y + 1.1676998740e-1f;
  p = p * y - 1.2420140846e-1f;
  p = p * y + 1.4249322787e-1f;
  p = p * y - 1.6668057665e-1f;
  p = p * y + 2.0000714765e-1f;
  p = p * y - 2.4999993993e-1f;
  p = p * y + 3.3333331174e-1f;
  const float square = y * y;
  return ((p * y * square - 0.5f * square) + y) + n * 0.69314718056f;
}

inline double log_of(double x) { return std::log(x); }

// x log x, 0 at 0.
template <class Real>
inline Real entropy_of(Real x) {
  const Real floor = static_cast<Real>(1e-37);
  return x * log_of(x > floor ? x : floor);
}

// The term of one entry with share v = tau U / c, per unit of c.
template <class Real>
inline Real dual_term(int32_t loss, Real v) {
  switch (loss) {
    case kLogistic: return -(entropy_of(v) + entropy_of(v < 1 ? 1 - v : Real(0)));
    case kExponential: return -entropy_of(v);
    case kMultinomial: return -entropy_of(v);
    default: return v - v * v / 4;
  }
}

// Sum of the terms of rows begin..end without those at the own class; `mass` gets that of v.
template <int kLoss, class Real>
double dual_rows(const DbRows& rows, const Real* U, double tau, int64_t begin, int64_t end,
                 double* mass) {
  const int32_t k = rows.k;
  const Real *c = static_cast<const Real*>(rows.c), shrink = static_cast<Real>(tau);
  Scratch<Real> terms(2 * static_cast<size_t>(k));
  Real *__restrict sums = terms.get(), *__restrict v = sums + k;
  double total = 0.0, gathered = 0.0;
  for (int64_t i = begin; i < end; ++i) {
    const Real* __restrict u = U + i * k;
    const Real unit = kLoss == kMultinomial ? c[i] * k : c[i], scale = unit > 0 ? shrink / unit : 0;
    for (int32_t r = 0; r < k; ++r) v[r] = u[r] * scale;
    if (rows.labels != nullptr) v[rows.labels[i]] = 0;
    for (int32_t r = 0; r < k; ++r) sums[r] = dual_term<Real>(kLoss, v[r]);
    double row = 0.0, all = 0.0;
    for (int32_t r = 0; r < k; ++r) {
      row += sums[r];
      all += v[r];
    }
    gathered += unit * all;
    if (kLoss == kMultinomial) row -= entropy_of<double>(all < 1.0 ? 1.0 - all : 0.0);
    total += unit * row;
  }
  *mass = gathered;
  return total;
}

}  // namespace DB_SPACE

DB_EXPORT double DB_NAME(dual_pass)(DbTeam* team, const DbRows* rows, const void* U,
                                    int32_t real_bytes, double tau, double* mass) {
  using namespace DB_SPACE;
  constexpr int64_t size = 4096;
  const int32_t pieces = static_cast<int32_t>((rows->m + size - 1) / size);
  Scratch<double> values(pieces), masses(pieces);
  with_types(1, real_bytes, [&](auto*, auto* real) {
    auto u = static_cast<decltype(real)>(U);
    share(team, pieces, [&](int32_t piece) {
      const int64_t begin = piece * size, end = begin + size < rows->m ? begin + size : rows->m;
      double *value = &values[piece], *part = &masses[piece];
      switch (rows->loss) {
        case kLogistic: *value = dual_rows<kLogistic>(*rows, u, tau, begin, end, part); break;
        case kExponential: *value = dual_rows<kExponential>(*rows, u, tau, begin, end, part); break;
        case kMultinomial: *value = dual_rows<kMultinomial>(*rows, u, tau, begin, end, part); break;
        default: *value = dual_rows<kSquaredHinge>(*rows, u, tau, begin, end, part);
      }
    });
  });
  double value = 0.0;
  *mass = 0.0;
  for (int32_t piece = 0; piece < pieces; ++piece) {
    value += values[piece];
    *mass += masses[piece];
  }
  return value;
}
