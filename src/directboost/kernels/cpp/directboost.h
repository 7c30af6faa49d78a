// The C interface of the kernels. Every kernel is compiled once per instruction set, with the name
// of the set as suffix, so that one library runs on old and new processors; Python chooses the set
// when it loads the library.
//
// Conventions: matrices are row-major and contiguous unless a stride is named. `code_bytes` is 1, 2
// or 4 (uint8, uint16, uint32), `real_bytes` is 4 or 8 (float, double). Codes of feature f start at
// codes + f * m. The kind of a feature is DB_ORDERED (codes have an order), DB_WITH_MISSING
// (ordered except for the last code, the missing value), DB_CATEGORICAL (no order) or DB_PRODUCT
// (two codes, whether two stumps agree; ordered, but processed together with other products).
// step_functions.py defines the numbering of the thresholds. Their signed coefficients, the jumps,
// are always double, and so are tables unless stated otherwise. `team` is null or the threads that
// help.
//
// Every kernel returns a status: DB_OK, or DB_OUT_OF_MEMORY if scratch memory cannot be allocated.
// After a failure the output arrays are undefined; no memory is lost and the team stays usable.
//
// library.py repeats the structures and argument lists of this file. Increase DB_ABI_VERSION, there
// and here, whenever one of them changes.
#pragma once

#include <cstdint>

#define DB_ABI_VERSION 4

#define DB_OK 0
#define DB_OUT_OF_MEMORY 1

#define DB_ORDERED 0
#define DB_WITH_MISSING 1
#define DB_CATEGORICAL 2
#define DB_PRODUCT 3

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

// Rows of a loss pass: their weights, their margins and the loss.
struct DbLossRows {
  int64_t m;
  int32_t k;
  int32_t loss;            // number of the loss: see losses.h
  const int32_t* labels;   // (m,) class codes of pairwise margins, or null
  const int8_t* targets;   // (m, k) +1 and -1 of one-vs-all margins, or null
  const void* c;           // (m,) weights s_i / (S k) in the real type
};

// A quadratic model of the loss around the current scores, on a few rows: its value at a change dF
// of the scores is -<A, dF> + dF' H dF / 2. The working set holds the features that may change.
struct DbQuadraticModel {
  const void* codes;         // (features, n) codes of the rows of the model
  int32_t code_bytes;
  int32_t real_bytes;
  int64_t n;
  int32_t k;
  int32_t coupling;          // how H couples the classes of a row: see quadratic_model.h
  const int32_t* labels;     // (n,) own classes of pairwise margins, or null
  const void* H;             // (n, width) second derivatives in the margins; 0 at the own class
  const void* weight;        // (n,) weights of the rows where H holds probabilities, or null
  void* Q;                   // (n, width) H dF so far; width is k rounded up to a multiple of eight
  int32_t n_work;            // features in the working set
  const int32_t* features;   // (n_work,) their rows in `codes`
  const int32_t* n_bins;     // (n_work,)
  const uint8_t* kinds;      // (n_work,)
  const int8_t* signs;       // (n_work, k) +1: jumps >= 0, -1: jumps <= 0, 0: free; or null
  const double* nu;          // (n_work,) nu times the cost of the feature
  double* jumps;             // (all jumps, k), feature after feature: changed
  const double* G;           // (all bins, k), feature after feature: sums of A over the bins
  const double* D;           // (all bins, k): diagonal curvature that the block solver uses
  const double* ridge;       // (all bins, k): added to the curvature
  double* change;            // (all bins, k): change of the tables so far
  double p;                  // inner norm of the penalty, 1 <= p <= infinity
  int32_t full_sweeps;       // sweeps over all jumps of a block
  int32_t segment_sweeps;    // sweeps over the non-zero jumps after each of them
  double block_tolerance;    // a block is solved when its change falls below this share
};

// A fitted model: one table per used feature, thresholds and tables feature after feature. A table
// has one row for every number of thresholds below x, and a last one for missing.
struct DbTables {
  const int32_t* features;      // (n_used,)
  const int32_t* n_thresholds;  // (n_used,)
  const double* thresholds;     // (all thresholds,)
  const double* values;         // (all thresholds + 2 n_used, k)
  const double* intercept;      // (k,)
  int32_t n_used;
  int32_t k;
};

// Products of two stumps of a fitted model: +1 where both stumps hold or neither does, else -1. A
// stump holds for codes first .. last of a feature, where the code is the number of its thresholds
// below x, or n_thresholds + 1 for missing.
struct DbProducts {
  const int32_t* features;      // (n_used,)
  const int32_t* n_thresholds;  // (n_used,)
  const double* thresholds;     // (all thresholds,), feature after feature
  const int32_t* factors;       // (n, 2, 3) place in `features`, first and last code of both stumps
  const int64_t* starts;        // (n + 1,) start of the weights of every product
  const int32_t* classes;       // (all weights,)
  const double* weights;        // (all weights,)
  int32_t n_used;
  int32_t n;
};

