/* The search of `lehr fit` for programs with built objects: it takes the best of many starts, anneals it and moves its
   components. Link liblehr_search.a, the C++ library and threads (-llehr_search -lstdc++ -lm -pthread) with the object.
   The search allocates memory and starts threads of its own; one thread at a time may use a state.

     lehr_search_options options = {.seed = 1};
     lehr_search_result found;
     int32_t status = lehr_search(gmm_model(), state, &data, &options, &found);

   Afterwards the state has the posterior, as after a step. */
#ifndef LEHR_SEARCH_H
#define LEHR_SEARCH_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The options of a search. Zeros are the defaults of `lehr fit`, except for the seed. */
typedef struct lehr_search_options {
  uint64_t seed;          /* seed of all starts, as in `lehr fit --seed` */
  int32_t full;           /* 1: more starts, more that converge, and repeated annealing, as `--search full` */
  int32_t keep_start;     /* 1: the factors in the state are the first of the starts that compete */
  int64_t max_iterations; /* most sweeps of a run; 0: 1000 */
  double tolerance;       /* relative tolerance at which a run has converged; 0: 1e-8 */
  int64_t threads;        /* worker threads; 0: one for each processor. Results do not depend on it */
  /* A callback after every sweep of any run, with the ELBO at temperature 1 in nats. The ELBO is NaN for sweeps over
     some of the items, which are not counted. If it returns nonzero, the search ends with the best result so far. May
     be null. */
  int32_t (*on_sweep)(void* context, int64_t sweep, double elbo, double temperature);
  void* context; /* first argument of on_sweep */
} lehr_search_options;

/* What a search found. */
typedef struct lehr_search_result {
  double elbo;       /* ELBO of the posterior in the state, in nats */
  int64_t sweeps;    /* sweeps of all runs */
  int64_t starts;    /* starts that were made */
  int64_t annealed;  /* runs that began at a temperature above 1 */
  int64_t moves;     /* moves of components that were accepted */
  int32_t converged; /* 1: the best run converged within max_iterations */
} lehr_search_result;

/* Searches for the posterior with the highest ELBO and leaves it in the state. `model` is NAME_model(); `data` is a
   NAME_data, or null for that of the call before. `options` (null: the defaults) and `result` may be null. Returns a
   status for NAME_error: one of NAME_step; ABI if object and library are of different versions; ARGUMENT if an
   option is out of range or the object samples; SHORT if memory does not suffice; NOT_FINITE if the runs from all
   starts fail. Unless the status is 0, the factors in the state stay as they were. */
int32_t lehr_search(const void* model, void* state, const void* data, const lehr_search_options* options,
                    lehr_search_result* result);

#ifdef __cplusplus
}
#endif
#endif
