// The C face of the kernels. Every function is compiled once per instruction set, with the name of
// the set as suffix, so that one library serves old and new processors; Python picks at load time.
//
// Conventions: matrices are row-major and contiguous unless a stride is named. `code_bytes` is 1, 2
// or 4 (uint8, uint16, uint32), `real_bytes` is 4 or 8 (float, double). Codes of feature f start at
// codes + f * m. The kind of a feature says what its codes are: DB_ORDERED, DB_GAPS (ordered, but for
// the last code, the missing value) or DB_LEVELS (a category: no order); its jumps are numbered as
// BinnedData says. Jumps are always double, and so are tables where nothing else is said.
#pragma once

#include <cstdint>

#define DB_ORDERED 0
#define DB_GAPS 1
#define DB_LEVELS 2

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

// A quadratic model of the loss around the current scores, on a few rows: its value at a change dF
// of the scores is -<A, dF> + dF' H dF / 2. The working set holds the features that may change.
struct DbModel {
  const void* codes;         // (features, n) codes of the rows of the model
  int32_t code_bytes;
  int32_t real_bytes;
  int64_t n;
  int32_t k;
  int32_t coupling;          // how H couples the classes of a row: see model.h
  const int32_t* labels;     // (n,) own classes of pairwise margins, or null
  const void* H;             // (n, width) second derivatives in the margins; 0 at the own class
  const void* weight;        // (n,) weights of the rows where H holds probabilities, or null
  void* Q;                   // (n, width) H dF so far; width is k up to a multiple of eight
  int32_t n_work;            // features in the working set
  const int32_t* rows;       // (n_work,) rows of codes
  const int32_t* n_bins;     // (n_work,)
  const uint8_t* kinds;      // (n_work,)
  const int8_t* signs;       // (n_work, k) +1 where jumps are not negative, -1 not positive, or null
  const double* nu;          // (n_work,) nu times the cost of the feature
  double* jumps;             // (all jumps, k), feature after feature: changed
  const double* G;           // (all bins, k), feature after feature: sums of A over the bins
  const double* D;           // (all bins, k): diagonal curvature a block is solved with
  const double* ridge;       // (all bins, k): added to the curvature
  double* change;            // (all bins, k): change of the tables so far
  double p;                  // inner norm of the penalty, 1 <= p <= infinity
  int32_t full_sweeps;       // sweeps over all jumps of a block
  int32_t segment_sweeps;    // sweeps over the non-zero jumps after each of them
  double block_tolerance;    // a block is solved when its change falls below this share
};

// A fitted model: one table per used feature, thresholds and tables one after the other. A table
// has a row for every count of thresholds below x, and a last one for missing.
struct DbTables {
  const int32_t* features;      // (n_used,)
  const int32_t* n_thresholds;  // (n_used,)
  const double* thresholds;     // (all thresholds,)
  const double* values;         // (all thresholds + 2 n_used, k)
  const double* intercept;      // (k,)
  int32_t n_used;
  int32_t k;
};

// Features most of whose rows have one code: the rows with another one, in blocks of `block` rows,
// DB_LIST_ROWS times a power of two.
#define DB_LIST_ROWS 512
struct DbSparse {
  const int32_t* usual;    // (features,) the commonest code, or -1 where a feature has no list
  const int64_t* starts;   // (features * blocks + 1,) where the list of a feature and block begins
  const uint16_t* rows;    // (all listed,) ascending, counted from the start of their block
  const void* codes;       // (all listed,) their codes
  const int32_t* places;   // (features,) rows of the matrix of codes, -1 where there is a list only;
                           // null where feature f has row f
  int64_t block;
};

struct DbTeam;

// For every feature, the best price over its jumps and both polarities.
// `sparse` has the lists of the codes, or is null, here and below.
// q: 1, 2, or 0 for infinity. Ties within `tie` go to the first jump, then to polarity +1.
DB_EXPORT void DB_NAME(price)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                              const DbSparse* sparse, int32_t n_features, const int32_t* n_bins,
                              const uint8_t* kinds, const void* A, int32_t real_bytes, int32_t k,
                              int32_t q, const double* costs, double tie, double* price,
                              int32_t* jump, int8_t* polarity);

// Edges (n_jumps, k) of the positive polarity of every jump of one feature.
DB_EXPORT void DB_NAME(edges)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                              int32_t kind, const void* A, int32_t real_bytes, int32_t k,
                              double* out);

// Sums of the rows of A (m, k) per code of the listed features: (all bins, k), feature by feature.
DB_EXPORT void DB_NAME(histograms)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                   const DbSparse* sparse, const int32_t* features,
                                   const int32_t* n_bins, int32_t n_work, const void* A,
                                   int32_t real_bytes, int32_t k, double* out);

