// Writes the C header of a built model, from text templates. In a template {name}, {NAME} and others are replaced; {{
// and }} stand for braces. Comments of the header are its documentation for C programmers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/embedding/c_names.h"
#include "compiler/embedding/embedding.h"

namespace lehr {
namespace {

/// Wraps text at 110 columns; lines begin with `first` and `next`.
std::string wrapped(const std::string& text, const std::string& first, const std::string& next) {
  constexpr std::size_t kColumns = 110;
  std::string out = first, line;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && next.size() + line.size() + word.size() > kColumns) {
      out += line + "\n" + next;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out + line;
}

/// Formats text as a block comment.
std::string comment(const std::string& text) { return wrapped(text, "/* ", "   ") + " */\n"; }

/// Formats a member of a struct with its comment.
std::string member(const EmbeddedField& f) {
  return fmt::format(
      "  {} {};{}\n", f.type, f.name,
      wrapped(fmt::format("{}{}{}", f.shape, f.shape.empty() || f.meaning.empty() ? "" : ": ", f.meaning), "  /* ",
              "      ") +
          " */");
}

/// The opening comment.
constexpr const char* kIntroduction = R"(/* {kind} in the model `{name}`. {built}

   The memory is the caller's: {name}_state_bytes says how much a state needs, and there is no allocation, no global
   variable, no input or output. A state belongs to one thread at a time; any number of states may be at work at once.
   A state must not be moved or copied as bytes: save it and load it elsewhere.

   Functions return a status: 0 when well, otherwise one of the codes below, for which {name}_error has a sentence.
   Where data are passed, null stands for those of the call before, unchanged: nothing is checked or prepared again.
   Data are read where they are and kept by address until others are given; arrays are row-major, without gaps.
   Elements of nested plates stand end to end, row after row. Indices are 0-based. Energies and bounds are in nats.
   A step that fails leaves factors of no meaning: load a saved state, or begin again. */
)";

/// The enumeration of status codes.
constexpr const char* kStatuses = R"(
/* Status codes. From 100: a factor that is not proper; from 10000: a data matrix that is not positive definite. */
enum {{
  {NAME}_OK = 0,
  {NAME}_ERROR_NULL = 1,         /* a pointer is null */
  {NAME}_ERROR_ABI = 2,          /* the header is not that of this object: {name}_sizes.abi differs */
  {NAME}_ERROR_SIZE = 3,         /* a size that is not positive, too small for the model, or too large */
  {NAME}_ERROR_SHORT = 4,        /* less memory than needed */
  {NAME}_ERROR_STATE = 5,        /* not a state of this model, or one that was moved */
  {NAME}_ERROR_DATA = 6,         /* a value outside its domain, NaN and infinity included */
  {NAME}_ERROR_OFFSETS = 7,      /* row offsets that do not start at 0, fall, or do not fit */
  {NAME}_ERROR_ARGUMENT = 8,     /* a temperature, step or count outside its range */
  {NAME}_ERROR_NO_DATA = 9,      /* no data were given yet */
  {NAME}_ERROR_NOT_STARTED = 10, /* init had no data, and nothing was loaded */
  {NAME}_ERROR_NOT_SWEPT = 11,   /* nothing was inferred yet from the present data and factors */
  {NAME}_ERROR_NO_BATCHES = 12,  /* not for this model */
  {NAME}_ERROR_TRUNCATED = 13,   /* a saved state that ends too early */
  {NAME}_ERROR_ALTERED = 14,     /* a saved state whose checksum is wrong, or no saved state */
  {NAME}_ERROR_OTHER_MODEL = 15, /* a saved state of another model, or of other settings or another version */
  {NAME}_ERROR_NOT_FINITE = 16,  /* the bound is not finite */
  {NAME}_ERROR_NO_SWEEP = 17,    /* no {name}_step_begin, or no {name}_step_next after it */
  {NAME}_ERROR_LIBRARY = 18      /* the library has no prediction or score of this model; its message says why */
}};
)";

/// Functions that make a state.
constexpr const char* kLife = R"(
/* A number that is {NAME}_ABI when this header belongs to the object that is linked. */
uint64_t {name}_abi(void);

/* Bytes of a state for these sizes; 0 when the sizes are wrong (see ERROR_ABI, ERROR_SIZE). Any alignment will do. */
size_t {name}_state_bytes(const {name}_sizes* sizes);

/* Makes a state in `memory` and starts it at random: the same seed and data give the same bits. Groups that look alike
   are told apart by a few items drawn from `data`. Without data (null) the state has no factors until one is loaded.
   Errors: NULL, ABI, SIZE, SHORT, DATA, OFFSETS, and statuses of the model. */
