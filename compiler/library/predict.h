/* What `lehr predict` and `lehr score` say, in programs with built objects: from the factors of a state. Link the
   library (-llehr, docs/library.md) beside the object, and include this before the header of the object, which then
   has both functions for its own structures:

     const kidiq_data fresh = {.n = 3, .x = x};      y is null: it is to be predicted
     lehr_arrays* predictions;
     char* message;
     int32_t status = kidiq_predict(state, &fresh, NULL, &predictions, &message);
     if (status == KIDIQ_OK) use(lehr_arrays_find(predictions, "y.mean").values);
     else fprintf(stderr, "%s\n", message ? message : kidiq_error(status));
     lehr_text_free(message);
     lehr_arrays_free(predictions);

   The object says what it was built from, so that no file is read, nothing is compiled, and the state is left alone.
   The factors of new items are inferred by the code of the object where it is the code for these data; elsewhere
   (missing values that it was not built for, plates that are longer than they were) the same program is interpreted,
   which is slower. Every call reads the model anew. Memory is allocated; a call works on the thread that makes it. */
#ifndef LEHR_PREDICT_H
#define LEHR_PREDICT_H
#include "lehr_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `model` is NAME_model(), `data` a NAME_data of which arrays may be null: what is not known, as NaN is in the others,
   and -1 among elements of a plate. Offsets of rows are not null. Items need not fit into the state.

   Gives arrays "x.mean", "x.sd", "x.q5", "x.q50", "x.q95" and "x.mcse" (the Monte Carlo standard error of the mean; 0:
   it is exact) of what is missing of x, over the axes of x, and the same of local variables and `let`s of numbers;
   "z.probability", "z.most_probable" and, of chains, "z.path" of categories; NaN (-1) where x was given. In the units
   of the data. Options are an object of JSON, or null: "draws", "seed", "local_iters", "local_tol" as of `lehr
   predict`; "sizes", numbers of elements by plate: "{\"sizes\": {\"year\": \"+5\"}}" is a forecast of five more.

   Returns a status of NAME_error: NULL, STATE, NOT_STARTED, SIZE (an item count), OFFSETS, DATA (also: nothing is
   missing, an observation depends on what the fit has not seen), ARGUMENT (options), SHORT (memory), NOT_FINITE, ABI
   (object and library are of different versions), LIBRARY (the model has no prediction). Where NAME_error does not say
   enough there is a `message`, freed by lehr_text_free; it may be null itself. Without success there are no arrays. */
int32_t lehr_predict(const void* model, void* state, const void* data, const char* options, lehr_arrays** predictions,
                     char** message);

/* The log predictive density of data, as `lehr score` has it: "total" (nats), "observations", and of chains
   "sequences". Global parameters stand at their means; NAME_score is a bound, with their distributions. Options:
   "holdout", "seed". The same errors; ARGUMENT also where the model has no score. */
int32_t lehr_score(const void* model, void* state, const void* data, const char* options, lehr_arrays** score,
                   char** message);

#ifdef __cplusplus
}
#endif
#endif
