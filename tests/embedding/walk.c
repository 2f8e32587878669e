/* Every function of a header once, and what came of it as numbers. The mixture has K=2 and dim=1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmm.h"

enum { kItems = 40 };

static void check(int32_t status, int line) {
  if (status == GMM_OK) return;
  fprintf(stderr, "walk.c:%d: %s\n", line, gmm_error(status));
  exit(1);
}
#define CHECK(call) check((call), __LINE__)

static void print(const double* values, size_t count) {
  for (size_t k = 0; k < count; ++k)
    printf("%.12g\n", values[k]);
}

int main(void) {
  double* const x = malloc(kItems * sizeof *x);
  for (int i = 0; i < kItems; ++i)
    x[i] = (i % 3 == 0 ? -2.0 : 1.5) + 0.01 * ((i * 7919) % 101 - 50);
  const gmm_sizes sizes = {.abi = GMM_ABI, .n = kItems};
  const gmm_data data = {.n = kItems, .x = x}, part = {.n = kItems / 4, .x = x + 4};
  if (gmm_abi() != GMM_ABI) return 2;

  const size_t bytes = gmm_state_bytes(&sizes);
  /* One byte before the state, so that it is aligned to nothing. */
  char* const memory = malloc(bytes + 1);
  void* const state = memory + 1;
  double nats = 0, b = 0, r[3];
  size_t count = 0;
  CHECK(gmm_init(state, bytes, &sizes, &data, 7));
  CHECK(gmm_set_accuracy(state, 50, 1e-6));
  for (int k = 0; k < 10; ++k)
    CHECK(gmm_step(state, k == 5 ? &data : NULL, 1));
  CHECK(gmm_elbo(state, &nats));
  print(&nats, 1);
  const size_t range_bytes = gmm_range_bytes(state);
  char* const range = malloc(range_bytes + 1);
  int64_t items = 0;
  CHECK(gmm_step_begin(state, &data, 1));
  CHECK(gmm_step_next(state, &items));
  for (int64_t from = 0; from < items; from += 5) {
    CHECK(gmm_step_items(state, range + 1, range_bytes, from, from + 5 < items ? from + 5 : items));
    CHECK(gmm_step_add(state, range + 1));
  }
  CHECK(gmm_step_next(state, &items));
  free(range);
  CHECK(gmm_elbo(state, &nats));
  print(&nats, 1);
  CHECK(gmm_step(state, NULL, 0.5));
  CHECK(gmm_entropy_step(state, NULL, 0.8));
  CHECK(gmm_data_energy(state, &nats));
  print(&nats, 1);
  const double temperatures[] = {1, 2, 4}, log_normalisers[] = {0, 10, 30};
  CHECK(gmm_temper(temperatures, log_normalisers, 3, nats, r, &b));
  print(r, 3);
  CHECK(gmm_step(state, NULL, b));
  CHECK(gmm_svi_step(state, &part, 400, 0.5, 1));
  CHECK(gmm_infer(state, &data));
  const double* probs = gmm_get_z_probs(state, &count);
  print(probs, count);
  CHECK(gmm_score(state, &part, &nats));
  print(&nats, 1);

  const size_t saved_bytes = gmm_saved_bytes(state);
  void* const saved = malloc(saved_bytes);
  CHECK(gmm_save(state, saved, saved_bytes));
  void* const second = malloc(bytes);
  CHECK(gmm_init(second, bytes, &sizes, NULL, 0));
  CHECK(gmm_load(second, saved, saved_bytes));
  CHECK(gmm_step(second, &data, 1));
  const double* means = gmm_get_mu_mean(second, &count);
  print(means, count);
  const double start[] = {-1, 1};
  CHECK(gmm_set_mu_mean(second, start, 2));
  CHECK(gmm_step(second, NULL, 1));
  CHECK(gmm_elbo(second, &nats));
  print(&nats, 1);

  /* What is refused touches nothing. */
  ((char*)saved)[saved_bytes / 2] ^= 1;
  if (gmm_load(second, saved, saved_bytes) != GMM_ERROR_ALTERED) return 3;
  if (gmm_init(second, bytes / 2, &sizes, &data, 1) != GMM_ERROR_SHORT) return 4;
  free(saved);
  free(second);
  free(memory);
  free(x);
  return 0;
}
