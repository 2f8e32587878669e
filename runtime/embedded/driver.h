// The functions of a built object, for any model. `lehr build` puts one of each into the object under the model's name
// (lehr_step becomes NAME_step), with the model's tables as the first argument; the header that it writes documents
// them for callers.
//
// Conventions: `state` is memory in which lehr_init made a state; `data` is a data set, or null for the present one.
// Functions that return std::int32_t give 0, a Status of state.h, or a failure status of the generated code. All
// numbers are in nats where they are log densities. An inverse temperature b > 0 is 1 for plain inference.
#pragma once
#include "runtime/embedded/state.h"

extern "C" {
using lehr::embedded::DataSet;
using lehr::embedded::GivenSizes;
using lehr::machine::Model;

/// Returns the tables of the model: the first argument of lehr_search.
const Model* lehr_model(const Model* m);
/// Returns the hash of the model, which the member `abi` of the caller's sizes must equal. It detects a header that
/// belongs to another object.
std::uint64_t lehr_abi(const Model* m);
/// Returns how many bytes of memory a state of these sizes needs; 0 if they are not sizes of this model.
std::size_t lehr_state_bytes(const Model* m, const GivenSizes* sizes);
/// Makes a state in `memory`, of `bytes` bytes. With data, it also makes a random start from this seed. Without data,
/// there are no factors until lehr_load.
std::int32_t lehr_init(const Model* m, void* memory, std::size_t bytes, const GivenSizes* sizes, const DataSet* data,
                       std::uint64_t seed);
/// Sets when the iteration over the local blocks of an item stops in later steps and inferences: after `iterations` >=
/// 1, or at a relative tolerance >= 0.
std::int32_t lehr_set_accuracy(const Model* m, void* state, std::int64_t iterations, double tolerance);

/// Makes one sweep of coordinate ascent over all factors, with the terms of the data times `inverse_temperature`. A
/// sweep over expectations of links that would lower the objective is shortened.
std::int32_t lehr_step(const Model* m, void* state, const DataSet* data, double inverse_temperature);
/// Makes one sweep of coordinate ascent with all natural parameters times `inverse_temperature`, which tempers the
/// entropies.
std::int32_t lehr_entropy_step(const Model* m, void* state, const DataSet* data, double inverse_temperature);
/// Begins a sweep like that of lehr_step whose items the caller updates, range by range, on threads of its own:
/// lehr_step_next comes next.
std::int32_t lehr_step_begin(const Model* m, void* state, const DataSet* data, double inverse_temperature);
/// Continues the sweep of lehr_step_begin up to the next stage and writes the number of its items; 0: the sweep is
/// done. The sums of all items of the stage before must be added (lehr_step_add).
std::int32_t lehr_step_next(const Model* m, void* state, std::int64_t* items);
/// Returns how many bytes of memory the caller must provide for a range of items (lehr_step_items), however many items
/// it has; 0 if `state` is not a state.
std::size_t lehr_range_bytes(const Model* m, void* state);
/// Updates the items `from`, ..., `to` - 1 of the present stage and stores their sums in the memory `range`, of
/// lehr_range_bytes() bytes. Calls with different items and ranges may run at the same time. Every item of the stage
/// must be updated exactly once.
std::int32_t lehr_step_items(const Model* m, void* state, void* range, std::size_t bytes, std::int64_t from,
                             std::int64_t to);
/// Adds the sums of a range, which lehr_step_items has updated, to the state. Calls must not run at the same time;
/// their order affects the rounding.
std::int32_t lehr_step_add(const Model* m, void* state, void* range);
/// Makes a natural-gradient step of size 0 < rho <= 1 from a minibatch that stands for `total_items` items. The items
/// of the minibatch begin at their priors.
std::int32_t lehr_svi_step(const Model* m, void* state, const DataSet* batch, std::int64_t total_items, double rho,
                           double inverse_temperature);
/// Infers the factors of the items of a data set from their priors; the global factors stay.
std::int32_t lehr_infer(const Model* m, void* state, const DataSet* data);
/// Makes the posterior the prior of a new data set, which must not be null. `keep` (0 < keep <= 1) is the power to
/// which the posterior is raised, so that values below 1 forget. Only objects built with --updates have it.
std::int32_t lehr_update(const Model* m, void* state, const DataSet* data, double keep);
/// Makes one sweep of Gibbs sampling: draws every block from its conditional once, with the terms of the data times
/// `inverse_temperature`. The draws are a function of seed, chain and the number `sweep`.
std::int32_t lehr_gibbs_step(const Model* m, void* state, const DataSet* data, std::uint64_t seed, std::uint64_t chain,
                             std::int64_t sweep, double inverse_temperature);
/// Returns how many numbers lehr_draw writes: one for each scalar of the latent variables of the model file, and one
/// for each category. 0 if `state` is not a state.
std::size_t lehr_draw_count(const Model* m, void* state);
/// Copies the values of the latent variables after a Gibbs step to `values`; a category gives the index of its value.
/// `count` must be that of lehr_draw_count.
std::int32_t lehr_draw(const Model* m, void* state, double* values, std::size_t count);

/// Writes the ELBO at temperature 1, in nats, of the factors that were last inferred.
std::int32_t lehr_elbo(const Model* m, void* state, double* nats);
/// Writes the expected log density of the data and their local variables, in nats, under the factors that were last
/// inferred. It is the energy that lehr_temper needs.
std::int32_t lehr_data_energy(const Model* m, void* state, double* nats);
/// Infers the items of a data set from their priors, with the global factors fixed, and writes a lower bound of the log
/// predictive density of the data, in nats.
std::int32_t lehr_score(const Model* m, void* state, const DataSet* data, double* nats);
/// Updates the local factors and writes the energy of each item (its expected log density, `count` numbers), for
/// tempering by item. Only objects built with --item-temperatures have it.
std::int32_t lehr_item_energies(const Model* m, void* state, const DataSet* data, double* nats, std::size_t count);
/// Computes the factor of a latent temperature of all data on a grid of `levels` temperatures, for variational
/// tempering. It needs the energy of the data (lehr_data_energy) and the log normaliser of each temperature. Writes
/// E[1/T], which the next step takes, and, unless `posterior` is null, the probabilities.
std::int32_t lehr_temper(const Model* m, const double* temperatures, const double* log_normalisers, std::int64_t levels,
                         double energy, double* posterior, double* inverse_temperature);

/// Returns the numbers of a parameter of q (an index of Model::parameters) in the state, which owns them, and writes
/// how many to `count`, which may be null. Null and 0 if `state` is not a state.
const double* lehr_get(const Model* m, std::int64_t parameter, void* state, std::size_t* count);
/// Replaces the numbers of a parameter of q (an index of Model::parameters), which must be finite; their domain is not
/// checked. Expectations are recomputed before the next step.
std::int32_t lehr_set(const Model* m, std::int64_t parameter, void* state, const double* values, std::size_t count);

/// Returns the bytes that lehr_save needs; 0 if `state` is not a state.
std::size_t lehr_saved_bytes(const Model* m, void* state);
/// Copies q, its sizes and carried priors to `saved`, with a checksum. Fails if there are no factors yet, or during a
/// sweep of lehr_step_begin.
std::int32_t lehr_save(const Model* m, void* state, void* saved, std::size_t bytes);
/// Restores a saved state of the same model. If its items exceed the capacity, their factors are left out. Afterwards
/// the state has no data set. A saved state that is refused changes nothing.
std::int32_t lehr_load(const Model* m, void* state, const void* saved, std::size_t bytes);

/// Returns the message of a status that a function of the object returned. The text is constant and never null.
const char* lehr_error(const Model* m, std::int32_t status);
}