int32_t {name}_init(void* memory, size_t bytes, const {name}_sizes* sizes, const {name}_data* data, uint64_t seed);

/* The sentence of a status. Never null. */
const char* {name}_error(int32_t status);
)";

/// The function that sets the accuracy of local updates.
constexpr const char* kAccuracy = R"(
/* How well the factors of one item are fitted to each other in a sweep: at most `iterations` passes (100 at first), until
   they move by less than `tolerance` of their size (1e-4 at first). Errors: STATE, ARGUMENT. */
int32_t {name}_set_accuracy(void* state, int64_t iterations, double tolerance);
)";

/// Functions of an object that samples.
constexpr const char* kGibbs = R"(
/* One sweep of Gibbs sampling: every variable in turn takes a draw from its complete conditional. The random numbers are
   a function of seed, chain and `sweep`, which counts from 0: the same of them give the same bits, and a chain that was
   saved goes on with the numbers it would have had. `inverse_temperature` multiplies the log density of the data and of their own
   variables: 1 samples the posterior.
   Errors: STATE, SIZE, DATA, OFFSETS, NO_DATA, NOT_STARTED, ARGUMENT (not positive; sweep below 0), and statuses of the
   model. */
int32_t {name}_gibbs_step(void* state, const {name}_data* data, uint64_t seed, uint64_t chain, int64_t sweep,
{space}                   double inverse_temperature);

/* The draw that the state holds: the numbers of every variable, in the order of the functions below, categories by their
   position. `count` is that of {name}_draw_count (0: not a state). Errors: STATE, NULL, SIZE, NOT_SWEPT. */
size_t {name}_draw_count(void* state);
int32_t {name}_draw(void* state, double* values, size_t count);

/* The log joint density of the data and the draw{elbo_notes}. Errors: STATE, NULL, NOT_SWEPT, NOT_FINITE. */
int32_t {name}_log_joint(void* state, double* nats);

/* Of it, the log density of the data and of their own variables. */
int32_t {name}_data_energy(void* state, double* nats);
)";

/// Functions of variational inference.
constexpr const char* kSteps = R"(
/* One sweep of coordinate ascent. `inverse_temperature` multiplies the log density of the data and of their own
   variables: 1 is plain inference, values rising to 1 anneal it, E[1/T] of {name}_temper tempers it.
   Errors: STATE, SIZE, DATA, OFFSETS, NO_DATA, NOT_STARTED, ARGUMENT (not positive), and statuses of the model. */
int32_t {name}_step(void* state, const {name}_data* data, double inverse_temperature);

/* The same with the temperature on the entropies of all factors (deterministic annealing): every factor becomes
   proportional to the power `inverse_temperature` of what it would be. */
int32_t {name}_entropy_step(void* state, const {name}_data* data, double inverse_temperature);

/* Fits the factors of the items of `data`, each from its prior, and leaves all others as they are: the posterior of what
   was not seen before. Errors: as {name}_step. */
int32_t {name}_infer(void* state, const {name}_data* data);

/* For lehr_search (lehr/search.h, liblehr_search.a), which finds the best of many starts, and lehr_predict
   (lehr/predict.h, liblehr): the tables of this object, and the text of the model and of its settings. */
const void* {name}_model(void);
)";

/// Wrappers of the functions in predict.h.
constexpr const char* kPredictions = R"(
#ifdef LEHR_PREDICT_H
/* lehr_predict and lehr_score for this model: what is null in `data`, or missing, is predicted. */
static inline int32_t {name}_predict(void* state, const {name}_data* data, const char* options,
{space}                              lehr_arrays** predictions, char** message) {{
  return lehr_predict({name}_model(), state, data, options, predictions, message);
}}
static inline int32_t {name}_log_predictive(void* state, const {name}_data* data, const char* options,
{space}                                     lehr_arrays** score, char** message) {{
  return lehr_score({name}_model(), state, data, options, score, message);
}}
#endif
)";

/// Functions for a sweep on several threads.
constexpr const char* kRanges = R"(
/* {name}_step in pieces, so that threads of the caller's work on the items:

     {name}_step_begin(state, data, inverse_temperature)
     while {name}_step_next(state, &items) is 0 and items > 0:
       for each range of items, in any threads:  {name}_step_items(state, range, bytes, from, to)
       for each range, in one thread at a time:  {name}_step_add(state, range)

   step_next makes what comes before the next items and gives their number: 0 when the sweep is done. There may be items
   more than once in a sweep, and of some models there are none. step_items updates the items from, ..., to - 1 alone, and
   leaves in `range` what they add up to: memory of {name}_range_bytes (0: not a state), prepared by nobody. step_add adds
   it to the state. Ranges must not overlap, and step_next refuses to go on before all items were added.
   The numbers depend on the ranges, and on the order in which they are added, by their rounding; on when and where they
   are worked on, not at all. One range gives the bits of {name}_step.
   Errors of step_begin: as {name}_step. Of the others: NULL, STATE, NO_SWEEP, SHORT, ARGUMENT (from and to; a range that was
   added, or was made for other items; items that are left), and statuses of the model. */