// Sparse storage of features most of whose rows have the same code: the rows with another code, in
// blocks of `block` rows, DB_SPARSE_BLOCK_ROWS times a power of two.
#define DB_SPARSE_BLOCK_ROWS 512
struct DbSparseCodes {
  const int32_t* most_common;  // (features,) the most common code; -1: the feature is not sparse
  const int64_t* starts;       // (features * blocks + 1,) start of every feature and block
  const uint16_t* rows;        // (all stored,) ascending, counted from the start of their block
  const void* codes;           // (all stored,) their codes
  const int32_t* places;       // (features,) rows of the matrix of codes, -1: stored here only;
                               // null: feature f has row f
  int64_t block;
};

struct DbTeam;

// DB_ABI_VERSION of the library.
DB_EXPORT int32_t db_abi_version();

// A new team of threads, or null if there is no memory for it.
DB_EXPORT DbTeam* db_team_new();

// Works for the team until it is dismissed: the body of every thread except the caller's.
DB_EXPORT void db_team_serve(DbTeam* team);

// Makes all threads leave `db_team_serve`.
DB_EXPORT void db_team_dismiss(DbTeam* team);

// Frees the team; every thread must have left `db_team_serve`.
DB_EXPORT void db_team_delete(DbTeam* team);

// For tests: scratch allocations fail after the next `allocations` ones; -1 lifts the limit.
DB_EXPORT void db_limit_scratch(int64_t allocations);

// For every feature, the best price over its thresholds and both polarities. Here and below, `sparse`
// holds the sparse features, or is null. q: 1, 2, or 0 for infinity. Ties within `tie` go to the
// first threshold, then to polarity +1.
DB_EXPORT int32_t DB_NAME(price)(DbTeam* team, const void* codes, int32_t code_bytes, int64_t m,
                                 const DbSparseCodes* sparse, int32_t n_features,
                                 const int32_t* n_bins, const uint8_t* kinds, const void* A,
                                 int32_t real_bytes, int32_t k, int32_t q, const double* costs,
                                 double tie, double* price, int32_t* threshold, int8_t* polarity);

// For every pair of features, the best `most` of its products of a stump on the one and a stump on
// the other, in both polarities: the best one, and by descending price the best of every threshold of
// the first feature that is no worse than its neighbours and has at least 0.8 of the best price.
// Codes are (m, n), row-major. Only the first n_thresholds[f] thresholds of a categorical feature
// exist. `pairs` (n_pairs, 2) are ordered by the first feature; price and polarity are (n_pairs,
// most), thresholds (n_pairs, most, 2); the price is 0 where there are fewer products. Ties of the
// best go to the first threshold of the first feature, then of the second, then to polarity +1.
DB_EXPORT int32_t DB_NAME(price_pairs)(DbTeam* team, const uint8_t* codes, int64_t m, int32_t n,
                                       const int32_t* n_bins, const uint8_t* kinds,
                                       const int32_t* n_thresholds, const int32_t* pairs,
                                       int32_t n_pairs, const void* A, int32_t real_bytes,
                                       int32_t k, int32_t q, const double* costs, double tie,
                                       int32_t most, double* price, int32_t* thresholds,
                                       int8_t* polarity);

// Edges (n_thresholds, k) of the positive polarity of every threshold of one feature.
DB_EXPORT int32_t DB_NAME(edges)(const void* codes, int32_t code_bytes, int64_t m, int32_t n_bins,
                                 int32_t kind, const void* A, int32_t real_bytes, int32_t k,
                                 double* out);

// Sums of the rows of A (m, k) per code of the given features: (all bins, k), feature by feature.
DB_EXPORT int32_t DB_NAME(histograms)(DbTeam* team, const void* codes, int32_t code_bytes,
                                      int64_t m, const DbSparseCodes* sparse,
                                      const int32_t* features, const int32_t* n_bins,
                                      int32_t n_work, const void* A, int32_t real_bytes, int32_t k,
                                      double* out);

// F += table of every given feature at the row's code. The tables lie feature after feature, in the
// precision of F, and are overwritten.
DB_EXPORT int32_t DB_NAME(add_tables)(DbTeam* team, const void* codes, int32_t code_bytes,
                                      int64_t m, const DbSparseCodes* sparse,
                                      const int32_t* features, const int32_t* n_bins,
                                      int32_t n_work, void* tables, int32_t k, void* F,
                                      int32_t real_bytes);

// The most common code of every feature, and the number of rows of every block with another code
// (n_features * blocks); -1 and zeros for features where these rows are more than `most`.
DB_EXPORT int32_t DB_NAME(count_sparse)(DbTeam* team, const void* codes, int32_t code_bytes,
                                        int64_t m, int32_t n_features, int64_t most,
                                        int32_t* most_common, int64_t* counts);

