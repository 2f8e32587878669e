// `lehr simulate`: draws all variables of a model, given its sizes and constants, and writes them to a file that `lehr
// fit` can read. Latent variables that the data name are fixed to the given values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/number_option.h"
#include "compiler/console/settings.h"
#include "compiler/evaluate/simulate.h"
#include "compiler/options/help_texts.h"
#include "compiler/pipeline.h"
#include "runtime/files/atomic_file.h"
#include "runtime/output/writers.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct SimulateOptions {
  std::string model, out;
  std::vector<std::string> data;
  SettingTexts settings;
  std::uint64_t seed = 1;
};

/// Returns the options that a fit of the simulated data needs as well: constants, and sizes that no array shows.
std::string repeated(const SettingTexts& t) {
  std::string out;
  for (const std::string& s : t.set)
    out += " --set " + s;
  for (const std::string& s : t.sizes)
    out += " --sizes " + s;
  for (const std::string& s : t.labels)
    out += " --labels " + s;
  return out;
}

/// Runs the command: draws, writes the file, and prints the command that fits it.
ExitCode simulate(const SimulateOptions& o) {
  const Result<ArrayFormat> written = array_format(option("out"), o.out);
  if (!written) return complain(written.error());
  const std::optional<Source> source = read_model(o.model);
  if (!source) return ExitCode::usage;
  Diagnostics diagnostics;
  const std::optional<model::Model> model = read(*source, diagnostics);
  const ExitCode code = report(diagnostics, *source);
  if (!model) return code;
  Result<Dataset> dataset = read_bindings(o.data);
  if (!dataset) return complain(dataset.error());
  Result<Settings> settings = read_settings(o.settings);
  if (!settings) return complain(settings.error());
  std::vector<Diagnostic> warnings;
  const Result<std::vector<NamedArray>> arrays = lehr::simulate(*model, *dataset, *settings, o.seed, &warnings);
  if (!arrays) return complain_of(arrays.error(), o.model);
  print_diagnostics(warnings, o.model);
  const Result<std::string> bytes = written->format(*arrays);
  if (!bytes) return complain(bytes.error());
  if (Result<bool> r = write_output(o.out, *bytes); !r) return complain(r.error());
  std::vector<std::string> names;
  for (const model::Variable& v : model->variables)
    names.push_back(v.name);
  fmt::print("{}: {} drawn with seed {}; to fit them: lehr fit {}{} --data {} --out DIR\n", model->name,
             fmt::join(names, ", "), o.seed, o.model, repeated(o.settings), o.out);
  return ExitCode::done;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  const auto o = std::make_shared<SimulateOptions>();
  CLI::App* c = app.add_subcommand("simulate", "Draw latent variables and data from a model");
  c->add_option("MODEL", o->model, "Model file (*.lehr)")->required();
  c->add_option("--data", o->data,
                "Known inputs, given as for `lehr fit` (docs/data.md): required if the model declares any as `data` "
                "(covariates, say); also latent variables to hold fixed. Default: none, all are drawn; repeatable")
      ->take_all()
      ->type_name("FILE");
  c->add_option("--out", o->out, "File for the draws (" + array_extensions() + ")")->required()->type_name("FILE");
  add_settings(*c, o->settings, kSizesToSimulateHelp);
  c->get_option("--labels")->description(kLabelsOfCodeHelp);
  add_number(*c, "--seed", o->seed, kSeedRange, kSeedHelp);
  c->footer(
      "Examples:\n"
      "  lehr simulate models/topics/lda.lehr --sizes doc=200,token=100,term=50 --set K=5 --out out/lda.npz\n"
      "  lehr fit models/topics/lda.lehr --sizes term=50 --set K=5 --data out/lda.npz --out out/lda\n"
      "  lehr simulate models/regression/logistic_regression.lehr --data models/data/regression/challenger.csv \\\n"
      "      --data weights.json --out out/flights.npz\n"
      "A latent variable that the data have under its name is fixed to that value (weights.json: {\"a\": 2, \"b\": "
      "-0.2}).\n"
      "Observed ones give sizes and are drawn anew. The file has everything that `lehr fit` needs.");
  c->callback([o, &action] { action = [o] { return simulate(*o); }; });
}

}  // namespace lehr::commands
