// Variational tempering of a compiled model: which normaliser it takes, and what it measured.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/evaluate/normaliser.h"
#include "compiler/instance/instance.h"
#include "runtime/methods/temper.h"

namespace lehr {

enum class NormaliserKind {
  automatic,  // exact where it does not depend on what is inferred, otherwise that of the posterior
  prior,      // Monte Carlo over the prior of the globals, as published
  posterior   // under the factors, found again at every update of the temperature
};

struct TemperSettings {
  bool local = false;         // a temperature for each item
  double hottest = 10;        // local: 1.5
  std::int64_t levels = 100;  // local: 25
  std::int64_t draws = 100;
  std::optional<std::int64_t> every;  // sweeps or steps between updates: 10 with `posterior`, otherwise 1
  NormaliserKind normaliser = NormaliserKind::automatic;
};

/// The normaliser of one model and data, bound to an instance whose factors it reads.
class Tempering {
 public:
  /// An Error says why the model cannot be tempered.
  static Result<Tempering> make(const TemperSettings& settings, const model::Model& model,
                                const schedule::Schedule& schedule, const BoundData& data, const Instance& instance,
                                std::uint64_t seed);

  /// Options of the driver; `options` gives the sweeps.
  TemperOptions options(const CaviOptions& options) const;
  Grid grid() const;
  /// One temperature for each item.
  ItemGrid items() const;

  std::vector<double> temperatures;  // geometric from 1 to the hottest
  std::string normaliser;            // "exact", "prior" or "posterior"
  std::vector<double> log_c, error;  // at the start; error: Monte Carlo standard errors, empty otherwise

  bool local = false;

 private:
  /// The factors as they are: exact moments of simplexes that are parameters of categories, means of the rest.
  struct Factors {
    Forward values;
    TemperedNormaliser::Concentrations concentrations;
  };
  Factors factors() const;
  /// It depends on nothing that is inferred: draws from the prior agree with the factors at these temperatures.
  static bool is_constant(const std::vector<double>& temperatures, const model::Model& model,
                          const schedule::Schedule& schedule, const BoundData& data, Factors& q, std::uint64_t seed);

  std::shared_ptr<const TemperedNormaliser> compute_;
  const model::Model* model_ = nullptr;
  const schedule::Schedule* schedule_ = nullptr;
  const BoundData* data_ = nullptr;
  const Instance* instance_ = nullptr;
  std::int64_t every_ = 1;
};

}  // namespace lehr
