// Latent temperatures of items: the generated code writes energies times 1/T by item, from which the factor of each
// temperature follows in closed form.
#include "runtime/inference/temper_items.h"

#include <cmath>
#include <numeric>

#include "runtime/inference/temper.h"
#include "runtime/parallel/snapshot_checks.h"

namespace lehr {
namespace {

/// Throws ReplayMismatch unless both snapshots have the lengths of these items and temperatures.
void check(const Arrays& r, const Arrays& added, std::size_t items, const ItemTemperatureGrid& grid) {
  expect_lengths(r, items, grid.temperatures.size());
  expect_lengths(added, 1, items);
}

}  // namespace

ItemTemperatures::ItemTemperatures(const Engine& engine, const ItemTemperatureGrid& grid)
    : engine_(engine), grid_(grid) {
  const auto n = engine.reals(engine.model().item_energies).size();
  const std::size_t levels = grid.temperatures.size();
  const std::vector<double> prior(levels, 1 / static_cast<double>(levels));
  r_ = engine.snapshot([&] { return Arrays(n, prior); });
  added_ = engine.snapshot([&] { return Arrays(1, std::vector<double>(n, 0.0)); });
  std::ranges::fill(inverse(), mean_inverse(prior, grid.temperatures));
}

std::span<double> ItemTemperatures::inverse() const { return engine_.reals(engine_.model().item_inverse); }

std::int32_t ItemTemperatures::update(std::span<const std::int64_t> items, const SweepOptions& options) {
  return engine_.recorded([&] { return update_now(items, options); });
}

std::int32_t ItemTemperatures::update_now(std::span<const std::int64_t> items, const SweepOptions& options) {
  const std::span<double> energies = engine_.reals(engine_.model().item_energies), b = inverse();
  check(*r_, *added_, b.size(), grid_);
  std::ranges::fill(energies, 0.0);
  if (const std::int32_t status = sweep(engine_, options, {.items_only = true, .batch = items})) return status;
  const std::vector<std::vector<double>> log_c = grid_.log_normaliser(items);
  const double levels = static_cast<double>(grid_.temperatures.size());
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto i = static_cast<std::size_t>(items[k]);
    const machine::Machine& m = engine_.machine();
    if (const std::int32_t status =
            machine::run_items(m, engine_.model().item_outer, {items[k], items[k] + 1}, m.table))
      return status;
    const double copies = grid_.copies[i], energy = copies > 0 ? energies[i] / (b[i] * copies) : 0;
    const std::vector<double>& r = (*r_)[i] = temperature_factor(energy, grid_.temperatures, log_c[k]);
    b[i] = mean_inverse(r, grid_.temperatures);
    double& added = (*added_)[0][i] = 0;
    for (std::size_t j = 0; j < r.size(); ++j)
      added += copies * ((r[j] > 0 ? -r[j] * std::log(r[j] * levels) : 0) - r[j] * log_c[k][j]);
  }
  return 0;
}

std::int32_t ItemTemperatures::pause() {
  std::ranges::fill(inverse(), 1.0);
  return engine_.prepare();
}

std::int32_t ItemTemperatures::resume() {
  if (!r_->empty()) check(*r_, *added_, inverse().size(), grid_);
  for (std::size_t i = 0; i < r_->size(); ++i)
    inverse()[i] = mean_inverse((*r_)[i], grid_.temperatures);
  return engine_.prepare();
}

double ItemTemperatures::objective() const {
  return engine_.recorded([&] {
    expect_lengths(*added_, 1, inverse().size());
    return std::accumulate((*added_)[0].begin(), (*added_)[0].end(), 0.0);
  });
}

double ItemTemperatures::temperature() const {
  return engine_.recorded([&] {
    const std::span<const double> b = inverse();
    return all_copies() / std::inner_product(b.begin(), b.end(), grid_.copies.begin(), 0.0);
  });
}

double ItemTemperatures::all_copies() const { return std::accumulate(grid_.copies.begin(), grid_.copies.end(), 0.0); }

std::vector<double> ItemTemperatures::posterior() const {
  return engine_.recorded([&] {
    expect_lengths(*r_, inverse().size(), grid_.temperatures.size());
    const double all = all_copies();
    std::vector<double> out(grid_.temperatures.size());
    for (std::size_t i = 0; i < r_->size(); ++i) {
      for (std::size_t m = 0; m < out.size(); ++m)
        out[m] += grid_.copies[i] * (*r_)[i][m] / all;
    }
    return out;
  });
}

}  // namespace lehr
