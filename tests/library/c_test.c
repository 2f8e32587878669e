/* lehr_c.h from C: the first program, what is refused and with which words, arrays, a fit that is stopped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/library/lehr_c.h"

static int failures = 0;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "c_test.c:%d: %s\n", line, what);
  ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static const char kCoin[] = "model coin { plate throw; p ~ Beta(1, 1); observe x[throw] ~ Bernoulli(p); }";
static const char kMixture[] =
    "model mixture { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k;"
    " mu[k] ~ Normal(mean = 0, precision = 0.01); z[n] ~ Categorical(pi);"
    " observe x[n] ~ Normal(mean = mu[z[n]], precision = 1); }";

/* Whether a call is refused with that status and words. */
static int refused(int32_t status, char* message, int32_t expected, const char* words) {
  const int out = status == expected && message && strstr(message, words);
  if (!out) fprintf(stderr, "status %d: %s\n", (int)status, message ? message : "no message");
  lehr_text_free(message);
  return out;
}

static lehr_program* compiled(const char* text) {
  lehr_program* program = NULL;
  char* message = NULL;
  CHECK(lehr_compile(text, NULL, &program, &message) == LEHR_OK);
  CHECK(message == NULL);
  return program;
}

static const double* find(const lehr_arrays* arrays, const char* name) {
  for (int64_t k = 0; k < lehr_arrays_count(arrays); ++k) {
    const lehr_array a = lehr_arrays_at(arrays, k);
    if (strcmp(a.name, name) == 0) return a.values;
  }
  check(0, name, __LINE__);
  exit(1);
}

/* Names of elements, and of the two sides of a coin; null is missing. */
static void names(void) {
  const char* const sides[] = {"tails", "heads", NULL, "tails", "tails"};
  const char* const wrong[] = {"tails", "\xff"};
  const int64_t five[] = {5}, two[] = {2};
  lehr_data data = {"x", sides, LEHR_TEXT, 1, five, NULL, 0, NULL};
  lehr_program* program = compiled(kCoin);
  lehr_fit* fit = NULL;
  lehr_arrays* arrays = NULL;
  char* message = NULL;
  CHECK(lehr_program_fit(program, &data, 1, NULL, NULL, NULL, NULL, &fit, NULL) == LEHR_OK);
  CHECK(lehr_fit_arrays(fit, "posterior", NULL, &arrays, NULL) == LEHR_OK);
  CHECK(*find(arrays, "p.a") == 4 && *find(arrays, "p.b") == 2);
  lehr_arrays_free(arrays);
  lehr_fit_free(fit);
  data.values = wrong;
  data.shape = two;
  CHECK(lehr_program_fit(program, &data, 1, NULL, NULL, NULL, NULL, &fit, &message) == LEHR_DATA);
  CHECK(message != NULL && strstr(message, "value 1 is not UTF-8") != NULL);
  lehr_text_free(message);
  lehr_program_free(program);
}

static void throws_of_a_coin(void) {
  const int32_t throws[] = {1, 9, 0, 9, 1, 9, 1, 9}; /* every second one */
  const int64_t shape[] = {4}, strides[] = {2};
  const lehr_data data = {"x", throws, LEHR_INT32, 1, shape, strides, 0, NULL};
  lehr_program* program = compiled(kCoin);
  lehr_fit* fit = NULL;
  lehr_arrays* arrays = NULL;
  CHECK(strstr(lehr_program_describe(program), "\"observed\":true") != NULL);
  CHECK(lehr_program_fit(program, &data, 1, NULL, NULL, NULL, NULL, &fit, NULL) == LEHR_OK);
  CHECK(strstr(lehr_fit_summary(fit), "\"status\":\"converged\"") != NULL);
  CHECK(lehr_fit_arrays(fit, "posterior", NULL, &arrays, NULL) == LEHR_OK);
  CHECK(*find(arrays, "p.a") == 4 && *find(arrays, "p.b") == 2);
  lehr_arrays_free(arrays);
  CHECK(lehr_fit_arrays(fit, "numbers", NULL, &arrays, NULL) == LEHR_OK);
  CHECK(fabs(*find(arrays, "p.mean") - 4. / 6) < 1e-12);
  lehr_arrays_free(arrays);
  CHECK(lehr_program_predict(program, fit, NULL, 0, "{\"sizes\": {\"throw\": 1}}", &arrays, NULL) == LEHR_OK);
  CHECK(fabs(*find(arrays, "x.mean") - 4. / 6) < 1e-12);
  lehr_arrays_free(arrays);
  CHECK(lehr_program_score(program, fit, &data, 1, NULL, &arrays, NULL) == LEHR_OK);
  CHECK(fabs(*find(arrays, "total") - (3 * log(4. / 6) + log(2. / 6))) < 1e-12);
  lehr_fit_free(fit);
  lehr_program_free(program);
  CHECK(*find(arrays, "observations") == 4); /* of its own */
  lehr_arrays_free(arrays);
}

