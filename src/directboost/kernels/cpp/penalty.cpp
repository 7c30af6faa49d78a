// The penalty of all jumps of a working set.
#include "penalties.h"

namespace DB_SPACE {

// row = start + step (end - start), and exactly `end` at step 1; returns whether it is non-zero.
inline bool step_along(const double* start, const double* end, double step, int32_t k,
                        double* row) {
  bool live = false;
  for (int32_t r = 0; r < k; ++r) {
    row[r] = step == 1.0 ? end[r] : start[r] + step * (end[r] - start[r]);
    live = live || row[r] != 0.0;
  }
  return live;
}

}  // namespace DB_SPACE

DB_EXPORT int32_t DB_NAME(penalty)(const double* start, const double* end, double step,
                                   const int64_t* first, const double* nu, int32_t n, int32_t k,
                                   double p, double* penalty) {
  using namespace DB_SPACE;
  return status_of([&] {
    double total = 0.0;
    Scratch<double> row(k);
    with_norm(p, [&](auto norm) {
      using Norm = decltype(norm);
      for (int32_t w = 0; w < n; ++w) {
        double sum = 0.0;
        for (int64_t j = first[w]; j < first[w + 1]; ++j)
          if (step_along(start + j * k, end + j * k, step, k, row.get()))
            sum += jump_penalty<Norm>(row.get(), 1, k, p);
        total += nu[w] * sum;
      }
    });
    *penalty = total;
  });
}
