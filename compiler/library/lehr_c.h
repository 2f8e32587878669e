/* Lehr as a library for C, and for every language that calls C: the same models, fits and numbers as lehr.h.
 *
 *   lehr_program* program;
 *   lehr_fit* fit;
 *   char* message;
 *   if (lehr_compile(text, "{\"constants\": {\"K\": 3}}", &program, &message)) complain(message);
 *   if (lehr_program_fit(program, data, 1, "{\"seed\": 7}", NULL, NULL, NULL, &fit, &message)) complain(message);
 *   puts(lehr_fit_summary(fit));
 *
 * Functions that can fail return a status, which is an exit code of the command line. If it is not LEHR_OK, no object
 * is made, and `*message` is the text that the command line would print. A message with LEHR_OK contains warnings. The
 * caller frees every message that is not null with lehr_text_free(); `message` itself may be null.
 *
 * Options and settings are JSON objects, or null for none. Text is UTF-8. The caller owns the objects and frees them.
 * Any number of threads may use one object at the same time. Pointers that an object returns live as long as it. */
#ifndef LEHR_C_H
#define LEHR_C_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status codes: success; a bug or a failing system; wrong arguments or options; a wrong model; wrong data; arithmetic
 * that failed. */
enum { LEHR_OK = 0, LEHR_INTERNAL = 1, LEHR_USAGE = 2, LEHR_MODEL = 3, LEHR_DATA = 4, LEHR_NUMERICAL = 5 };
/* Types of the values of a lehr_data: numbers, or pointers to text. */
enum { LEHR_DOUBLE = 0, LEHR_FLOAT = 1, LEHR_INT64 = 2, LEHR_INT32 = 3, LEHR_TEXT = 4 };

/* A compiled model without errors, made by lehr_compile(). */
typedef struct lehr_program lehr_program;
/* The result of a fit, an update or an inference, or a fit that was read from its directory. */
typedef struct lehr_fit lehr_fit;
/* The fits of many data sets, made by lehr_program_fit_many(): a fit or an error for each. */
typedef struct lehr_fits lehr_fits;
/* A list of named arrays of numbers: predictions, a score, draws, or arrays of a fit. */
typedef struct lehr_arrays lehr_arrays;

/* An array in the caller's memory. It is read in place and must live until the call returns.
 *
 * Missing numbers are NaN. Elements of a plate are given by their numbers, from 0 or from where the model says (`plate
 * g from 1;`), or by their names. With LEHR_TEXT, values are pointers to text, null where it is missing. */
typedef struct {
  const char* name;           /* of the variable in the model */
  const void* values;         /* the first element */
  int32_t type;               /* LEHR_DOUBLE, ... */
  int32_t rank;               /* number of axes: length of shape and strides */
  const int64_t* shape;       /* extents: plates in the order of the model, then event axes */
  const int64_t* strides;     /* in elements, not negative; null: row-major */
  int64_t rows;               /* ragged: number of rows; `rank` is 0 */
  const int64_t* row_offsets; /* ragged: row i is values[row_offsets[i]] .. values[row_offsets[i + 1] - 1] */
} lehr_data;

/* An array of a result, row-major: an element of a lehr_arrays, whose memory it points to. */
typedef struct {
  const char* name;        /* such as "mu.mean" */
  const double* values;    /* all elements */
  int32_t rank;            /* number of axes */
  int32_t integer;         /* 1 if every value is whole */
  const int64_t* shape;    /* extents */
  const char* const* axes; /* the plate of each axis, or "chain" and "draw"; null if unknown, or without axes */
} lehr_array;

/* A callback after every sweep, step of svi or draw of exact sampling, on the thread that fits. Returning 0 ends the
 * fit, which then has what was found so far. `user` is the pointer given to the function that fits. `elbo` is in nats,
 * NaN if the sweep did not compute it; samplers have the log joint density in its place. */
typedef int32_t (*lehr_on_sweep)(void* user, int64_t restart, int64_t iteration, double elbo, double temperature);

/* Returns the version of the linked library, such as "0.1.0". */
const char* lehr_version(void);

/* Parses and checks the text of a model, derives its updates, and stores the program in `*program`. Settings: "name" of
 * the source in messages, "constants" and "sizes" (numbers by name), "labels" (lists of text by plate). */
int32_t lehr_compile(const char* text, const char* settings, lehr_program** program, char** message);
/* Returns a description of the model as JSON: "model" (its name), "data" and "variables" (each with "name", "axes",
 * "event"; data also "observed"; a category among observed or latent variables also "values", the plate of its values),
 * and "plates" (each with "name", "ordered", and if it has them "parent" and "times"). Axes are those of arrays. An
 * empty text if `program` is null. */
const char* lehr_program_describe(const lehr_program* program);

/* Fits the model to `count` arrays of data and stores the fit in `*fit`. Options have the names of those of `lehr fit`
 * with '_' for '-' ("max_iter", "seed", "anneal", "save_locals", ...), and the same values. `from` is a fit whose
 * factors are the start. `from` and `on_sweep` may be null. A fit whose arithmetic fails on the way is stored, too: its
 * summary has the "failure". */
int32_t lehr_program_fit(const lehr_program* program, const lehr_data* data, int64_t count, const char* options,
                         const lehr_fit* from, lehr_on_sweep on_sweep, void* user, lehr_fit** fit, char** message);
/* A callback of lehr_program_fit_many(), on the calling thread, at most once in 50 ms. Returning 0 ends all fits. */
typedef int32_t (*lehr_goes_on)(void* user);
/* Fits the model to many data sets, several at a time on as many threads as the option "threads" says (0: all); what is
 * compiled for one serves the others. Data set k has the next `counts[k]` of the arrays in `data`. Options and `from`
 * are those of lehr_program_fit(), and so is each result. A data set that cannot be fitted is no error of the call. */
