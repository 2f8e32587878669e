/* Lehr as a library for C, and for every language that calls C: the same models, fits and numbers as lehr.h.
 *
 *   lehr_program* program;
 *   lehr_fit* fit;
 *   char* message;
 *   if (lehr_compile(text, "{\"constants\": {\"K\": 3}}", &program, &message)) complain(message);
 *   if (lehr_program_fit(program, data, 1, "{\"seed\": 7}", NULL, NULL, NULL, &fit, &message)) complain(message);
 *   puts(lehr_fit_summary(fit));
 *
 * A status is an exit code of the command line. Where it is not LEHR_OK nothing is made, and the message is what the
 * command line would print; a message beside LEHR_OK has warnings. Every message that is not null is freed by the
 * caller with lehr_text_free; `message` itself may be null. Options and settings are objects of JSON, or null: none.
 * Text is UTF-8. Handles belong to who made them and may be used by any number of threads at the same time; what a
 * pointer of a handle shows lives as long as the handle. */
#ifndef LEHR_C_H
#define LEHR_C_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEHR_OK = 0, LEHR_INTERNAL = 1, LEHR_USAGE = 2, LEHR_MODEL = 3, LEHR_DATA = 4, LEHR_NUMERICAL = 5 };
enum { LEHR_DOUBLE = 0, LEHR_FLOAT = 1, LEHR_INT64 = 2, LEHR_INT32 = 3, LEHR_TEXT = 4 };

typedef struct lehr_program lehr_program; /* a model that is well */
typedef struct lehr_fit lehr_fit;
typedef struct lehr_arrays lehr_arrays; /* arrays with names */

/* An array of the caller's, read where it is, until the call returns. NaN where a value is missing; elements of a plate
 * count from 0, or from where the model says (`plate g from 1;`), or have names: of LEHR_TEXT the values are pointers
 * to text, null where it is missing. */
typedef struct {
  const char* name; /* as in the model */
  const void* values;
  int32_t type;               /* LEHR_DOUBLE ... */
  int32_t rank;               /* of shape and strides */
  const int64_t* shape;       /* plates in the model's order, then event axes */
  const int64_t* strides;     /* in elements, none negative; null: row-major */
  int64_t rows;               /* ragged: how many; `rank` is 0 */
  const int64_t* row_offsets; /* ragged: row i is values[row_offsets[i]] .. values[row_offsets[i + 1] - 1] */
} lehr_data;

/* Row-major. */
typedef struct {
  const char* name;
  const double* values;
  int32_t rank;
  int32_t integer; /* every value is whole */
  const int64_t* shape;
  const char* const* axes; /* the plate of each axis; null where it is not told */
} lehr_array;

/* Called after every sweep, by the thread that fits; 0 ends the fit, which then has what was found by then. */
typedef int32_t (*lehr_on_sweep)(void* user, int64_t restart, int64_t iteration, double elbo, double temperature);

const char* lehr_version(void);

/* Parses, checks and derives the text of a model. Settings: "name" of the source in messages, "constants" and "sizes"
 * (numbers by name), "labels" (lists of text by plate). */
int32_t lehr_compile(const char* text, const char* settings, lehr_program** program, char** message);
/* JSON: "model", "data" and "variables" (each with "name", "axes", "event", of data "observed"), "plates" (each with
 * "name", where there are any "parent" and "times", "ordered"). Axes are those of arrays. */
const char* lehr_program_describe(const lehr_program* program);

/* Options have the names of those of `lehr fit` with '_' for '-' ("max_iter", "seed", "anneal", "save_locals", ...),
 * and its values. `from`: a fit whose factors are the start; may be null, as may on_sweep. */
int32_t lehr_program_fit(const lehr_program* program, const lehr_data* data, int64_t count, const char* options,
                         const lehr_fit* from, lehr_on_sweep on_sweep, void* user, lehr_fit** fit, char** message);
/* `lehr update`: the same with the posterior of a fit as the prior, to the power `forget`, in (0, 1]. */
int32_t lehr_program_update(const lehr_program* program, const lehr_fit* prior, double forget, const lehr_data* data,
                            int64_t count, const char* options, lehr_on_sweep on_sweep, void* user, lehr_fit** fit,
                            char** message);
/* The directory of a fit of this model, as `lehr fit` writes it. Not of one by sampling. */
int32_t lehr_program_load(const lehr_program* program, const char* directory, lehr_fit** fit, char** message);
/* The factors of new items with the global ones as they are. */
int32_t lehr_program_infer(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                           lehr_fit** inferred, char** message);
/* `lehr predict`. Options: "draws", "seed", "local_iters", "local_tol", "sizes" (elements by plate; as text, "+5": so
 * many more) and "more" (the same as numbers). */
int32_t lehr_program_predict(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                             const char* options, lehr_arrays** predictions, char** message);
/* `lehr score`: the arrays "total" (nats), "observations", and of a chain "sequences". Options: "holdout", "seed". */
int32_t lehr_program_score(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                           const char* options, lehr_arrays** score, char** message);
/* `lehr simulate`: a draw of everything. Latent variables among the data keep their values. Options: "seed", "sizes".
 */
int32_t lehr_program_simulate(const lehr_program* program, const lehr_data* data, int64_t count, const char* options,
                              lehr_arrays** drawn, char** message);

/* JSON: what fit.json says (docs/fitting.md), and "warnings" and "failure". */
const char* lehr_fit_summary(const lehr_fit* fit);
/* The directory that `lehr fit` would have written. Not of a fit by sampling. */
int32_t lehr_fit_write(const lehr_fit* fit, const char* directory, char** message);
/* What is known of a fit: "posterior", the parameters of the factors by the names of posterior.npz; "numbers",
 * "VARIABLE.mean", ".sd", ".q5", ".q50", ".q95" as `lehr show` has them; "trace", columns of trace.csv; "draws", as
 * `lehr draws` has them, with the options "draws" and "seed". */
int32_t lehr_fit_arrays(const lehr_fit* fit, const char* what, const char* options, lehr_arrays** arrays,
                        char** message);

int64_t lehr_arrays_count(const lehr_arrays* arrays);
/* The array at a position, or of a name; its `name` and `values` are null where there is none. */
lehr_array lehr_arrays_at(const lehr_arrays* arrays, int64_t position);
lehr_array lehr_arrays_find(const lehr_arrays* arrays, const char* name);

/* Null is freed, too. */
void lehr_program_free(lehr_program* program);
void lehr_fit_free(lehr_fit* fit);
void lehr_arrays_free(lehr_arrays* arrays);
void lehr_text_free(char* text);

#ifdef __cplusplus
}
#endif
#endif
