// The ways to fit a model. Each is an alternative of `Method` with options of its own: what it asks of the generated
// code, how long it may take, its run, and what it has to tell in the end. docs/extending.md says how one is added.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/fitting/predictive.h"
#include "compiler/instance/instance.h"
#include "runtime/methods/auto_svi.h"
#include "runtime/methods/exact.h"
#include "runtime/methods/gibbs.h"
#include "runtime/methods/parallel_tempering.h"
#include "runtime/methods/search.h"

namespace lehr {

/// What a user should know of a run that looks well.
struct Caution {
  std::string text;
  std::vector<std::string> notes;
};

struct TemperingReport : TemperReport {
  std::vector<double> temperatures;  // geometric from 1 to the hottest
  std::string normaliser;            // "exact", "prior" or "posterior"
  std::vector<double> log_c, error;  // at the start; error: Monte Carlo standard errors, empty otherwise
  bool local = false;                // a temperature for each item
  bool finished = false;             // a phase at temperature 1 follows
};

/// What a chain has drawn.
struct GibbsReport {
  std::vector<NamedArray> draws;  // over [draw] and the axes of a variable; categories by position
  std::vector<double> log_joint;  // [draw], of the model
  std::optional<Evidence> evidence = {};
  std::optional<Couplings> coupling = {};  // of exact samples
  PredictiveDraws predictive;              // as far as they were planned
};

using Report = std::variant<std::monostate, SearchReport, AutoReport, ProbeReport, TemperingReport, GibbsReport>;

/// The entries of fit.json: "annealing" or "tempering".
nlohmann::json to_json(const Report& report);
/// Lines for the terminal; may be empty.
std::string describe(const Report& report, const Outcome& outcome);
std::vector<Caution> cautions(const Report& report);

/// What a method asks of the code and of memory.
struct Needs {
  bool batches = false;            // statistics of minibatches
  bool gradients = false;          // natural gradients of global blocks
  bool item_temperatures = false;  // a temperature for each item
  bool draws = false;              // draws in the place of expectations
  bool envelope = false;           // bounds of all runs of a sampler of spins and bits
  bool likelihood = false;         // a temperature divides the likelihood alone
  bool streams = false;            // items may be brought few at a time
  std::int64_t window = 0;         // items whose factors are kept at a time; 0: all
};

/// What a run works on: a model with its data, compiled, a start in place.
struct Ground {
  const Analysed& analysed;
  const BoundData& data;
  Instance& instance;
  std::uint64_t seed, restart;
  bool save_locals = false;            // draws of local variables are recorded
  PredictivePlan predictive = {};      // of methods that draw
  StartKind start = StartKind::seeds;  // the one in place
  References references = {};          // what model and data are told from

  const Engine& engine() const { return instance.engine(); }
  /// Of what the run draws: every start has its own.
  std::uint64_t run_seed() const { return seed + 1000003 * restart; }
};

/// A run that may begin.
struct Ready {
  std::function<Outcome(const OnSweep&, Report&)> run;
  Report report = {};                  // as far as it is known
  std::vector<Caution> cautions = {};  // what there is to know before it
};

/// Coordinate ascent, after the sweeps of `options.annealing`.
struct Ascent {
  CaviOptions options;
  Needs needs() const;
  std::int64_t most_iterations(const Engine&) const { return options.max_iterations; }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Coordinate ascent annealed from temperatures that are found.
struct AutomaticAscent {
  AutoOptions options;
  Needs needs() const { return {}; }
  std::int64_t most_iterations(const Engine&) const { return options.max_iterations; }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Coordinate ascent from the best of many starts, annealed from a temperature that is found.
struct SearchedAscent {
  SearchOptions options;
  Needs needs() const { return {}; }
  std::int64_t most_iterations(const Engine&) const { return options.max_iterations; }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Stochastic natural-gradient steps, annealed by `options.annealing`.
struct Stochastic {
  SviOptions options;
  Needs needs() const;
  std::int64_t most_iterations(const Engine& engine) const;
  Result<Ready> prepare(const Ground& ground) const;
};

/// The same, annealed from a temperature that is found.
struct AutomaticStochastic : Stochastic {
  Result<Ready> prepare(const Ground& ground) const;
};

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

/// Coordinate ascent with latent temperatures.
struct TemperedAscent {
  CaviOptions options;
  TemperSettings temper;
  Needs needs() const { return {.item_temperatures = temper.local}; }
  std::int64_t most_iterations(const Engine&) const { return options.max_iterations; }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Stochastic steps with latent temperatures. Normalisers are found from the factors of all items: no window.
struct TemperedStochastic {
  SviOptions options;
  TemperSettings temper;
  Needs needs() const;
  std::int64_t most_iterations(const Engine& engine) const { return Stochastic{options}.most_iterations(engine); }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Draws from the posterior. Restarts are chains.
struct Gibbs {
  GibbsOptions options;
  Needs needs() const { return {.draws = true}; }
  std::int64_t most_iterations(const Engine&) const { return options.warmup + options.draws * options.thin; }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Draws from the posterior, helped by states at temperatures up to that of the prior; and the evidence.
struct TemperedGibbs {
  LadderOptions options;
  Needs needs() const { return {.draws = true, .likelihood = true}; }
  std::int64_t most_iterations(const Engine& e) const { return Gibbs{options}.most_iterations(e); }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Exact samples of models of spins and bits.
struct Exact {
  ExactOptions options;
  Needs needs() const { return {.draws = true, .envelope = true}; }
  std::int64_t most_iterations(const Engine&) const { return options.draws; }
  Result<Ready> prepare(const Ground& ground) const;
};

/// Why Exact is not for this model.
std::optional<Error> not_binary(const model::Model& model, const conditionals::Conditionals& conditionals);

using Method = std::variant<Ascent, SearchedAscent, AutomaticAscent, Stochastic, AutomaticStochastic, TemperedAscent,
                            TemperedStochastic, Gibbs, TemperedGibbs, Exact>;

}  // namespace lehr
