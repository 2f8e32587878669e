// Prepares stochastic variational inference, plain or with automatic annealing. The steps themselves are in
// runtime/inference/svi.h and auto_svi.h.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/fit/methods/method.h"
#include "compiler/model/expectations.h"

namespace lehr {

std::optional<Error> not_by_minibatches(const model::Model& m) {
  const auto found = std::ranges::find_if(m.variables, model::has_expectation);
  if (found == m.variables.end()) return std::nullopt;
  std::vector<std::string> notes{option("method") + " cavi takes it"};
  if (m.guide.gaussian_links) notes.push_back(option("links") + " bound goes with minibatches, exp(...) does not");
  return Error{
      ExitCode::model, option("method"),
      fmt::format("minibatches do not update the expectation of a link of '{}'", m[found->auxiliary->host].name),
      std::move(notes)};
}

Requirements Stochastic::requirements() const {
  return {.batches = true, .gradients = options.adaptive, .streams = true, .window = options.batch};
}

std::int64_t Stochastic::iteration_limit(const Engine& engine) const {
  return options.max_iterations > 0 ? steps_of(engine, options) : 0;
}

Result<PreparedRun> Stochastic::prepare(const RunContext& g) const {
  SviOptions o = options;
  o.seed = g.run_seed();
  return PreparedRun{[o, &e = g.engine()](const OnSweep& on_sweep, Report&) { return run_svi(e, o, on_sweep); }};
}

Result<PreparedRun> AutomaticStochastic::prepare(const RunContext& g) const {
  SviOptions o = options;
  o.seed = g.run_seed();
  return PreparedRun{[o, &e = g.engine()](const OnSweep& on_sweep, Report& report) {
                       return run_auto_svi(e, o, on_sweep, std::get<ProbeReport>(report));
                     },
                     ProbeReport{}};
}

}  // namespace lehr
