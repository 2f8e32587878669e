/* Two states at work in two threads at once, and the same two one after the other: the same bits. K=2, dim=1. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmm.h"

enum { kItems = 12 };

/* What clang calls in place of these, and gcc's runtime does not have; both check what memcpy and memset touch. */
void* __tsan_memcpy(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes); }
void* __tsan_memset(void* at, int value, size_t bytes) { return memset(at, value, bytes); }

struct Work {
  uint64_t seed;
  long steps;
  double x[kItems], means[2], elbo;
  int32_t status;
};

static void* work(void* argument) {
  struct Work* const w = argument;
  for (int i = 0; i < kItems; ++i)
    w->x[i] = (i % 2 == 0 ? -2.0 : 1.0 + (double)w->seed) + 0.1 * i;
  const gmm_sizes sizes = {.abi = GMM_ABI, .n = kItems};
  const gmm_data data = {.n = kItems, .x = w->x};
  const size_t bytes = gmm_state_bytes(&sizes);
  void* const state = malloc(bytes);
  w->status = gmm_init(state, bytes, &sizes, &data, w->seed);
  for (long k = 0; k < w->steps && w->status == GMM_OK; ++k)
    w->status = k % 10 == 9 ? gmm_svi_step(state, &data, 100, 0.1, 1) : gmm_step(state, k % 2 ? NULL : &data, 1);
  if (w->status == GMM_OK) w->status = gmm_elbo(state, &w->elbo);
  if (w->status == GMM_OK) memcpy(w->means, gmm_get_mu_mean(state, NULL), sizeof w->means);
  free(state);
  return NULL;
}

int main(int argc, char** argv) {
  const long steps = argc > 1 ? atol(argv[1]) : 1000;
  struct Work together[2], alone[2];
  pthread_t threads[2];
  for (int k = 0; k < 2; ++k) {
    together[k].seed = alone[k].seed = (uint64_t)k + 1;
    together[k].steps = alone[k].steps = steps;
    if (pthread_create(&threads[k], NULL, work, &together[k]) != 0) return 1;
  }
  for (int k = 0; k < 2; ++k)
    pthread_join(threads[k], NULL);
  for (int k = 0; k < 2; ++k) {
    work(&alone[k]);
    if (alone[k].status != GMM_OK || together[k].status != GMM_OK) {
      fprintf(stderr, "%s\n", gmm_error(alone[k].status ? alone[k].status : together[k].status));
      return 1;
    }
    if (memcmp(alone[k].means, together[k].means, sizeof alone[k].means) != 0 || alone[k].elbo != together[k].elbo)
      return 2;
  }
  return 0;
}