int32_t {name}_step_begin(void* state, const {name}_data* data, double inverse_temperature);
int32_t {name}_step_next(void* state, int64_t* items);
size_t {name}_range_bytes(void* state);
int32_t {name}_step_items(void* state, void* range, size_t bytes, int64_t from, int64_t to);
int32_t {name}_step_add(void* state, void* range);
)";

/// The function for a minibatch.
constexpr const char* kBatchStep = R"(
/* One step of stochastic inference: infers the items of `batch`, lets them stand for `total_items` elements of {batch},
   and takes the natural-gradient step `rho` (0 < rho <= 1; usually (tau0 + t)^-kappa). The memory does not grow with the
   number of batches. The batch is prepared anew in every call that passes it.
   Errors: as {name}_step; ARGUMENT also for total_items below the size of the batch. */
int32_t {name}_svi_step(void* state, const {name}_data* batch, int64_t total_items, double rho,
{space}                 double inverse_temperature);
)";

/// The comment in the headers of models without minibatches.
constexpr const char* kNoBatches = R"(
/* There is no {name}_svi_step: something outside the items visits the data one by one, or items depend on those before
   them, so that a minibatch cannot stand for all. */
)";

/// Functions for the ELBO, scores and variational tempering.
constexpr const char* kValues = R"(
/* The evidence lower bound after the last step, at temperature 1, with all constants{elbo_notes}. After a step on a
   minibatch it is an estimate from that batch. Errors: STATE, NULL, NOT_SWEPT, NOT_FINITE. */
int32_t {name}_elbo(void* state, double* nats);

/* Of it, the expected log density of the data and of their own variables: the energy that {name}_temper takes. */
int32_t {name}_data_energy(void* state, double* nats);

/* Infers as {name}_infer, and gives a lower bound of the log predictive density of `data` under the other factors:
   E[log p(data, their variables)] + the entropy of their factors. Errors: as {name}_step, NOT_FINITE. */
int32_t {name}_score(void* state, const {name}_data* data, double* nats);

/* Variational tempering: the factor of a temperature on a grid, r_m proportional to exp(energy / T_m - log C(T_m)), and
   its mean inverse temperature, for the next step. `log_normalisers[levels]`: log of the integral of the data's density
   to the power 1 / T_m. `posterior[levels]` receives r, or is null. Errors: NULL, ARGUMENT. */
int32_t {name}_temper(const double* temperatures, const double* log_normalisers, int64_t levels, double energy,
{space}               double* posterior, double* inverse_temperature);
)";

/// The function for a temperature for every item.
constexpr const char* kItemEnergies = R"(
/* A temperature for every item: the terms of each are multiplied by its `inverse_temperature`, which comes with the data;
   pass the data again when it changes. This sweeps the items and writes the energy of each to `nats[count]`, at temperature
   1: what {name}_temper takes to find the next one. The bound is then that of the weighted terms.
   Errors: as {name}_step; NULL, SIZE (count is not the number of items). */
int32_t {name}_item_energies(void* state, const {name}_data* data, double* nats, size_t count);
)";

/// The function that makes the posterior the prior.
constexpr const char* kUpdate = R"(
/* The posterior so far becomes the prior of `data`, which are those of the next calls: each factor outside the items the
   distribution that its variable is drawn from, in place of the statement of the model. Of it, the power `keep` is kept
   (its natural parameters times keep; 0 < keep <= 1): below 1, what was seen before is forgotten little by little. The
   factors stay where they are, those of the items begin anew. The bound is from then on that of the data since, given
   those before. The prior is saved and loaded with the factors.
   Where too little is kept for a factor to be proper (a status of the model), the factors are as they were: another call
   can keep more. Refused arguments and data change neither the factors nor the prior.
   Errors: NULL (data too), STATE, SIZE, DATA, OFFSETS, NOT_STARTED, ARGUMENT, and statuses of the model. */
int32_t {name}_update(void* state, const {name}_data* data, double keep);
)";

