/* A Gaussian mixture fitted on all processors with OpenMP: the items of every sweep in ranges.

     lehr build models/mixtures/gmm.lehr -o gmm --set K=8 --sizes dim=2
     cc -std=c99 -O2 -fopenmp -I. examples/ranges/openmp.c gmm.o -lm -o ranges_openmp
     ./ranges_openmp 32

   The argument is the number of ranges. The numbers that are printed depend on it by their rounding, and not at all on
   the number of threads, which OMP_NUM_THREADS tells: ranges are added in their order. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "gmm.h"

enum { kPoints = 100000, kSweeps = 20, kDim = GMM_SIZE_dim };

/* Four squares of points. */
static void fill(double* x) {
  uint32_t state = 1;
  for (int i = 0; i < kPoints * kDim; ++i) {
    state = state * 1664525u + 1013904223u;
    const int square = i / kDim % 4;
    x[i] = (i % kDim ? square / 2 : square % 2) * 3.0 + state / 4294967296.0;
  }
}

/* Each thread has the memory of one range, which it has added before it takes the next. */
static int32_t sweep(void* state, char* memory, size_t bytes, int ranges) {
  int64_t items = 0;
  int32_t failed = gmm_step_begin(state, NULL, 1);
  while (!failed && !(failed = gmm_step_next(state, &items)) && items > 0) {
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (int k = 0; k < ranges; ++k) {
      char* const range = memory + (size_t)omp_get_thread_num() * bytes;
      const int32_t status = gmm_step_items(state, range, bytes, items * k / ranges, items * (k + 1) / ranges);
#pragma omp ordered
      if (!failed) failed = status ? status : gmm_step_add(state, range);
    }
  }
  return failed;
}

int main(int argc, char** argv) {
  const int ranges = argc > 1 ? atoi(argv[1]) : 32;
  double* const x = malloc(sizeof(double) * kPoints * kDim);
  const gmm_sizes sizes = {.abi = GMM_ABI, .n = kPoints};
  const gmm_data data = {.n = kPoints, .x = x};
  const size_t state_bytes = gmm_state_bytes(&sizes);
  void* const state = malloc(state_bytes);
  if (!x || !state) return 1;
  fill(x);
  int32_t status = gmm_init(state, state_bytes, &sizes, &data, 1);
  const size_t bytes = gmm_range_bytes(state);
  char* const memory = malloc(bytes * (size_t)omp_get_max_threads());
  if (!memory) return 1;
  for (int k = 0; k < kSweeps && status == GMM_OK; ++k)
    status = sweep(state, memory, bytes, ranges);
  double elbo = 0;
  if (status == GMM_OK) status = gmm_elbo(state, &elbo);
  if (status == GMM_OK) printf("%d sweeps in %d ranges: ELBO %.17g\n", (int)kSweeps, ranges, elbo);
  else fprintf(stderr, "%s\n", gmm_error(status));
  free(memory);
  free(state);
  free(x);
  return status != GMM_OK;
}
