// `lehr predict`: predicts new items and missing values of data from a saved variational fit. Data are read whole, or
// with --stream batch by batch (predict_batches.h). The output is a CSV table or a file of arrays.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "compiler/commands/predict_batches.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/prediction_table.h"
#include "compiler/console/progress_reporter.h"
#include "compiler/console/settings.h"
#include "compiler/options/help_texts.h"
#include "compiler/posterior/posterior_prior.h"
#include "compiler/predict/prediction_arrays.h"
#include "runtime/files/member_file.h"
#include "runtime/output/fit_files.h"
#include "runtime/output/writers.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

constexpr std::string_view kTable = ".csv";  // extension of a table; all others are formats of arrays

/// Values of the command's options.
struct PredictOptions {
  std::string directory, model, out;
  std::vector<std::string> data, sizes;
  bool stream = false;
  PredictionOptions prediction;
};

/// Parses --sizes: PLATE=N is a size, PLATE=+N that many more elements than in the fit.
Result<PlateSizes> read_sizes(const std::vector<std::string>& texts) {
  std::vector<std::string> sizes, more;
  for (const std::string& text : texts) {
    const std::size_t plus = text.find("=+");
    if (plus == std::string::npos) sizes.push_back(text);
    else more.push_back(text.substr(0, plus + 1) + text.substr(plus + 2));
  }
  const Result<Settings> given = read_settings({{}, sizes, {}}), added = read_settings({{}, more, {}});
  if (!given) return given.error();
  if (!added) return added.error();
  return PlateSizes{given->sizes, added->sizes};
}

/// Predicts with all data in memory and writes the result to `path`, as arrays in `format`, or as a table without one.
Result<PredictionOutcome> predict_whole(const PredictOptions& o, const FittedModel& f, const std::string& path,
                                        const std::optional<ArrayFormat>& format) {
  Result<Dataset> dataset = read_bindings(o.data);
  if (!dataset) return dataset.error();
  add_constants(f.resolved, f.fit, *dataset);
  const Result<PlateSizes> sizes = read_sizes(o.sizes);
  if (!sizes) return sizes.error();
  const Result<Prediction> p = lehr::predict(f.source, f.resolved, f.complete, *dataset, *sizes, f.fit, o.prediction);
  if (!p) return p.error();
  const Result<std::string> bytes = format ? format->format(prediction_arrays(*p)) : prediction_csv(*p);
  if (!bytes) return bytes.error();
  if (Result<bool> r = o.out.empty() ? write_file_no_follow(path, *bytes) : write_output(path, *bytes); !r)
    return r.error();
  PredictionOutcome out{{}, p->draws > 0, p->notes, p->items_found};
  for (const PredictedVariable& v : p->variables)
    out.variables.emplace_back(p->model[v.variable].name, v.elements.size());
  return out;
}

/// Returns the names of the plates in --sizes.
std::vector<std::string> plates_of(const std::vector<std::string>& sizes) {
  std::vector<std::string> out;
  for (const std::string& text : sizes)
    out.push_back(text.substr(0, text.find('=')));
  return out;
}

/// Returns the array format for the extension of `path`, or nothing for a table. Fails with ExitCode::usage for unknown
/// extensions, and for arrays with --stream, which writes rows as they are predicted.
Result<std::optional<ArrayFormat>> format_of(const std::string& path, bool stream) {
  if (path.ends_with(kTable)) return std::optional<ArrayFormat>();
  const Result<ArrayFormat> format = array_format(option("out"), path);
  if (!format)
    return Error{ExitCode::usage,
                 option("out"),
                 fmt::format("'{}' does not end in {} or {}", path, kTable, array_extensions()),
                 {}};
  if (stream)
    return Error{ExitCode::usage,
                 option("stream"),
                 fmt::format("predictions that are written as they come are a table, and '{}' is none", path),
                 {fmt::format("give it a name that ends in {}", kTable)}};
  return std::optional(*format);
}

/// Returns how the predictions were found, for the message: number of draws, and how local variables were inferred.
/// Results of coordinate ascent from several starts are never called exact.
std::string inference_note(const PredictionOutcome& p, const PredictionOptions& o) {
  const std::string items = description(p.items);
  const std::string drawn = p.drawn ? fmt::format(", {} draws with seed {}", o.draws, o.seed) : "";
  if (!items.empty()) return drawn + "; " + items;
  return p.drawn ? drawn : ", without draws";
}

