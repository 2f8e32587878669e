// A compiled model in memory: its buffers, its functions, and the steps of one sweep. Who generated the functions
// (the JIT, the interpreter, an object file) does not matter here.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "runtime/embedded/start.h"
#include "runtime/engine/item_factors.h"

namespace lehr {

/// Local blocks, item by item (see StageFunctions in the compiler).
struct EngineStage {
  std::int64_t items = 0;
  std::size_t plate = 0;                     // whose elements they are
  bool refresh = false;                      // a second turn: auxiliary variables alone are formed again
  Generated tables, update, seed, sum;       // seed and sum may be empty
  std::vector<std::size_t> statistics;       // buffers to clear before `update`, `seed` or `sum`
  Generated data;                            // sums of data alone over some of the items; may be empty
  std::vector<std::size_t> data_sums;        // buffers to clear before it
};

struct EngineUpdate {
  std::string block;
  Generated function;
  std::vector<std::size_t> parameters;       // buffers
  std::optional<std::size_t> gradient = {};  // buffer of the norms that Weights::memory measures
  bool seeded = false;                       // a chain of categories: its start is what the others are updated from
};

/// Factors on the naturals, see loops::Weight in the compiler; with b = 1 / temperature.
struct Weights {
  double local_data = 1, global_data = 1, local = 1, global = 1, step = 1, memory = 0;
};

/// What the generated code makes of the factors as they are, in nats.
struct Elbo {
  double value = 0;           // at temperature 1
  double data_energy = 0;     // of it: expected log density of the data and their local variables
  double local_entropy = 0, entropy = 0;
  double discrete_entropy = 0;    // of local_entropy: that of categories and bits
};

/// For temperatures of single items: buffers over the items, and a function over (begin, end).
struct ItemEnergies {
  std::int64_t items = 0;
  std::size_t inverse = 0;                   // 1 / T, read by the generated code
  std::size_t energies = 0;                  // 1 / T times the energy of the item, added up by the stages and by `outer`
  Generated outer;
};

struct Engine {
  Memory memory;
  std::vector<std::int64_t> sizes;
  Generated prepare, initialise, expectations, elbo;
  Generated global_expectations;             // of the blocks outside the items, from their parameters
  std::vector<std::variant<EngineStage, EngineUpdate>> steps;
  std::size_t elbo_buffer = 0, weights_buffer = 0;
  std::optional<ItemEnergies> item_energies;
  bool minibatches = false;                  // nothing outside the first stage sees its items one by one: sums over some of
                                             // them, scaled up, stand for all
  std::shared_ptr<ItemFactors> items;        // where one stage holds all local factors, and some are stored
  std::vector<std::size_t> state;            // buffers that make up q: parameters, expectations, statistics
  std::vector<std::size_t> settled;          // buffers of the global parameters: all must settle before "converged"
  std::function<std::string(std::int32_t status)> describe;  // what a status code of the generated code means

  /// A fresh random start in place of the present factors, of the run's kind unless another is named; 0, or a status of
  /// the generated code.
  std::function<std::int32_t(std::uint64_t seed, std::optional<StartKind> kind)> restart;

  /// The first stage, from whose items minibatches are drawn; null without.
  const EngineStage* batch_stage() const;
  void set(const Weights& w) const;
  /// A copy of q, and back.
  std::vector<std::vector<double>> save() const;
  void load(const std::vector<std::vector<double>>& saved) const;
  Elbo elbo_parts() const;                   // as `elbo` left them
  std::int32_t call(const Generated& f) const { return f(memory.table(), sizes.data(), nullptr, nullptr); }
  /// For what visits all factors that are in `memory`: those of the items are not in a window.
  std::int32_t call_without_items(const Generated& f) const {
    const bool window = items && items->window() > 0;
    return f(memory.table(), (window ? items->no_items() : sizes).data(), nullptr, nullptr);
  }
};

}  // namespace lehr
