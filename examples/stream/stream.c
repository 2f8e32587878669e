/* Clusters a stream of points in constant memory: a Gaussian mixture fitted by stochastic variational inference, a
   minibatch at a time. Nothing of the stream is kept but one minibatch.

     lehr build models/mixtures/gmm.lehr -o gmm --set K=8 --sizes dim=2
     cc -std=c99 -O2 -I. examples/stream/stream.c gmm.o -lm -o stream
     ./stream 500000

   The points come from four clusters, made up here as they are needed; a program of yours would read a socket. Some
   components may share a cluster. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gmm.h"

enum { kBatch = 200, kDim = GMM_SIZE_dim, kComponents = GMM_SIZE_k };

static void check(int32_t status, const char* what) {
  if (status == GMM_OK) return;
  fprintf(stderr, "stream: %s: %s\n", what, gmm_error(status));
  exit(1);
}

/* xorshift64* (Marsaglia; Vigna), and normal numbers by Box and Muller. */
static double uniform(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return ((double)((*state * UINT64_C(2685821657736338717)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t* state) {
  const double r = sqrt(-2 * log(uniform(state)));
  return r * cos(6.283185307179586 * uniform(state));
}

static void next_points(uint64_t* state, double* points) {
  static const double kCentre[4][2] = {{-4, -3}, {4, -3}, {0, 1}, {0, 6}}, kSd[4] = {0.5, 1.0, 0.7, 0.3};
  for (int i = 0; i < kBatch; ++i) {
    const int cluster = (int)(4 * uniform(state));
    for (int d = 0; d < kDim; ++d)
      points[kDim * i + d] = kCentre[cluster][d] + kSd[cluster] * normal(state);
  }
}

int main(int argc, char** argv) {
  const int64_t total = argc > 1 ? atoll(argv[1]) : 500000;
  uint64_t source = 88172645463325252;
  double points[kBatch * kDim];
  const gmm_sizes sizes = {.abi = GMM_ABI, .n = kBatch};
  const gmm_data batch = {.n = kBatch, .x = points};

  const size_t bytes = gmm_state_bytes(&sizes);
  void* const state = malloc(bytes);
  if (!state) return 1;
  next_points(&source, points);
  check(gmm_init(state, bytes, &sizes, &batch, 1), "start");

  for (int64_t seen = 0; seen + kBatch <= total; seen += kBatch) {
    next_points(&source, points);
    const double rho = pow(1 + (double)(seen / kBatch), -0.6);
    check(gmm_svi_step(state, &batch, total, rho, 1), "step");
  }

  next_points(&source, points);
  double score = 0;
  check(gmm_score(state, &batch, &score), "score");
  printf("%" PRId64 " points in %zu bytes; new points: %.3f nats each\n", total, bytes, score / kBatch);
  const double* weight = gmm_get_pi_concentration(state, NULL);
  const double* mean = gmm_get_mu_mean(state, NULL);
  double all = 0;
  for (int k = 0; k < kComponents; ++k)
    all += weight[k];
  for (int k = 0; k < kComponents; ++k) {
    if (weight[k] > 0.02 * all)
      printf("  %4.1f %% at (%5.2f, %5.2f)\n", 100 * weight[k] / all, mean[kDim * k], mean[kDim * k + 1]);
  }
  free(state);
  return 0;
}
