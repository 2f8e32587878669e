// `lehr score`: the log predictive density of held-out data under a saved fit, in nats. Local variables of new items
// are inferred from a part of each item, and the rest is scored (document completion), unless they can be summed out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "compiler/console/data_arguments.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/progress_reporter.h"
#include "compiler/console/settings.h"
#include "compiler/fit/out_of_core_data.h"
#include "compiler/options/help_texts.h"
#include "compiler/posterior/posterior_prior.h"
#include "compiler/score/held_out.h"
#include "runtime/files/csv_field.h"
#include "runtime/files/member_file.h"
#include "runtime/files/npz.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"
#include "runtime/threshold.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct ScoreOptions {
  std::string directory, model;
  DataArguments data;
  double fraction = 0.5;
  bool fraction_given = false, save = false, stream = false, tempered = false;
  std::string per;
  HeldOutOptions held_out;
};

/// A score, and how it was computed.
struct ScoredData {
  Score score;
  bool by_completion = false;          // true: a part of each item informs its local variables, the rest is scored
  double fraction = 0;                 // fraction of each item's observations that is scored
  std::vector<NamedArray> split = {};  // the scored observations, see HeldOut::split; only for data in memory
};

/// Returns the content of score.json.
nlohmann::json summary(const ScoreOptions& o, const ScoredData& scored) {
  const Score& score = scored.score;
  const auto count = static_cast<std::int64_t>(score.observations);
  const bool whole = static_cast<double>(count) == score.observations;
  nlohmann::json out = {{"total", score.total},
                        {"per_observation", score.total / score.observations},
                        {"observations", whole ? nlohmann::json(count) : nlohmann::json(score.observations)},
                        {"data", o.data.bindings},
                        {"method", scored.by_completion ? "document completion" : "posterior means"}};
  if (o.tempered) out["temperatures"] = "learned";
  if (score.error > 0) out["standard_error"] = score.error;
  if (!score.sequences.empty()) out["sequences"] = score.sequences;
  if (scored.by_completion) {
    out["holdout"] = scored.fraction;
    out["seed"] = o.held_out.seed;
    out["items"] = to_json(score.items);
  }
  return out;
}

/// Appends the densities of a part of the items to those before. Items have the numbers of all data.
void append(const ItemScores& part, std::int64_t first, std::optional<ItemScores>& to) {
  if (!to) to = ItemScores{part.plate, {}, {}, {}};
  if (part.labels.empty() && !to->labels.empty()) to->labels.clear();
  else if (static_cast<std::int64_t>(to->labels.size()) == first)
    std::ranges::copy(part.labels, std::back_inserter(to->labels));
  std::ranges::copy(part.density, std::back_inserter(to->density));
  std::ranges::copy(part.observations, std::back_inserter(to->observations));
}

/// Returns the content of score_items.csv: a line for each item.
std::string table_of(const ItemScores& items) {
  std::string out = fmt::format("{},log_density,observations\n", items.plate.empty() ? "item" : csv_field(items.plate));
  for (std::size_t k = 0; k < items.density.size(); ++k) {
    out += k < items.labels.size() ? csv_field(items.labels[k]) : fmt::format("{}", k);
    out += fmt::format(",{},{}\n", items.density[k], items.observations[k]);
  }
  return out;
}

/// Scores one dataset under the fit.
Result<ScoredData> score_of(const FittedModel& f, const Dataset& data, const Settings& settings,
                            const HeldOutOptions& o) {
  HeldOutOptions of_fit = o;
  of_fit.on_start = ProgressReporter("starts of the items");
  of_fit.items = f.fit.items;
  std::ranges::copy(f.fit.posterior, std::back_inserter(of_fit.items));
  Result<std::unique_ptr<HeldOut>> held_out = HeldOut::make(f.source, f.resolved, f.complete, data, settings, of_fit);
  if (!held_out) return held_out.error();
  Result<Score> score = (*held_out)->score(f.fit.posterior);
  if (!score) return score.error();
  return ScoredData{std::move(*score), (*held_out)->is_completion(), (*held_out)->fraction(), (*held_out)->split()};
}

