// Local variational tempering: every item has a latent temperature of its own, on a grid. Mandt, McInerney, Abrol,
// Ranganath & Blei (2016), section 2.4: items that the model does not explain stay warm, and weigh less. Equation 10
// there tempers twice; here r_im is proportional to exp(e_i / T_m - log C_i(T_m)), e_i the expected log density of the
// item and its local variables, and C_i the normaliser of that density to the power 1 / T_m. An item that stands for
// copies has the temperature of each of them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "runtime/methods/engine.h"
#include "runtime/methods/sweep.h"

namespace lehr {

struct ItemGrid {
  std::vector<double> temperatures;  // ascending from 1; uniform prior
  /// log C_i(T) of these items under the factors as they are, one array of temperatures each.
  std::function<std::vector<std::vector<double>>(std::span<const std::int64_t> items)> log_normaliser;
  std::vector<double> copies;  // that each item stands for; log C_i is of one
};

class ItemTemperatures {
 public:
  /// All items at E[1 / T] of the prior. The model must have Model::item_energies.
  ItemTemperatures(const Engine& engine, const ItemGrid& grid);
  /// All temperatures are 1 again.
  ~ItemTemperatures() { pause(); }
  ItemTemperatures(const ItemTemperatures&) = delete;
  ItemTemperatures& operator=(const ItemTemperatures&) = delete;

  /// Their local factors at their present temperatures, then their temperatures; sums of data alone are the caller's.
  /// Nonzero: a status of the generated code.
  std::int32_t update(std::span<const std::int64_t> items, const SweepOptions& options);
  /// All temperatures 1, and as they were.
  std::int32_t pause();
  std::int32_t resume();

  /// What the latent temperatures add to the ELBO of the weighted terms: sum over items and their copies of E[log prior
  /// / q]
  /// - E[log C_i].
  double objective() const;
  /// 1 / E[1/T] over all copies, and its share at each level.
  double temperature() const;
  std::vector<double> posterior() const;

 private:
  std::span<double> inverse() const;
  double all_copies() const;
  std::int32_t update_now(std::span<const std::int64_t> items, const SweepOptions& options);

  const Engine& engine_;
  const ItemGrid& grid_;
  std::shared_ptr<Arrays> r_;      // by item; empty: as a priori
  std::shared_ptr<Arrays> added_;  // one array, by item
};

}  // namespace lehr