// Fills rows and codes of the sparse features; see DbSparseCodes.
DB_EXPORT int32_t DB_NAME(list_sparse)(DbTeam* team, const void* codes, int32_t code_bytes,
                                       int64_t m, int32_t n_features, const int32_t* most_common,
                                       const int64_t* starts, uint16_t* rows, void* others);

// Smallest and largest number of every column of X (m, d) with strides in elements, and whether
// one is missing (NaN). Columns without a number have low > high.
DB_EXPORT int32_t DB_NAME(ranges)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                  int32_t d, int64_t row_stride, int64_t column_stride, double* low,
                                  double* high, uint8_t* missing);

// The distinct values around every threshold of every column: before[f * width + j] and
// after[f * width + j], j < n_cuts[f]. All neighbours where there are at most max_bins distinct
// values, else those at weighted quantiles. `weight` (m,) is null where all are 1. `low` and `high`
// are those of `ranges`; `centre` is the code of the weighted median.
DB_EXPORT int32_t DB_NAME(find_cuts)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                     int32_t d, int64_t row_stride, int64_t column_stride,
                                     const double* weight, int64_t max_bins, const double* low,
                                     const double* high, int64_t width, double* before,
                                     double* after, int32_t* n_cuts, int64_t* centre,
                                     uint8_t* exact);

// Codes (d, m) of X (m, d), strides in elements: the number of thresholds of the feature below x;
// NaN gets missing[f]. The thresholds lie feature after feature.
DB_EXPORT int32_t DB_NAME(encode)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                  int32_t d, int64_t row_stride, int64_t column_stride,
                                  const double* thresholds, const int32_t* n_thresholds,
                                  const int32_t* missing, void* codes, int32_t code_bytes);

// Loss at F + step * change (at F where `change` is null) and, where not null, those scores (into
// `moved`), U, A and the diagonal curvature in F. All arrays are (m, k).
DB_EXPORT int32_t DB_NAME(loss_pass)(DbTeam* team, const DbLossRows* rows, const void* F,
                                     const void* change, double step, int32_t real_bytes,
                                     void* moved, void* U, void* A, void* C, double* loss);

// Penalty of the jumps start + step (end - start) of n features, (all jumps, k). The jumps of
// feature w lie from first[w] to first[w + 1] and cost nu[w] each.
DB_EXPORT int32_t DB_NAME(penalty)(const double* start, const double* end, double step,
                                   const int64_t* first, const double* nu, int32_t n, int32_t k,
                                   double p, double* penalty);

// Terms of the dual objective at tau U, without the own classes (multinomial: with them); `mass` is
// the sum of those entries of tau U.
DB_EXPORT int32_t DB_NAME(dual_parts)(DbTeam* team, const DbLossRows* rows, const void* U,
                                      int32_t real_bytes, double tau, double* terms, double* mass);

// One block: minimises the quadratic model with gradient -G and curvature D, both (n_bins, k), plus
// nu N_p of the positive and of the negative part of every jump. Writes the new jumps and the
// change of the table, (n_bins, k). `signs` (k,) is that of DbQuadraticModel, or null.
DB_EXPORT int32_t DB_NAME(solve_block)(const double* G, const double* D, int32_t n_bins,
                                       int32_t kind, int32_t k, const int8_t* signs, double nu,
                                       double p, int32_t full_sweeps, int32_t segment_sweeps,
                                       double tolerance, double* jumps, double* change);

// Block descent: visits every feature of the model once. `decrease` is that of the model.
DB_EXPORT int32_t DB_NAME(model_epoch)(DbTeam* team, const DbQuadraticModel* model,
                                       double* decrease);

// One Newton step of the model on its non-zero jumps, by conjugate gradients: at most `most`
// iterations, or until the residual fell to a share `tolerance`. Zero entries stay zero. An entry
// that would change its sign becomes zero; for p = infinity the entries at the maximum of a sign
// part move together, and an entry that would outgrow them is stopped there. If a bound is met, the
// step is recomputed with those entries fixed, up to `repeats` times in all, unless it gains, to
// first order, a share `enough` of its curvature: from 0.5 the whole step does not raise the model.
// `decrease` is that of the model.
DB_EXPORT int32_t DB_NAME(model_newton)(DbTeam* team, const DbQuadraticModel* model, int32_t most,
                                        double tolerance, int32_t repeats, double enough,
                                        double* decrease);

// F (m, k) += tables of the used features, then the intercept, then every weight times its product,
// product after product; X (m, d) has strides in elements. `infinite` tells whether X holds an infinite number, in a used feature or not.
DB_EXPORT int32_t DB_NAME(predict)(DbTeam* team, const void* X, int32_t real_bytes, int64_t m,
                                   int32_t d, int64_t row_stride, int64_t column_stride,
                                   const DbTables* tables, const DbProducts* products, double* F,
                                   int32_t* infinite);

// Whether the processor can run the functions of this suffix.
DB_EXPORT int32_t DB_NAME(usable)();
