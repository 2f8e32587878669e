// The functions of a built object, for any model. `lehr build` puts one of each into the object under the model's name,
// with the model as its first argument; what they mean to a caller stands in the header that it writes.
#pragma once
#include "runtime/embedded/state.h"

extern "C" {
using lehr::embedded::DataSet;
using lehr::embedded::GivenSizes;
using lehr::machine::Model;

const Model* lehr_model(const Model* m);
std::uint64_t lehr_abi(const Model* m);
std::size_t lehr_state_bytes(const Model* m, const GivenSizes* sizes);
std::int32_t lehr_init(const Model* m, void* memory, std::size_t bytes, const GivenSizes* sizes, const DataSet* data,
                       std::uint64_t seed);
std::int32_t lehr_set_accuracy(const Model* m, void* state, std::int64_t iterations, double tolerance);

std::int32_t lehr_step(const Model* m, void* state, const DataSet* data, double inverse_temperature);
std::int32_t lehr_entropy_step(const Model* m, void* state, const DataSet* data, double inverse_temperature);
std::int32_t lehr_step_begin(const Model* m, void* state, const DataSet* data, double inverse_temperature);
std::int32_t lehr_step_next(const Model* m, void* state, std::int64_t* items);
std::size_t lehr_range_bytes(const Model* m, void* state);
std::int32_t lehr_step_items(const Model* m, void* state, void* range, std::size_t bytes, std::int64_t from,
                             std::int64_t to);
std::int32_t lehr_step_add(const Model* m, void* state, void* range);
std::int32_t lehr_svi_step(const Model* m, void* state, const DataSet* batch, std::int64_t total_items, double rho,
                           double inverse_temperature);
std::int32_t lehr_infer(const Model* m, void* state, const DataSet* data);
std::int32_t lehr_update(const Model* m, void* state, const DataSet* data, double keep);
std::int32_t lehr_gibbs_step(const Model* m, void* state, const DataSet* data, std::uint64_t seed, std::uint64_t chain,
                             std::int64_t sweep, double inverse_temperature);
std::size_t lehr_draw_count(const Model* m, void* state);
std::int32_t lehr_draw(const Model* m, void* state, double* values, std::size_t count);

std::int32_t lehr_elbo(const Model* m, void* state, double* nats);
std::int32_t lehr_data_energy(const Model* m, void* state, double* nats);
std::int32_t lehr_score(const Model* m, void* state, const DataSet* data, double* nats);
std::int32_t lehr_item_energies(const Model* m, void* state, const DataSet* data, double* nats, std::size_t count);
std::int32_t lehr_temper(const Model* m, const double* temperatures, const double* log_normalisers, std::int64_t levels,
                         double energy, double* posterior, double* inverse_temperature);

const double* lehr_get(const Model* m, std::int64_t parameter, void* state, std::size_t* count);
std::int32_t lehr_set(const Model* m, std::int64_t parameter, void* state, const double* values, std::size_t count);

std::size_t lehr_saved_bytes(const Model* m, void* state);
std::int32_t lehr_save(const Model* m, void* state, void* saved, std::size_t bytes);
std::int32_t lehr_load(const Model* m, void* state, const void* saved, std::size_t bytes);

const char* lehr_error(const Model* m, std::int32_t status);
}
