// The ways to fit a model.
#pragma once
#include <cstdint>
#include <optional>
#include <variant>

#include "compiler/fitting/tempering.h"
#include "runtime/methods/anneal.h"

namespace lehr {

/// `auto`, `auto:quick`, `auto:full`, `auto:sweeps=2000`.
struct AutoAnneal {
  bool cycles = false;
  std::int64_t sweeps = 0;
};

using AnnealSpec = std::variant<Annealing, AutoAnneal>;

/// The algorithm: at most one of `anneal` and `temper`.
struct Method {
  bool svi = false;  // otherwise coordinate ascent
  std::optional<AnnealSpec> anneal;
  std::optional<TemperSettings> temper;
};

}  // namespace lehr