// F += table of every listed feature at the row's code; tables lie one after the other, in the
// precision of F, and are overwritten.
DB_EXPORT void DB_NAME(add_tables)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                   const DbSparse* sparse, const int32_t* features,
                                   const int32_t* n_bins, int32_t n_work, void* tables, int32_t k,
                                   void* F, int32_t real_bytes);

// The commonest code of every feature, and how many rows of every block have another one (n_features
// * blocks); -1 and zeros where these are more than `most`.
DB_EXPORT void DB_NAME(count_listed)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                     int32_t n_features, int64_t most, int32_t* usual,
                                     int64_t* counts);

// Fills the lists of the features that have one; see DbSparse.
DB_EXPORT void DB_NAME(list_rows)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                  int32_t n_features, const int32_t* usual, const int64_t* starts,
                                  uint16_t* rows, void* others);

// Smallest and largest number of every column of X (m, d) with strides in elements, and whether
// one is missing (NaN). Columns without a number have low > high.
DB_EXPORT void DB_NAME(ranges)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                               int32_t d, int64_t row_stride, int64_t column_stride, double* low,
                               double* high, uint8_t* missing);

// Between which distinct values of every column the thresholds lie: before[f * width + j] and
// after[f * width + j], j < n_cuts[f]. All neighbours where there are at most max_bins distinct
// values, else those at weighted quantiles. `weight` (m,) is null where all are 1. `low` and `high`
// are those of `ranges`; `centre` is the code of the weighted median.
DB_EXPORT void DB_NAME(cuts)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m, int32_t d,
                             int64_t row_stride, int64_t column_stride, const double* weight,
                             int64_t max_bins, const double* low, const double* high,
                             int64_t width, double* before, double* after, int32_t* n_cuts,
                             int64_t* centre, uint8_t* exact);

// Codes (d, m) of X (m, d), strides in elements: the number of thresholds of the feature below x;
// NaN gets missing[f]. The thresholds of the features lie one after the other.
DB_EXPORT void DB_NAME(encode)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                               int32_t d, int64_t row_stride, int64_t column_stride,
                               const double* thresholds, const int32_t* n_thresholds,
                               const int32_t* missing, void* codes, int32_t code_bytes);

// Loss at F + step * change (at F where `change` is null) and, where not null, those scores (into
// `moved`), U, A and the diagonal curvature in F. All arrays are (m, k).
DB_EXPORT double DB_NAME(loss_pass)(DbTeam* team, const DbRows* rows, const void* F,
                                    const void* change, double step, int32_t real_bytes,
                                    void* moved, void* U, void* A, void* C);

// Penalty of the jumps start + step (end - start) of n features, (all jumps, k); those of feature w
// lie from first[w] to first[w + 1] and cost nu[w] each.
DB_EXPORT double DB_NAME(penalty)(const double* start, const double* end, double step,
                                  const int64_t* first, const double* nu, int32_t n, int32_t k,
                                  double p);

// Terms of the dual objective at tau U, without the own classes (soft maxima: with them); `mass`
// gets the sum of those entries of tau U.
DB_EXPORT double DB_NAME(dual_pass)(DbTeam* team, const DbRows* rows, const void* U,
                                    int32_t real_bytes, double tau, double* mass);

// One block: minimise the quadratic model with gradient -G and curvature D, both (n_bins, k), plus
// nu N_p of the positive and of the negative part of every jump. Writes the new jumps and the
// change of the table, (n_bins, k). `signs` (k,) is that of DbModel, or null.
DB_EXPORT void DB_NAME(solve_block)(const double* G, const double* D, int32_t n_bins,
                                    int32_t kind, int32_t k, const int8_t* signs, double nu, double p,
                                    int32_t full_sweeps, int32_t segment_sweeps, double tolerance,
                                    double* jumps, double* change);

// Visits every feature of the model once: block descent. Returns by how much the model fell.
DB_EXPORT double DB_NAME(model_epoch)(DbTeam* team, const DbModel* model);

// One Newton step of the model on its non-zero jumps, by conjugate gradients: at most so many
// iterations, or until the residual fell to a share `tolerance`. Zero entries stay. An entry that
// would change its sign becomes zero; for p = infinity the entries at the maximum of a sign part
// move together, and one that would outgrow them is stopped there. Where a bound is met the step is
// found anew with those entries held, up to `repeats` times in all; but not where it gains, to first
// order, a share `enough` of its curvature: from 0.5 on the whole step does not raise the model.
// Returns by how much the model fell.
DB_EXPORT double DB_NAME(model_newton)(DbTeam* team, const DbModel* model, int32_t most,
                                       double tolerance, int32_t repeats, double enough);

// F (m, k) += tables of the used features, and then the intercept; X (m, d) has strides in
// elements. Returns whether X holds an infinite number, in a used feature or not.
DB_EXPORT int32_t DB_NAME(predict)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                   int32_t d, int64_t row_stride, int64_t column_stride,
                                   const DbTables* tables, double* F);

// Whether the processor can run the functions of this suffix.
DB_EXPORT int32_t DB_NAME(usable)();