/* Simulations and predictions have the warnings of the command line in their message, a line each. */
static void warnings(void) {
  static const char kLimits[] =
      "model limits { plate n; m ~ Normal(mean = 0, sd = 2); u[n] ~ Normal(mean = m, sd = 1) above 0; "
      "observe y[n] ~ Normal(mean = u[n], sd = 1); }";
  static const char kRate[] =
      "model rate { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1); observe y[n] ~ Poisson(exp(a * x[n])); }";
  const double far[] = {1, -1e6, 1e6};
  const int64_t three[] = {3};
  const lehr_data x = {"x", far, LEHR_DOUBLE, 1, three, NULL, 0, NULL};
  lehr_program* program = compiled(kLimits);
  lehr_arrays* arrays = NULL;
  char* message = NULL;
  CHECK(lehr_program_simulate(program, NULL, 0, "{\"sizes\": {\"n\": 5}}", &arrays, &message) == LEHR_OK);
  CHECK(message && strstr(message, "'u' is drawn within its limits given 'm'") && !strchr(message, '\n'));
  lehr_text_free(message);
  lehr_arrays_free(arrays);
  lehr_program_free(program);
  program = compiled(kRate);
  CHECK(lehr_program_simulate(program, &x, 1, NULL, &arrays, &message) == LEHR_OK);
  CHECK(message && strstr(message, "its value is the mean of the limit"));
  lehr_text_free(message);
  lehr_arrays_free(arrays);
  lehr_program_free(program);
}

static void refusals(void) {
  const double x[] = {1, 0, 2};
  const int64_t shape[] = {3}, wrong[] = {-1};
  const lehr_data data = {"x", x, LEHR_DOUBLE, 1, shape, NULL, 0, NULL};
  const lehr_data bad = {"x", x, LEHR_DOUBLE, 1, shape, wrong, 0, NULL};
  lehr_program* program = NULL;
  lehr_fit* fit = NULL;
  char* message = NULL;
  int32_t status = lehr_compile("model m { p ~ Beta(1, q); }", "{\"name\": \"m.lehr\"}", &program, &message);
  CHECK(refused(status, message, LEHR_MODEL, "m.lehr:1:23: error:") && !program);
  status = lehr_compile(kCoin, "{\"sizes\": 3}", &program, &message);
  CHECK(refused(status, message, LEHR_USAGE, "sizes: error:"));
  program = compiled(kCoin);
  status = lehr_program_fit(program, &data, 1, NULL, NULL, NULL, NULL, &fit, &message);
  CHECK(refused(status, message, LEHR_DATA, "error:") && !fit);
  status = lehr_program_fit(program, &bad, 1, NULL, NULL, NULL, NULL, &fit, &message);
  CHECK(refused(status, message, LEHR_DATA, "strides are not negative"));
  const int64_t huge[] = {INT64_MAX / 2, 5}, below[] = {-3};
  lehr_data odd[] = {data, data, data, data, data};
  odd[0].rank = 2, odd[0].shape = huge;
  odd[1].shape = huge, odd[1].strides = huge;
  odd[2].rank = 0, odd[2].rows = -1, odd[2].row_offsets = shape;
  odd[3].rank = 0, odd[3].row_offsets = below;
  odd[4].type = 9;
  for (int k = 0; k < 5; ++k) {
    status = lehr_program_fit(program, &odd[k], 1, NULL, NULL, NULL, NULL, &fit, &message);
    CHECK(refused(status, message, LEHR_DATA, "x: error: the view does not describe an array"));
  }
  status = lehr_program_fit(program, &data, 1, "{\"max_iter\": -1}", NULL, NULL, NULL, &fit, &message);
  CHECK(refused(status, message, LEHR_USAGE, "max_iter: error: '-1' is not a whole number from 0"));
  status = lehr_program_fit(program, &data, 1, "{\"speed\": 2}", NULL, NULL, NULL, &fit, &message);
  CHECK(refused(status, message, LEHR_USAGE, "speed: error: there is no such option"));
  status = lehr_program_fit(program, &data, 1, "[", NULL, NULL, NULL, &fit, &message);
  CHECK(refused(status, message, LEHR_USAGE, "options: error: not an object of JSON"));
  status = lehr_program_load(program, "no/such/directory", &fit, &message);
  CHECK(refused(status, message, LEHR_DATA, "no such directory") && !fit);
  lehr_program_free(program);
}

static int32_t three_sweeps(void* user, int64_t restart, int64_t iteration, double elbo, double temperature) {
  *(int64_t*)user = iteration;
  return restart == 0 && temperature == 1 && isfinite(elbo) && iteration < 3;
}