/// Scores data that are in memory as a whole.
Result<ScoredData> score_whole(const ScoreOptions& o, const FittedModel& f) {
  Result<Dataset> data = read_data(o.data, f.resolved);
  if (!data) return data.error();
  add_constants(f.resolved, f.fit, *data);
  return score_of(f, *data, fitted_settings(f.complete, f.fit), o.held_out);
}

// Items in one batch of out-of-core data.
constexpr Threshold<std::int64_t> kItemsAtOnce("score.items_at_once", 2048);

/// Scores out-of-core data batch by batch and adds up the results. Items are independent given the global factors.
Result<ScoredData> score_in_batches(const ScoreOptions& o, const FittedModel& f) {
  Dataset constants;
  add_constants(f.resolved, f.fit, constants);
  const Result<std::shared_ptr<const OutOfCoreData>> data =
      OutOfCoreData::open(f.complete, o.data.bindings, fitted_settings(f.complete, f.fit), nullptr, constants);
  if (!data) return data.error();
  const std::int64_t items = (*data)->items(), at_once = thresholds_of_environment()[kItemsAtOnce],
                     parts = (items + at_once - 1) / at_once;
  ScoredData out;
  for (std::int64_t k = 0; k < parts; ++k) {
    const machine::ItemRange part{items * k / parts, items * (k + 1) / parts};
    const Result<std::pair<Dataset, Settings>> read = (*data)->part(part);
    if (!read) return read.error();
    HeldOutOptions options = o.held_out;
    options.first = part.begin;
    Result<ScoredData> scored = score_of(f, read->first, read->second, options);
    if (!scored) return scored.error();
    out.by_completion = scored->by_completion;
    out.fraction = scored->fraction;
    out.score.total += scored->score.total;
    // Errors of batches are independent, so their squares add.
    out.score.error = std::hypot(out.score.error, scored->score.error);
    out.score.observations += scored->score.observations;
    out.score.items = k == 0 ? scored->score.items : combined(out.score.items, scored->score.items);
    std::ranges::copy(scored->score.sequences, std::back_inserter(out.score.sequences));
    if (scored->score.by_item) append(*scored->score.by_item, part.begin, out.score.by_item);
  }
  return out;
}

/// Reads the temperatures that a fit has learned, and their probabilities, from its fit.json.
std::optional<Error> read_temperatures(const std::string& directory, HeldOutOptions& to) {
  const Result<std::string> text = read_file((std::filesystem::path(directory) / kFitFile).string());
  if (!text) return text.error();
  const nlohmann::json fit = nlohmann::json::parse(*text, nullptr, false);
  const auto found = fit.is_object() ? fit.find("tempering") : fit.end();
  if (found == fit.end())
    return usage_error(option("tempered"), "the fit has learned no temperatures",
                       {option("temper") + " of `lehr fit` infers them"});
  to.temperatures = found->value("temperatures", std::vector<double>());
  to.probabilities = found->value("posterior", std::vector<double>());
  if (to.temperatures.empty() || to.temperatures.size() != to.probabilities.size())
    return Error{ExitCode::data, directory, "its temperatures are damaged", {}};
  return std::nullopt;
}

