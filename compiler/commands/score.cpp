// `lehr score`: held-out log predictive density of data under a saved fit.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "compiler/commands/data_arguments.h"
#include "compiler/commands/fitted_model.h"
#include "compiler/commands/numbers.h"
#include "compiler/commands/settings.h"
#include "compiler/fitting/held_out.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/npz.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

struct ScoreOptions {
  std::string directory, model;
  DataArguments data;
  double fraction = 0.5;
  bool fraction_given = false, save = false;
  HeldOutOptions held_out;
};

nlohmann::json summary(const ScoreOptions& o, const HeldOut& held_out, const Score& score) {
  nlohmann::json out = {{"total", score.total},
                        {"per_observation", score.total / static_cast<double>(score.observations)},
                        {"observations", score.observations},
                        {"data", o.data.bindings},
                        {"method", held_out.completes() ? "document completion" : "posterior means"}};
  if (!score.sequences.empty()) out["sequences"] = score.sequences;
  if (held_out.completes()) {
    out["holdout"] = held_out.fraction();
    out["seed"] = o.held_out.seed;
  }
  return out;
}

ExitCode score(ScoreOptions o) {
  const std::variant<FittedModel, ExitCode> opened = read_fitted(o.directory, o.model);
  if (const ExitCode* code = std::get_if<ExitCode>(&opened)) return *code;
  const auto& [fit, source, resolved, complete] = std::get<FittedModel>(opened);
  Result<Dataset> dataset = read_data(o.data, resolved);
  if (!dataset) return complain(dataset.error());
  if (o.fraction_given) o.held_out.fraction = o.fraction;
  Result<std::unique_ptr<HeldOut>> held_out =
      HeldOut::make(source, resolved, complete, *dataset, fitted_settings(complete, fit), o.held_out);
  if (!held_out) return complain_of(held_out.error(), source.name);
  const Result<Score> result = (*held_out)->score(fit.posterior);
  if (!result) return complain_of(result.error(), source.name);
  const std::filesystem::path base(o.directory);
  if (o.save && (*held_out)->completes()) {
    if (Result<bool> r = write_npz((base / "heldout.npz").string(), (*held_out)->split()); !r)
      return complain(r.error());
  }
  const nlohmann::json json = summary(o, **held_out, *result);
  if (Result<bool> r = write_file((base / "score.json").string(),
                                  json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
      !r)
    return complain(r.error());
  fmt::print("{}: log predictive {:.6f} of {} observations, {:.6f} each{}\n", printable(fit.model), result->total,
             result->observations, result->total / static_cast<double>(result->observations),
             (*held_out)->completes() ? fmt::format(" ({:.4g} of each item held out)", (*held_out)->fraction()) : "");
  return ExitCode::done;
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  const auto o = std::make_shared<ScoreOptions>();
  CLI::App* c = app.add_subcommand("score", "Log predictive density of held-out data under a fit");
  c->add_option("DIR", o->directory, "directory that `lehr fit` wrote")->required();
  add_data(*c, o->data, "data that the fit has not seen, as for `lehr fit`")->required();
  CLI::Option* fraction =
      add_number(*c, "--holdout", o->fraction, kPartRange,
                 "part of each item's observations that is scored; the others tell what the item is like");
  add_number(*c, "--seed", o->held_out.seed, kSeedRange, "seed of the split");
  add_number(*c, "--local-iters", o->held_out.local.local_iterations, kLocalIterationsRange,
             "largest number of passes over the local variables of an item");
  add_number(*c, "--local-tol", o->held_out.local.local_tolerance, kToleranceRange,
             "an item is done when its parameters move by less than this, relatively");
  c->add_option("--model", o->model, "model file, if it is no longer where the fit found it");
  c->add_flag("--save", o->save, "write what was held out to DIR/heldout.npz");
  add_no_cache(*c);
  c->footer(
      "Examples:\n"
      "  lehr score out/gmm --data x=test.csv:a,b\n"
      "  lehr score out/lda --data w=test.ldac --holdout 0.5 --seed 1\n"
      "The result is in DIR/score.json too. Parameters stand at their posterior means. Discrete variables of the "
      "items\n"
      "are summed out; where items have continuous ones, such as the topics of a document, part of each item is held "
      "out\n"
      "and they are inferred from the rest (document completion). docs/fitting.md has the formulas.");
  c->callback([o, fraction, &action] {
    o->fraction_given = fraction->count() > 0;
    action = [o] { return score(*o); };
  });
}

}  // namespace lehr::commands
