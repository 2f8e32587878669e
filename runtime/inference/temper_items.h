// Local variational tempering: every item has a latent temperature of its own, on a grid. Items that the model does not
// explain stay warm and weigh less. Source: Mandt, McInerney, Abrol, Ranganath & Blei (2016), section 2.4. Equation 10
// there tempers twice; here the factor of the temperature of item i is r_im proportional to
//
//     exp(e_i / T_m - log C_i(T_m))
//
// e_i is the expected log density of the item and its local variables, C_i the normaliser of that density to the power
// 1 / T_m. An item that stands for several copies has the temperature of each of them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "runtime/inference/engine.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// The temperatures that the latent temperature of an item can have in local variational tempering, with a uniform
/// prior; the same for all items.
struct ItemTemperatureGrid {
  std::vector<double> temperatures;  // the temperatures, ascending from 1
  /// Returns log C_i(T) with the factors as they are: for each of these items one array, by temperature.
  std::function<std::vector<std::vector<double>>(std::span<const std::int64_t> items)> log_normaliser;
  std::vector<double> copies;  // by item: how many copies it stands for; log C_i is that of one copy
};

/// The latent temperatures of all items of an engine, and their factors, for local variational tempering: items that
/// the model does not explain get high temperatures and weigh less.
class ItemTemperatures {
 public:
  /// Sets the inverse temperature of all items to E[1/T] of the prior. The model must have Model::item_energies,
  /// item_inverse and item_outer. `grid` must outlive the object.
  ItemTemperatures(const Engine& engine, const ItemTemperatureGrid& grid);
  /// Sets all temperatures to 1 and recomputes the sums of the data.
  ~ItemTemperatures() { pause(); }
  ItemTemperatures(const ItemTemperatures&) = delete;
  ItemTemperatures& operator=(const ItemTemperatures&) = delete;

  /// Updates the local factors of these items at their present temperatures, then their temperatures. The caller must
  /// recompute the sums of the data alone (Engine::prepare). Returns 0 or a status of the generated code.
  std::int32_t update(std::span<const std::int64_t> items, const SweepOptions& options);
  /// Sets all temperatures to 1 and recomputes the sums of the data, so that an exact ELBO can be computed. Returns 0
  /// or a status of the generated code.
  std::int32_t pause();
  /// Restores the temperatures after pause() and recomputes the sums of the data. Returns 0 or a status of the
  /// generated code.
  std::int32_t resume();

  /// Returns what the latent temperatures add to the ELBO of the weighted terms, in nats: the sum over all copies of
  /// E[log prior - log q] - E[log C_i].
  double objective() const;
  /// Returns 1 over the mean of E[1/T] over all copies.
  double temperature() const;
  /// Returns the probability of each temperature, averaged over all copies.
  std::vector<double> posterior() const;

 private:
  /// Returns the inverse temperatures that generated code reads, by item.
  std::span<double> inverse() const;
  /// Returns the number of copies of all items together.
  double all_copies() const;
  /// Does the work of update(), without a record in the journal.
  std::int32_t update_now(std::span<const std::int64_t> items, const SweepOptions& options);

  const Engine& engine_;             // the engine whose items these are
  const ItemTemperatureGrid& grid_;  // the temperatures
  std::shared_ptr<Arrays> r_;        // by item: probabilities of the temperatures; empty only during a replay
  std::shared_ptr<Arrays> added_;    // one array, by item: its part of objective()
};

}  // namespace lehr
