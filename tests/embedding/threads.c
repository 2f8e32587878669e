/* Two states at work in two threads at once, and the same two one after the other: the same bits; then two threads on
   the items of one state. K=2, dim=1. */
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

struct Part {
  void *state, *range;
  size_t bytes;
  int64_t from, to;
  int32_t status;
};

static void* work_on_items(void* argument) {
  struct Part* const p = argument;
  p->status = gmm_step_items(p->state, p->range, p->bytes, p->from, p->to);
  return NULL;
}

/* Sweeps by two threads, and by one: the same bits. */
static int share(long steps) {
  double x[kItems], elbo[2];
  for (int i = 0; i < kItems; ++i)
    x[i] = (i % 2 == 0 ? -2.0 : 1.0) + 0.1 * i;
  const gmm_sizes sizes = {.abi = GMM_ABI, .n = kItems};
  const gmm_data data = {.n = kItems, .x = x};
  const size_t bytes = gmm_state_bytes(&sizes);
  for (int together = 0; together < 2; ++together) {
    void* const state = malloc(bytes);
    int32_t status = gmm_init(state, bytes, &sizes, &data, 1);
    struct Part part[2] = {{.state = state}, {.state = state}};
    for (int k = 0; k < 2; ++k)
      part[k].range = malloc(part[k].bytes = gmm_range_bytes(state));
    for (long step = 0; step < steps && status == GMM_OK; ++step) {
      int64_t items = 0;
      status = gmm_step_begin(state, NULL, 1);
      while (status == GMM_OK && (status = gmm_step_next(state, &items)) == GMM_OK && items > 0) {
        pthread_t thread;
        for (int k = 0; k < 2; ++k) {
          part[k].from = items * k / 2;
          part[k].to = items * (k + 1) / 2;
        }
        if (together && pthread_create(&thread, NULL, work_on_items, &part[0]) != 0) return 1;
        if (!together) work_on_items(&part[0]);
        work_on_items(&part[1]);
        if (together) pthread_join(thread, NULL);
        for (int k = 0; k < 2 && status == GMM_OK; ++k)
          status = part[k].status ? part[k].status : gmm_step_add(state, part[k].range);
      }
    }
    if (status == GMM_OK) status = gmm_elbo(state, &elbo[together]);
    for (int k = 0; k < 2; ++k)
      free(part[k].range);
    free(state);
    if (status != GMM_OK) {
      fprintf(stderr, "%s\n", gmm_error(status));
      return 1;
    }
  }
  return elbo[0] == elbo[1] ? 0 : 3;
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
  return share(steps / 100 + 1);
}
