// Newton steps of the quadratic model: the live jumps, their second derivative, and the solution of
// the Newton equations.
#include "gradients.h"

namespace DB_SPACE {

constexpr int64_t kTogether = 64;  // rows recoded together, so that their places stay in the cache

}  // namespace DB_SPACE

DB_EXPORT void DB_NAME(recode)(DbTeam* team, const DbModel* model, int32_t n_live,
                               const int32_t* live, const uint32_t* place_of, uint32_t* places) {
  using namespace DB_SPACE;
  Scratch<size_t> begin_of(static_cast<size_t>(model->n_work) + 1);
  for (int32_t w = 0; w < model->n_work; ++w) begin_of[w + 1] = begin_of[w] + model->n_bins[w];
  with_codes(model->code_bytes, [&](auto* code) {
    auto codes = static_cast<decltype(code)>(model->codes);
    share(team, model_pieces(model->n), [&](int32_t piece) {
      const int64_t begin = piece * kModelRows;
      const int64_t end = begin + kModelRows < model->n ? begin + kModelRows : model->n;
      for (int64_t first = begin; first < end; first += kTogether) {
        const int64_t last = first + kTogether < end ? first + kTogether : end;
        for (int32_t v = 0; v < n_live; ++v) {
          const uint32_t* map = place_of + begin_of[live[v]];
          auto of = codes + static_cast<size_t>(model->rows[live[v]]) * model->n;
          for (int64_t i = first; i < last; ++i)
            places[static_cast<size_t>(i) * n_live + v] = map[of[i]];
        }
      }
    });
  });
}

DB_EXPORT void DB_NAME(model_product)(DbTeam* team, const DbModel* model, const DbLive* live,
                                      const double* direction, double* out) {
  using namespace DB_SPACE;
  const size_t size = segment_count(*live) * model->k;
  Scratch<double> tables(size), sums(size);
  with_product(*model, *live, [&](auto& product) {
    product_of(team, *live, model->k, direction, product, tables.get(), sums.get(), out);
  });
}

DB_EXPORT double DB_NAME(model_move)(DbTeam* team, const DbModel* model, const DbLive* live,
                                     const double* direction) {
  using namespace DB_SPACE;
  const size_t size = segment_count(*live) * model->k;
  Scratch<double> tables(size);
  tables_of(*live, direction, model->k, tables.get());
  double curvature = 0.0;
  with_product(*model, *live, [&](auto& product) {
    product.set_tables(tables.get());
    curvature = product.move(team);
  });
  for (size_t i = 0; i < size; ++i) curvature += live->ridge[i] * tables[i] * tables[i];
  return curvature;
}

DB_EXPORT void DB_NAME(model_gather)(DbTeam* team, const DbModel* model, const DbLive* live,
                                     double* out) {
  using namespace DB_SPACE;
  Scratch<double> sums(segment_count(*live) * model->k);
  with_product(*model, *live, [&](auto& product) { product.gather(team, sums.get()); });
  write_edges(*live, sums.get(), model->k, out);
}

DB_EXPORT int32_t DB_NAME(model_newton)(DbTeam* team, const DbModel* model, const DbLive* live,
                                        const double* V, const double* nu, const double* left,
                                        int32_t most, double tolerance, double* direction) {
  using namespace DB_SPACE;
  int32_t iterations = 0;
  with_product(*model, *live, [&](auto& product) {
    Gradients<std::remove_reference_t<decltype(product)>> solver(*model, *live, V, nu, product);
    iterations = solver.solve(team, left, most, tolerance, direction);
  });
  return iterations;
}