static void a_fit_that_is_stopped(void) {
  double x[40];
  const int64_t shape[] = {40};
  const lehr_data data = {"x", x, LEHR_DOUBLE, 1, shape, NULL, 0, NULL};
  int64_t sweeps = 0;
  lehr_program* program = compiled(kMixture);
  lehr_fit *fit = NULL, *further = NULL;
  for (int i = 0; i < 40; ++i)
    x[i] = (i % 2) * 1.5 + i * 0.02;
  CHECK(lehr_program_fit(program, &data, 1, "{\"search\": \"none\"}", NULL, three_sweeps, &sweeps, &fit, NULL) ==
        LEHR_OK);
  CHECK(sweeps == 3);
  CHECK(strstr(lehr_fit_summary(fit), "\"status\":\"interrupted\"") != NULL);
  CHECK(lehr_program_fit(program, &data, 1, "{\"search\": \"none\"}", fit, NULL, NULL, &further, NULL) == LEHR_OK);
  CHECK(strstr(lehr_fit_summary(further), "\"status\":\"converged\"") != NULL);
  lehr_fit_free(fit);
  lehr_fit_free(further);
  lehr_program_free(program);
}

/* Pointers that are missing are reported, and a fit of another model is not taken for one of this. */
static void what_does_not_belong(void) {
  const double x[] = {1, 0, 1};
  const int64_t shape[] = {3};
  const lehr_data data = {"x", x, LEHR_DOUBLE, 1, shape, NULL, 0, NULL};
  lehr_data odd[] = {data, data};
  lehr_program *coin = compiled(kCoin), *mixture = compiled(kMixture), *none = NULL;
  lehr_fit *fit = NULL, *out = NULL;
  lehr_arrays* arrays = NULL;
  char* m = NULL;
  int32_t status = LEHR_OK;
  CHECK(lehr_program_fit(coin, &data, 1, NULL, NULL, NULL, NULL, &fit, NULL) == LEHR_OK);
#define NULL_POINTER(call) status = call, CHECK(refused(status, m, LEHR_USAGE, "is null") && !out && !arrays && !none)
  NULL_POINTER(lehr_compile(NULL, NULL, &none, &m));
  NULL_POINTER(lehr_compile(kCoin, NULL, NULL, &m));
  NULL_POINTER(lehr_program_fit(NULL, &data, 1, NULL, NULL, NULL, NULL, &out, &m));
  NULL_POINTER(lehr_program_fit(coin, &data, 1, NULL, NULL, NULL, NULL, NULL, &m));
  NULL_POINTER(lehr_program_update(coin, NULL, 1, &data, 1, NULL, NULL, NULL, &out, &m));
  NULL_POINTER(lehr_program_load(coin, NULL, &out, &m));
  NULL_POINTER(lehr_program_infer(coin, NULL, &data, 1, &out, &m));
  NULL_POINTER(lehr_program_predict(NULL, fit, &data, 1, NULL, &arrays, &m));
  NULL_POINTER(lehr_program_score(coin, NULL, &data, 1, NULL, &arrays, &m));
  NULL_POINTER(lehr_program_simulate(coin, NULL, 0, NULL, NULL, &m));
  NULL_POINTER(lehr_fit_write(NULL, "nowhere", &m));
  NULL_POINTER(lehr_fit_write(fit, NULL, &m));
  NULL_POINTER(lehr_fit_arrays(fit, NULL, NULL, &arrays, &m));
  status = lehr_program_fit(coin, NULL, 1, NULL, NULL, NULL, NULL, &out, &m);
  CHECK(refused(status, m, LEHR_USAGE, "there are no 1"));
  status = lehr_program_fit(coin, &data, -1, NULL, NULL, NULL, NULL, &out, &m);
  CHECK(refused(status, m, LEHR_USAGE, "there are no -1"));
  odd[0].name = NULL, odd[1].values = NULL;
  for (int k = 0; k < 2; ++k) {
    status = lehr_program_fit(coin, &odd[k], 1, NULL, NULL, NULL, NULL, &out, &m);
    CHECK(refused(status, m, LEHR_DATA, "error: the view"));
  }
  CHECK(*lehr_program_describe(NULL) == 0 && *lehr_fit_summary(NULL) == 0 && lehr_arrays_count(NULL) == 0);
  CHECK(!lehr_arrays_at(NULL, 0).name && !lehr_arrays_find(NULL, "x").values);
  CHECK(lehr_fit_arrays(fit, "posterior", NULL, &arrays, NULL) == LEHR_OK);
  CHECK(!lehr_arrays_at(arrays, -1).name && !lehr_arrays_at(arrays, 2).name && !lehr_arrays_find(arrays, NULL).name);
  lehr_arrays_free(arrays);
  arrays = NULL;
#define OTHER_MODEL(call) \
  status = call, CHECK(refused(status, m, LEHR_DATA, "another model, 'coin'") && !out && !arrays)
  OTHER_MODEL(lehr_program_infer(mixture, fit, &data, 1, &out, &m));
  OTHER_MODEL(lehr_program_predict(mixture, fit, &data, 1, NULL, &arrays, &m));
  OTHER_MODEL(lehr_program_score(mixture, fit, &data, 1, NULL, &arrays, &m));
  OTHER_MODEL(lehr_program_update(mixture, fit, 1, &data, 1, NULL, NULL, NULL, &out, &m));
  lehr_fit_free(fit);
  lehr_program_free(coin);
  lehr_program_free(mixture);
}

int main(void) {
  throws_of_a_coin();
  names();
  warnings();
  refusals();
  what_does_not_belong();
  a_fit_that_is_stopped();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