/// Runs the command: opens the fit, predicts, writes the file and prints a summary.
ExitCode predict(const PredictOptions& o) {
  const std::string path = o.out.empty() ? (std::filesystem::path(o.directory) / kPredictedFile).string() : o.out;
  const Result<std::optional<ArrayFormat>> format = format_of(path, o.stream);
  if (!format) return complain(format.error());
  const std::variant<FittedModel, ExitCode> opened = read_fitted(o.directory, o.model);
  if (const ExitCode* code = std::get_if<ExitCode>(&opened)) return *code;
  const auto& fitted = std::get<FittedModel>(opened);
  const Result<PredictionOutcome> done =
      o.stream ? predict_in_batches(fitted, o.data, o.prediction, path,
                                    o.out.empty() ? ExistingTarget::replaced : ExistingTarget::followed)
               : predict_whole(o, fitted, path, *format);
  if (!done) return complain_of(with_settings_source(fitted.fit, done.error(), plates_of(o.sizes)), fitted.source.name);
  print_diagnostics(done->notes);
  std::vector<std::string> names;
  for (const auto& [name, elements] : done->variables)
    names.push_back(fmt::format("{} ({})", name, elements));
  fmt::print("{}: predicted {} in {}{}\n", printable(fitted.fit.model), fmt::join(names, ", "), printable(path),
             inference_note(*done, o.prediction));
  return ExitCode::done;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  const auto o = std::make_shared<PredictOptions>();
  CLI::App* c = app.add_subcommand("predict", "Predict new items and missing values from a variational fit");
  c->add_option("DIR", o->directory, "Directory written by `lehr fit` with method cavi or svi")->required();
  c->add_option(
       "--data", o->data,
       "Known values of the new items, given as for `lehr fit` (docs/data.md); others are predicted. Required for "
       "inputs, which the model declares as `data`. Default: none, and --sizes has the number of new items")
      ->take_all()
      ->type_name("FILE");
  c->add_option(
       "--sizes", o->sizes,
       "Sizes of plates (index sets such as `year`) that the data do not show: PLATE=N, or PLATE=+N for N more "
       "elements than in the fit. Required for the plate of the items without --data, and for plates inside the "
       "items; others: as in the fit")
      ->type_name("PLATE=N")
      ->take_all()
      ->delimiter(',');
  c->add_flag("--stream", o->stream,
              "Read items from their files batch by batch, and write predictions meanwhile; see docs/scale.md")
      ->excludes(c->get_option("--sizes"));
  c->add_option(
       "--out", o->out,
       fmt::format("File for the predictions ({} or {}); default: DIR/{}", kTable, array_extensions(), kPredictedFile))
      ->type_name("FILE");
  add_number(*c, "--draws", o->prediction.draws, kDrawsRange,
             "Monte Carlo draws for predictions without a closed form; at least 2");
  add_number(*c, "--seed", o->prediction.seed, kSeedRange, kSeedHelp);
  add_number(*c, "--local-iters", o->prediction.local.local_iterations, kLocalIterationsRange, kLocalIterationsHelp);
  add_number(*c, "--local-tol", o->prediction.local.local_tolerance, kToleranceRange, kLocalToleranceHelp);
  add_number(*c, "--starts", o->prediction.starts, kStartsRange, kStartsHelp);
  c->add_option("--model", o->model, "Model file, if it has moved since the fit")->type_name("FILE");
  add_no_cache(*c);
  c->footer(
      "Examples:\n"
      "  lehr predict out/gmm --data x=test.csv:a,b --out out/classes.csv\n"
      "  lehr predict out/regression --data x=test.csv:a,b          the y that is not given\n"
      "  lehr predict out/coin --sizes throw=1 --out out/next.json\n"
      "  lehr predict out/nile --sizes year=+10                     the next ten years\n"
      "Observed variables are predicted where their values are missing (empty fields, or not given at all), the\n"
      "local variables of all items, chains of states as paths too, and each `let` of latent variables.\n"
      "docs/predicting.md says which numbers are exact and how the others are drawn.");
  o->prediction.on_start = ProgressReporter("starts of the items");
  c->callback([o, &action] { action = [o] { return predict(*o); }; });
}

}  // namespace lehr::commands
