// The method that a fit asks for, run from where its engine stands.
#pragma once
#include "compiler/commands/anneal_spec.h"
#include "compiler/commands/fit_options.h"
#include "compiler/commands/fit_summary.h"

namespace lehr::commands {

/// `--anneal` and `--temper`, read.
struct Method {
  std::optional<AnnealSpec> anneal;
  std::optional<TemperSettings> temper;
};

/// An Error says what is malformed, or does not go together.
Result<Method> read_method(const FitOptions& o);

/// Runs it, tempered where `run` has a tempering; what annealing by itself or tempering measured goes to `run`.
Outcome infer(const Engine& engine, const FitOptions& o, const Method& method, std::uint64_t restart,
              const OnSweep& on_sweep, FitRun& run);

/// What there is to say of an automatic annealing: the melting temperature, its arms, the gain and its cost.
std::string describe(const AutoReport& report, const Outcome& outcome);

}  // namespace lehr::commands
