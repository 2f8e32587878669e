/* Clusters the eruptions of a geyser by the best of many starts.

     lehr build models/mixtures/gmm.lehr -o gmm --set K=8 --sizes dim=2
     cc -std=c99 -O2 -I. -Iruntime/archive examples/search/faithful.c gmm.o build/runtime/liblehr_search.a -lstdc++ -lm
   \ -pthread -o faithful
     ./faithful models/data/mixtures/faithful.csv */
#include <stdio.h>
#include <stdlib.h>

#include "gmm.h"
#include "search.h"

enum { kMost = 1000 };

static int32_t shown(void* context, int64_t sweep, double elbo, double temperature) {
  (void)context;
  if (sweep % 100 == 0) fprintf(stderr, "sweep %lld at temperature %.2f: %.3f\n", (long long)sweep, temperature, elbo);
  return 0; /* another number would end the search */
}

int main(int count, char** words) {
  static double x[2 * kMost];
  int64_t n = 0;
  char line[100];
  FILE* file = count > 1 ? fopen(words[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: faithful models/data/mixtures/faithful.csv\n");
    return 2;
  }
  while (n < kMost && fgets(line, sizeof line, file))
    if (sscanf(line, "%lf,%lf", &x[2 * n], &x[2 * n + 1]) == 2) ++n;
  fclose(file);

  const gmm_sizes sizes = {.abi = GMM_ABI, .n = n};
  const gmm_data data = {.n = n, .x = x};
  const size_t bytes = gmm_state_bytes(&sizes);
  void* state = malloc(bytes);
  int32_t status = gmm_init(state, bytes, &sizes, NULL, 1);
  const lehr_search_options options = {.seed = 1, .on_sweep = shown};
  lehr_search_result found;
  if (status == GMM_OK) status = lehr_search(gmm_model(), state, &data, &options, &found);
  if (status != GMM_OK) {
    fprintf(stderr, "%s\n", gmm_error(status));
    return 1;
  }
  printf("ELBO %.4f nats after %lld sweeps of %lld starts\n", found.elbo, (long long)found.sweeps,
         (long long)found.starts);
  const double *weight = gmm_get_pi_concentration(state, NULL), *mean = gmm_get_mu_mean(state, NULL);
  for (int k = 0; k < GMM_SIZE_k; ++k)
    if (weight[k] > 2)
      printf("%.0f eruptions of %.2f minutes after %.0f\n", weight[k] - 1, mean[2 * k], mean[2 * k + 1]);
  free(state);
  return 0;
}
