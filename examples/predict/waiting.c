/* How long to wait for the next eruption of a geyser, after one of so many minutes: a regression, and its predictions.

     lehr build models/regression/linear_regression.lehr -o linear_regression --sizes d=1
     cc -std=c99 -O2 -I. -Icompiler/library examples/predict/waiting.c linear_regression.o -Lbuild -llehr -lm -o waiting
     ./waiting models/data/mixtures/faithful.csv 1.5 3 4.5 */
#include "predict.h"
/* predict.h comes first: the header of the object then has the functions for its own structures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "linear_regression.h"

enum { kMost = 1000 };

static int complain(int32_t status, char* message) {
  fprintf(stderr, "%s\n", message ? message : linear_regression_error(status));
  lehr_text_free(message);
  return 1;
}

int main(int count, char** words) {
  static double minutes[kMost], waiting[kMost], fresh[kMost];
  int64_t n = 0, asked = 0;
  char line[100];
  FILE* file = count > 2 ? fopen(words[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: waiting models/data/mixtures/faithful.csv MINUTES...\n");
    return 2;
  }
  while (n < kMost && fgets(line, sizeof line, file))
    if (sscanf(line, "%lf,%lf", &minutes[n], &waiting[n]) == 2) ++n;
  fclose(file);
  while (asked + 2 < count && asked < kMost) {
    fresh[asked] = atof(words[asked + 2]);
    ++asked;
  }

  const linear_regression_sizes sizes = {.abi = LINEAR_REGRESSION_ABI, .n = n};
  const linear_regression_data data = {.n = n, .x = minutes, .y = waiting};
  const size_t bytes = linear_regression_state_bytes(&sizes);
  void* state = malloc(bytes);
  int32_t status = linear_regression_init(state, bytes, &sizes, &data, 1);
  double before = -INFINITY, elbo = 0;
  for (int sweep = 0; status == LINEAR_REGRESSION_OK && sweep < 1000; ++sweep) {
    status = linear_regression_step(state, NULL, 1);
    if (status == LINEAR_REGRESSION_OK) status = linear_regression_elbo(state, &elbo);
    if (elbo - before < 1e-12 * fabs(elbo)) break;
    before = elbo;
  }
  if (status != LINEAR_REGRESSION_OK) return complain(status, NULL);

  const linear_regression_data next = {.n = asked, .x = fresh}; /* y is null: it is to be predicted */
  lehr_arrays* predictions;
  char* message;
  status = linear_regression_predict(state, &next, NULL, &predictions, &message);
  if (status != LINEAR_REGRESSION_OK) return complain(status, message);
  const double *mean = lehr_arrays_find(predictions, "y.mean").values,
               *low = lehr_arrays_find(predictions, "y.q5").values,
               *high = lehr_arrays_find(predictions, "y.q95").values;
  for (int64_t i = 0; i < asked; ++i)
    printf("after %g minutes: %.1f, with probability 0.9 from %.1f to %.1f\n", fresh[i], mean[i], low[i], high[i]);
  lehr_arrays_free(predictions);

  lehr_arrays* score;
  status = linear_regression_log_predictive(state, &data, NULL, &score, &message);
  if (status != LINEAR_REGRESSION_OK) return complain(status, message);
  printf("%.4f nats an eruption\n", lehr_arrays_find(score, "total").values[0] / (double)n);
  lehr_arrays_free(score);
  free(state);
  return 0;
}