/// Runs the command: opens the fit, scores, writes score.json and prints the score.
ExitCode score(ScoreOptions o) {
  const std::variant<FittedModel, ExitCode> opened = read_fitted(o.directory, o.model);
  if (const ExitCode* code = std::get_if<ExitCode>(&opened)) return *code;
  const auto& fitted = std::get<FittedModel>(opened);
  if (o.fraction_given) o.held_out.fraction = o.fraction;
  o.held_out.per_item = o.per == "item";
  if (std::optional<Error> e = o.tempered ? read_temperatures(o.directory, o.held_out) : std::nullopt)
    return complain(*e);
  const Result<ScoredData> scored = o.stream ? score_in_batches(o, fitted) : score_whole(o, fitted);
  if (!scored) return complain_of(with_settings_source(fitted.fit, scored.error()), fitted.source.name);
  const std::filesystem::path base(o.directory);
  if (o.save && scored->by_completion) {
    const Result<std::string> split = format_npz(scored->split);
    if (!split) return complain(split.error());
    if (Result<bool> r = write_file_no_follow((base / kHeldOutFile).string(), *split); !r) return complain(r.error());
  }
  if (scored->score.by_item) {
    const std::string table = table_of(*scored->score.by_item);
    if (Result<bool> r = write_file_no_follow((base / kItemScoresFile).string(), table); !r) return complain(r.error());
  }
  const nlohmann::json json = summary(o, *scored);
  if (Result<bool> r = write_file_no_follow((base / kScoreFile).string(),
                                            json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
      !r)
    return complain(r.error());
  const Score& score = scored->score;
  const std::string items = description(score.items);
  const std::string error =
      score.error > 0 ? fmt::format(" (by draws, standard error {:.2g})", score.error) : std::string();
  const std::string each =
      score.observations > 0 ? fmt::format(", {:.6f} each", score.total / score.observations) : std::string();
  fmt::print("{}: log predictive {:.6f}{} of {} observations{}{}\n", printable(fitted.fit.model), score.total, error,
             score.observations, each,
             !scored->by_completion ? std::string()
             : items.empty()        ? fmt::format(" ({:.4g} of each item held out)", scored->fraction)
                                    : fmt::format(" ({:.4g} of each item held out); {}", scored->fraction, items));
  return ExitCode::done;
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  const auto o = std::make_shared<ScoreOptions>();
  CLI::App* c = app.add_subcommand("score", "Log predictive density of held-out data under a fit");
  c->add_option("DIR", o->directory, "Directory written by `lehr fit`")->required();
  add_data(*c, o->data, "Data to score, which the fit has not seen, given as for `lehr fit` (docs/data.md)")
      ->required();
  CLI::Option* fraction =
      add_number(*c, "--holdout", o->fraction, kProportionRange,
                 "Fraction of each item's observations that is scored, given the rest. Only for models whose items "
                 "have continuous latent variables (topic proportions, say); others score all and refuse it");
  add_number(*c, "--seed", o->held_out.seed, kSeedRange,
             "Seed of the random choice of the observations that --holdout scores");
  add_number(*c, "--local-iters", o->held_out.local.local_iterations, kLocalIterationsRange, kLocalIterationsHelp);
  add_number(*c, "--local-tol", o->held_out.local.local_tolerance, kToleranceRange, kLocalToleranceHelp);
  add_number(*c, "--starts", o->held_out.starts, kStartsRange, kStartsHelp);
  c->add_option("--model", o->model, "Model file, if it has moved since the fit")->type_name("FILE");
  c->add_option("--per", o->per, fmt::format("item: write the log density of each item to DIR/{} too", kItemScoresFile))
      ->check(CLI::IsMember({"item"}));
  c->add_flag("--tempered", o->tempered,
              "Score at the temperatures that a fit with --temper has learned, in place of temperature 1");
  CLI::Option* save = c->add_flag(
      "--save", o->save,
      fmt::format("Write the observations that --holdout chose to DIR/{}; no file where all observations are scored",
                  kHeldOutFile));
  c->add_flag("--stream", o->stream, "Read items from their files batch by batch; see docs/scale.md")
      ->excludes(save)
      ->excludes(c->get_option("--drop-missing")
                     ->description("Leave out items with a missing value; otherwise it is inferred, and not scored"));
  add_no_cache(*c);
  c->footer(fmt::format(
      "Examples:\n"
      "  lehr score out/gmm --data x=test.csv:a,b\n"
      "  lehr score out/lda --data w=test.ldac --holdout 0.5 --seed 1\n"
      "The result is in DIR/{} too. Parameters stand at their posterior means. Discrete variables of the "
      "items\n"
      "are summed out; where items have continuous ones, such as the topics of a document, part of each item is held "
      "out\n"
      "and they are inferred from the rest (document completion). docs/scoring.md has the formulas.",
      kScoreFile));
  c->callback([o, fraction, &action] {
    o->fraction_given = fraction->count() > 0;
    action = [o] { return score(*o); };
  });
}

}  // namespace lehr::commands