/// Functions that save and load the factors.
constexpr const char* kSaving = R"(
/* The factors in a buffer of the caller's, of {name}_saved_bytes (0: not a state), readable on other machines with the
   same byte order by objects built from the same model with the same settings. Errors: NULL, STATE, SHORT, NOT_STARTED. */
size_t {name}_saved_bytes(void* state);
int32_t {name}_save(void* state, void* saved, size_t bytes);

/* Takes the factors of a saved state. Those of the items are taken along where the state has room for them; without, what
   is not of the items is. Data must be given with the next step.
   Errors: NULL, STATE, TRUNCATED, ALTERED, OTHER_MODEL, SIZE (a size that is no number of items differs); the state is
   then as it was. */
int32_t {name}_load(void* state, const void* saved, size_t bytes);
)";

/// Replaces the placeholders of a template.
std::string filled(std::string text, const Embedding& e, const std::string& built = {}) {
  const std::string elbo_notes =
      e.elbo_notes.empty() ? "" : fmt::format(" ({})", fmt::join(texts_of(e.elbo_notes), "; "));
  const auto replace = [&](const std::string& placeholder, const std::string& by) {
    for (std::size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + by.size()))
      text.replace(at, placeholder.size(), by);
  };
  replace("{name}", e.name);
  replace("{NAME}", upper_case(e.name));
  replace("{built}", built);
  replace("{kind}", e.draws ? "Gibbs sampling" : "Variational inference");
  replace("{batch}", e.batch);
  replace("{elbo_notes}", elbo_notes);
  replace("{space}", std::string(e.name.size(), ' '));
  replace("{{", "{");
  replace("}}", "}");
  return text;
}

/// Formats the macros and the structs of sizes and data.
std::string structures(const Embedding& e) {
  const std::string name = e.name;
  std::string out = fmt::format("#define {}_ABI UINT64_C(0x{:016x})\n", upper_case(name), e.abi);
  if (!e.constants.empty()) out += "\n/* Sizes that are constants of this object. */\n";
  for (const auto& [macro, size] : e.constants)
    out += fmt::format("#define {} {}\n", macro, size);
  out += fmt::format("\n/* The capacity of a state. */\ntypedef struct {0}_sizes {{\n  uint64_t abi;  /* {1}_ABI */\n",
                     name, upper_case(name));
  for (const EmbeddedField& f : e.sizes)
    out += member(f);
  out += fmt::format("}} {0}_sizes;\n\n/* A data set. */\ntypedef struct {0}_data {{\n", name);
  for (const EmbeddedField& f : e.data)
    out += member(f);
  if (e.data.empty()) out += "  int64_t none;  /* the model reads no data */\n";
  return out + fmt::format("}} {}_data;\n", name);
}

/// Formats a get and a set function for each parameter.
std::string accessors(const Embedding& e) {
  std::string out = "\n";
  out +=
      comment(fmt::format("The posterior, parameter by parameter. {0}_get_...: the array, which stays where "
                          "it is and changes with every step; "
                          "its number of entries goes to `count` unless that is null. Null for what is no "
                          "state. {0}_set_...: a start, copied; "
                          "expectations follow with the next step. Errors of the latter: NULL, STATE, SIZE "
                          "(count), DATA (not finite).",
                          e.name));
  for (const EmbeddedParameter& p : e.parameters) {
    out += "\n" + comment(fmt::format("{}{}{}.", p.title, p.shape.empty() ? "" : ", ", p.shape));
    out += fmt::format("const double* {}_get_{}(void* state, size_t* count);\n", e.name, p.name);
    out += fmt::format("int32_t {}_set_{}(void* state, const double* values, size_t count);\n", e.name, p.name);
  }
  return out;
}

}  // namespace

std::string c_header(const Embedding& e, const std::string& built) {
  const std::string guard = upper_case(e.name) + "_LEHR_H";
  std::string out = filled(kIntroduction, e, built);
  out += fmt::format(
      "#ifndef {0}\n#define {0}\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern "
      "\"C\" {{\n#endif\n\n",
      guard);
  out += structures(e) + filled(kStatuses, e) + filled(kLife, e);
  if (e.draws) out += filled(kGibbs, e);
  else
    out += filled(kAccuracy, e) + filled(kSteps, e) + filled(kRanges, e) +
           filled(e.minibatches ? kBatchStep : kNoBatches, e) + filled(kValues, e);
  if (e.item_temperatures) out += filled(kItemEnergies, e);
  if (e.updates) out += filled(kUpdate, e);
  out += accessors(e) + filled(kSaving, e) + (e.draws ? "" : filled(kPredictions, e));
  return out + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

}  // namespace lehr