int32_t lehr_program_fit_many(const lehr_program* program, const lehr_data* data, const int64_t* counts,
                              int64_t datasets, const char* options, const lehr_fit* from, lehr_goes_on goes_on,
                              void* user, lehr_fits** fits, char** message);
/* Stores the fit of a data set, from 0, in `*fit`; the caller frees it. If it has none, the status and the message are
 * those of its error. */
int32_t lehr_fits_at(const lehr_fits* fits, int64_t position, lehr_fit** fit, char** message);
/* Stores a table of all fits in `*table`, an array over the data sets for each column: "status" (0: converged, 1:
 * max_iter, 2: numerical_failure, 3: interrupted, 4: no fit), "elbo", "sweeps", "warnings" (their number), and then
 * "NAME.mean" and "NAME.sd" of every number of the posterior, such as "a" or "w[2]", but of no variable with more than
 * 32 numbers. Entries that do not exist are NaN. */
int32_t lehr_fits_table(const lehr_fits* fits, lehr_arrays** table, char** message);
/* Frees the results of many fits; null is allowed. Fits from lehr_fits_at() live on. */
void lehr_fits_free(lehr_fits* fits);

/* Updates a fit with new data, as `lehr update` does, and stores the new fit in `*fit`: the posterior of the fit
 * `prior`, to the power `forget` in (0, 1], is the prior. Options and callback are those of lehr_program_fit(). */
int32_t lehr_program_update(const lehr_program* program, const lehr_fit* prior, double forget, const lehr_data* data,
                            int64_t count, const char* options, lehr_on_sweep on_sweep, void* user, lehr_fit** fit,
                            char** message);
/* Reads a fit of this model from a directory that `lehr fit` or lehr_fit_write() wrote, and stores it in `*fit`. Fits
 * by sampling are refused. */
int32_t lehr_program_load(const lehr_program* program, const char* directory, lehr_fit** fit, char** message);
/* Infers the factors of new items (the topics of new documents), with the global factors of `fit` unchanged, and stores
 * a fit with all factors in `*inferred`. */
int32_t lehr_program_infer(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                           lehr_fit** inferred, char** message);
/* Predicts what is missing in the data, as `lehr predict` does, and stores arrays such as "x.mean", "x.sd", "x.q5" and
 * "z.probability" in `*predictions` (predict.h lists them). A warning is of numbers that leave their range. Options:
 * "draws", "seed", "local_iters", "local_tol", "sizes" (numbers of elements by plate; the text "+5" means 5 more than
 * there are) and "more" (such further elements as numbers). */
int32_t lehr_program_predict(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                             const char* options, lehr_arrays** predictions, char** message);
/* Computes the log predictive density of data, as `lehr score` does, and stores in `*score` the arrays "total" (nats),
 * "observations", and for a chain "sequences". Options: "holdout", "seed"; "per": "item" adds "items", the density of
 * each item, and "item_observations". */
int32_t lehr_program_score(const lehr_program* program, const lehr_fit* fit, const lehr_data* data, int64_t count,
                           const char* options, lehr_arrays** score, char** message);
/* Draws all variables from the model, as `lehr simulate` does, and stores them in `*drawn`. Latent variables among the
 * data keep their values. The warnings are those of `lehr simulate`, a line each. Options: "seed", "sizes". */
int32_t lehr_program_simulate(const lehr_program* program, const lehr_data* data, int64_t count, const char* options,
                              lehr_arrays** drawn, char** message);

/* Returns the contents of fit.json (docs/output.md) as JSON, with "warnings", a list of texts, and "failure", which is
 * empty unless the fit failed. An empty text if `fit` is null. */
const char* lehr_fit_summary(const lehr_fit* fit);
/* Writes the directory that `lehr fit` would have written. Fits by sampling are refused. */
int32_t lehr_fit_write(const lehr_fit* fit, const char* directory, char** message);
/* Stores arrays of a fit in `*arrays`. `what` selects them: "posterior", the parameters of the factors, named as in
 * posterior.npz; "numbers", the "VARIABLE.mean", ".sd", ".q5", ".q50", ".q95" that `lehr show` prints, and of vectors
 * with linear response ".covariance"; "trace", the columns of trace.csv; "draws", as `lehr draws` makes them, with the
 * options "draws" and "seed" (of a fit by sampling: all its draws). */
int32_t lehr_fit_arrays(const lehr_fit* fit, const char* what, const char* options, lehr_arrays** arrays,
                        char** message);

/* Returns the number of arrays in the list; 0 for null. */
int64_t lehr_arrays_count(const lehr_arrays* arrays);
/* Returns the array at a position, from 0. Its `name` and `values` are null if there is none. */
lehr_array lehr_arrays_at(const lehr_arrays* arrays, int64_t position);
/* Returns the array of that name. Its `name` and `values` are null if there is none. */
lehr_array lehr_arrays_find(const lehr_arrays* arrays, const char* name);

/* Frees a program; null is allowed. */
void lehr_program_free(lehr_program* program);
/* Frees a fit; null is allowed. */
void lehr_fit_free(lehr_fit* fit);
/* Frees a list of arrays, and with it the arrays that it returned; null is allowed. */
void lehr_arrays_free(lehr_arrays* arrays);
/* Frees a message that a call has stored in `*message`; null is allowed. */
void lehr_text_free(char* text);

#ifdef __cplusplus
}
#endif
#endif
