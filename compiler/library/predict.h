/* Predictions and scores for programs with built objects (`lehr build`), from the factors of a state: the results of
   `lehr predict` and `lehr score`. Link the library (-llehr, docs/library.md) beside the object. Include this header
   before that of the object, which then has both functions for its own structs:

     const kidiq_data fresh = {.n = 3, .x = x};      y is null: it is to be predicted
     lehr_arrays* predictions;
     char* message;
     int32_t status = kidiq_predict(state, &fresh, NULL, &predictions, &message);
     if (status == KIDIQ_OK) use(lehr_arrays_find(predictions, "y.mean").values);
     else fprintf(stderr, "%s\n", message ? message : kidiq_error(status));
     lehr_text_free(message);
     lehr_arrays_free(predictions);

   The object contains the text of its model, so no file is read, no code is generated, and the state is not changed.
   The code of the object infers the factors of new items where it fits the data. Otherwise (missing values for which
   it was not built, plates that are longer than they were) the same program is interpreted, which is slower. Every call
   parses the model again and allocates memory. It runs on the calling thread. */
#ifndef LEHR_PREDICT_H
#define LEHR_PREDICT_H
#include "lehr_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Predicts missing values of `data` from the factors in `state`.

   `model` is NAME_model(). `data` is a NAME_data in which arrays may be null: all their values are missing. In the
   others NaN is missing, and -1 among elements of a plate. Row offsets must not be null. Items need not fit into the
   state.

   Stores in `*predictions` the arrays "x.mean", "x.sd", "x.q5", "x.q50", "x.q95" and "x.mcse" (the Monte Carlo standard
   error of the mean; 0: it is exact) of what is missing of x, over the axes of x, and the same of local variables and
   `let`s of numbers; "z.probability", "z.most_probable" and, of chains, "z.path" of categories; NaN (-1) where x was
   given. In the units of the data. Options are an object of JSON, or null: "draws", "seed", "local_iters", "local_tol"
   as of `lehr predict`; "sizes", numbers of elements by plate: "{\"sizes\": {\"year\": \"+5\"}}" is a forecast of five
   more.

   Returns 0 or a status of NAME_error: NULL, STATE, NOT_STARTED, SIZE (an item count), OFFSETS, DATA (also: nothing is
   missing, an observation depends on what the fit has not seen), ARGUMENT (options), SHORT (memory), NOT_FINITE, ABI
   (object and library are of different versions), LIBRARY (the model has no prediction). If NAME_error does not say
   enough, `*message` does; free it with lehr_text_free(). `message` may be null. After a failure `*predictions` is
   null. */
int32_t lehr_predict(const void* model, void* state, const void* data, const char* options, lehr_arrays** predictions,
                     char** message);

/* Computes the log predictive density of `data`, as `lehr score` does: "total" (nats), "observations", and for chains
   "sequences". Global parameters are fixed at their means; NAME_score is a lower bound that averages over them.
   Options: "holdout", "seed", "per" as of lehr_program_score(). Errors are those of lehr_predict(); ARGUMENT also if
   the model has no score. */
int32_t lehr_score(const void* model, void* state, const void* data, const char* options, lehr_arrays** score,
                   char** message);

#ifdef __cplusplus
}
#endif
#endif
