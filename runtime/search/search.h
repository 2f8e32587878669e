/* The search of `lehr fit` in programs with built objects: the best of many starts, annealed, its components moved.
   Link liblehr_search.a, the C++ library and threads (-llehr_search -lstdc++ -lm -pthread) beside the object. It
   allocates; a search belongs to one thread, which it may divide its work from.

     lehr_search_options options = {.seed = 1};
     lehr_search_result found;
     int32_t status = lehr_search(gmm_model(), state, &data, &options, &found);

   The state holds the posterior then, as after a step. */
#ifndef LEHR_SEARCH_H
#define LEHR_SEARCH_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lehr_search_options {
  uint64_t seed;          /* of all starts: that of `lehr fit --seed` */
  int32_t full;           /* 1: more starts, leaders and cycles of temperatures, as `--search full` */
  int32_t keep_start;     /* 1: the factors of the state race with the starts, as the first of them */
  int64_t max_iterations; /* of a run, 0: 1000 */
  double tolerance;       /* of a run, relative; 0: 1e-8 */
  int64_t threads;        /* 0: one a processor; the numbers do not depend on it */
  /* After every sweep of any run, the ELBO at temperature 1 in nats: nonzero ends the search with what is best by then.
     May be null. */
  int32_t (*on_sweep)(void* context, int64_t sweep, double elbo, double temperature);
  void* context;
} lehr_search_options;

typedef struct lehr_search_result {
  double elbo;       /* nats, of the posterior in the state */
  int64_t sweeps;    /* of all runs */
  int64_t starts;    /* that were made */
  int64_t annealed;  /* runs from a temperature above 1 */
  int64_t moves;     /* of components, that were kept */
  int32_t converged; /* 1: the best run settled within max_iterations */
} lehr_search_result;

/* `model` is NAME_model(); `data` a NAME_data, or null for the one of the call before. `options` and `result` may be
   null. Returns a status of NAME_error: those of NAME_step; ABI where object and library are of different versions,
   SHORT where memory does not suffice, NOT_FINITE where every start fails. The state is as it was unless the status is
   0. */
int32_t lehr_search(const void* model, void* state, const void* data, const lehr_search_options* options,
                    lehr_search_result* result);

#ifdef __cplusplus
}
#endif
#endif
