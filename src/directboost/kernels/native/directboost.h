// The C face of the kernels. Every function is compiled once per instruction set, with the name of
// the set as suffix, so that one library serves old and new processors; Python picks at load time.
//
// Conventions: matrices are row-major and contiguous unless a stride is named. `code_bytes` is 1, 2
// or 4 (uint8, uint16, uint32), `real_bytes` is 4 or 8 (float, double). Codes of feature f start at
// codes + f * m. A feature with `missing` set has the missing value as its last code; its jumps are
// numbered as BinnedData says. Tables and jumps are always double.
#pragma once

#include <cstdint>

#ifndef DIRECTBOOST_ISA
#define DIRECTBOOST_ISA base
#endif

#define DB_JOIN_(a, b) a##_##b
#define DB_JOIN(a, b) DB_JOIN_(a, b)
#define DB_NAME(name) DB_JOIN(db_##name, DIRECTBOOST_ISA)
#define DB_SPACE DB_JOIN(directboost, DIRECTBOOST_ISA)

#if defined(_WIN32)
#define DB_EXPORT extern "C" __declspec(dllexport)
#else
#define DB_EXPORT extern "C" __attribute__((visibility("default")))
#endif

// Which rows, with which weights, and which loss of their margins.
struct DbRows {
  int64_t m;
  int32_t k;
  int32_t loss;            // number of the loss: see losses.h
  const int32_t* labels;   // (m,) class codes of pairwise margins, or null
  const int8_t* targets;   // (m, k) +1 and -1 of one-vs-all margins, or null
  const void* c;           // (m,) weights s_i / (S k) in the real type
};

// What one block descent epoch works on.
struct DbEpoch {
  const void* codes;
  int32_t code_bytes;
  int32_t real_bytes;
  int32_t n_work;            // features in the working set
  const int32_t* features;   // (n_work,) rows of codes
  const int32_t* n_bins;     // (n_work,)
  const uint8_t* missing;    // (n_work,)
  const double* nu;          // (n_work,) nu times the cost of the feature
  double* const* jumps;      // (n_work,) pointers to (n_jumps, k)
  void* F;                   // (m, k) scores, kept equal to what the jumps say
  double p;                  // inner norm of the penalty, 1 <= p <= infinity
  double damping;            // factor on the diagonal curvature
  double slack;              // relative rise of the objective that still counts as none
  int32_t full_sweeps;       // sweeps over all jumps of a block
  int32_t segment_sweeps;    // sweeps over the non-zero jumps after each of them
  double block_tolerance;    // a block is solved when its change falls below this share
};

// For every feature of a range, the best price over its jumps and both polarities.
// q: 1, 2, or 0 for infinity. Ties within `tie` go to the first jump, then to polarity +1.
DB_EXPORT void DB_NAME(price)(const void* codes, int32_t code_bytes, int64_t m,
                              const int32_t* n_bins, const uint8_t* missing, int32_t begin,
                              int32_t end, const void* A, int32_t real_bytes, int32_t k, int32_t q,
                              const double* costs, double tie, double* price, int32_t* jump,
                              int8_t* polarity);

// Edges (n_jumps, k) of the positive polarity of every jump of one feature.
DB_EXPORT void DB_NAME(edges)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                              int32_t missing, const void* A, int32_t real_bytes, int32_t k,
                              double* out);

// Sums of the rows of A (m, k) per code of one feature: out is (n_bins, k).
DB_EXPORT void DB_NAME(histogram)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                                  const void* A, int32_t real_bytes, int32_t k, double* out);

// F += table of every listed feature at the row's code; tables lie one after the other.
DB_EXPORT void DB_NAME(add_tables)(const void* codes, int32_t code_bytes, int64_t m,
                                   const int32_t* features, const int32_t* n_bins, int32_t n_work,
                                   const double* tables, int32_t k, int64_t begin, int64_t end,
                                   void* F, int32_t real_bytes);

// Codes of x: the number of thresholds below it; NaN gets `missing_code`. `stride` in elements.
DB_EXPORT void DB_NAME(encode)(const void* x, int32_t real_bytes, int64_t stride, int64_t m,
                               const double* thresholds, int64_t n_thresholds,
                               uint32_t missing_code, void* codes, int32_t code_bytes);

// Loss of rows begin..end at F, and (where not null) U, A and the diagonal curvature in F.
// `shift` is subtracted in the exponent of the exponential loss; its value, U, A and curvature are
// then unnormalised and the caller divides. `top` gets the largest -rho.
DB_EXPORT double DB_NAME(loss_pass)(const DbRows* rows, const void* F, int32_t real_bytes,
                                    double shift, int64_t begin, int64_t end, void* U, void* A,
                                    void* C, double* top);

// One block: minimise the quadratic model with gradient -G and curvature D, both (n_bins, k), plus
// nu N_p of the positive and of the negative part of every jump. Writes the new jumps and the
// change of the table, (n_bins, k).
DB_EXPORT void DB_NAME(solve_block)(const double* G, const double* D, int32_t n_bins,
                                    int32_t missing, int32_t k, double nu, double p,
                                    int32_t full_sweeps, int32_t segment_sweeps, double tolerance,
                                    double* jumps, double* change);

// One epoch of block descent over the working set. `objective` holds {loss, penalty} on entry and
// on exit; returns the number of halved steps.
DB_EXPORT int32_t DB_NAME(epoch)(const DbRows* rows, const DbEpoch* epoch, double* objective);

// F (m, k) += tables of the used features; X has strides in elements, tables hold one row per bin
// and one for missing.
DB_EXPORT void DB_NAME(predict)(const void* X, int32_t real_bytes, int64_t row_stride,
                                int64_t column_stride, const int32_t* features, int32_t n_used,
                                const int32_t* n_thresholds, const double* thresholds,
                                const double* tables, int32_t k, int64_t begin, int64_t end,
                                double* F);

// Whether the processor can run the functions of this suffix.
DB_EXPORT int32_t DB_NAME(usable)();
