// `lehr report`: writes a saved fit as one HTML page with plots. The model and the data are read again if they are
// still available; otherwise the report says what is missing and why, and a warning goes to stderr.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/data_arguments.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/settings.h"
#include "compiler/diagnose/restored_fit.h"
#include "compiler/fit/fit_summary.h"
#include "compiler/pipeline.h"
#include "compiler/report/report.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/member_file.h"
#include "runtime/files/readers.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct ReportOptions {
  std::string directory, out, model;
  DataArguments data;
  std::vector<std::string> images;
  std::size_t top = 12;
};

/// Parses "pixel=4x4" into a plate and a shape. Fails with ExitCode::usage if the plate is not in the fit or its size
/// is not rows x columns.
Result<std::pair<std::string, report::ImageShape>> read_image(const std::string& given, const SavedFit& fit) {
  const std::size_t equals = given.find('='), by = given.find('x', equals == given.npos ? 0 : equals);
  const auto number = [&](std::size_t begin, std::size_t end) {
    std::size_t out = 0;
    const auto [stop, failure] = std::from_chars(given.data() + begin, given.data() + end, out);
    return failure == std::errc() && stop == given.data() + end ? out : 0;
  };
  report::ImageShape shape;
  if (equals != given.npos && by != given.npos) shape = {number(equals + 1, by), number(by + 1, given.size())};
  if (shape.rows == 0 || shape.columns == 0 || shape.rows > 4096 || shape.columns > 4096)
    return Error{ExitCode::usage,
                 "--image",
                 fmt::format("'{}' is not PLATE=ROWSxCOLUMNS", given),
                 {"for example --image pixel=28x28"}};
  const std::string plate = given.substr(0, equals);
  const auto size = fit.sizes.find(plate);
  if (size == fit.sizes.end())
    return Error{ExitCode::usage, "--image", fmt::format("'{}' is not a plate of this fit", plate), {}};
  if (shape.rows * shape.columns != static_cast<std::size_t>(size->second))
    return Error{
        ExitCode::usage,
        "--image",
        fmt::format("{} x {} is not the size of '{}', which is {}", shape.rows, shape.columns, plate, size->second),
        {}};
  return std::pair(plate, shape);
}

/// Returns diagnosis.json of the directory, or null if there is none or it is older than the fit.
nlohmann::json read_diagnosis(const std::filesystem::path& directory) {
  std::error_code missing;
  const auto made = std::filesystem::last_write_time(directory / kDiagnosisFile, missing);
  if (missing || made < std::filesystem::last_write_time(directory / kFitFile, missing)) return {};
  const Result<std::string> text = read_file((directory / kDiagnosisFile).string());
  nlohmann::json out = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  return out.is_object() ? out : nlohmann::json();
}

/// Returns the data options of the fit, as fit.json recorded them.
DataArguments data_of(const nlohmann::json& summary) {
  DataArguments out;
  const nlohmann::json recorded = summary.value("data", nlohmann::json::array());
  for (const nlohmann::json& binding : recorded)
    if (binding.is_string()) out.bindings.push_back(binding.get<std::string>());
  out.drop_missing = summary.value("drop_missing", false);
  return out;
}

/// Returns an error as one sentence.
std::string sentence(const Error& error) {
  const Error e = with_option_prefix(error, "--");
  return e.where + ": " + e.text;
}

/// Reads the data again and binds them to the model, into `to.data`. If that fails, `to.data_missing_reason` says why.
void show_data(const model::Model& resolved, const Analysed& complete, const DataArguments& from,
               report::Contents& to) {
  if (from.bindings.empty()) {
    to.data_missing_reason = "The fit did not record where its data are; with --data the report shows them.";
    return;
  }
  if (std::ranges::any_of(from.bindings, reads_standard_input)) {
    to.data_missing_reason =
        "The data are not shown: they came from the standard input; with --data the report shows them.";
    return;
  }
  Result<Dataset> dataset = read_data(from, resolved);
  if (dataset) {
    Result<BoundData> bound = lehr::bind(resolved, std::move(*dataset), to_fit_settings(to.fit, resolved, complete));
    if (bound) to.data = std::move(*bound);
    else to.data_missing_reason = sentence(bound.error());
  } else {
    to.data_missing_reason = sentence(dataset.error());
  }
  if (!to.data) to.data_missing_reason = "The data are not shown: " + to.data_missing_reason;
}

/// Returns true if the model has the name and the latent variables of the fit. Otherwise the model file has changed
/// since.
bool is_of(const model::Model& m, const SavedFit& fit) {
  return m.name == fit.model && std::ranges::all_of(m.variables, [&](const model::Variable& v) {
           return v.observed || fit.find(v.name) != nullptr;
         });
}

/// Adds the model, its derivation and the data to the report, as far as they are still available.
void add_model(const ReportOptions& o, report::Contents& to) {
  const bool is_stored = o.model.empty() && !to.fit.model_text.empty();
  const std::string path = o.model.empty() ? to.fit.model_file : o.model;
  const Result<std::string> text = is_stored ? Result<std::string>(to.fit.model_text) : read_file(path);
  if (!text) {
    to.model_missing_reason = fmt::format("The model is not shown: {}: {}", path, text.error().text);
    to.data_missing_reason = "The data are not shown, as the model is not there to say what they are.";
    return;
  }
  const Source source{path, *text};
  Diagnostics diagnostics;
  std::optional<model::Model> resolved = read(source, diagnostics);
  if (resolved) resolved = with_guide_of(*resolved, to.fit.posterior, to.summary);
  const std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  if (!complete || !is_of(complete->model, to.fit)) {
    to.model_missing_reason = fmt::format("The model is not shown: {} is no longer that of the fit.", path);
    to.data_missing_reason = "The data are not shown, as the model is not there to say what they are.";
    return;
  }
  to.model_text = *text;
  to.derivation = conditionals::derivation_of(complete->model, complete->schedule.conditionals, source);
  show_data(*resolved, *complete, o.data.bindings.empty() ? data_of(to.summary) : o.data, to);
  to.model = std::move(resolved);
}

/// Runs the command: reads the fit, collects the contents, and writes the page.
ExitCode report_on(const ReportOptions& o) {
  Result<SavedFit> fit = read_fit(o.directory);
  if (!fit) return complain(fit.error());
  warn_of_failure(*fit);
  report::PlotOptions options;
  options.top = o.top;
  for (const std::string& given : o.images) {
    const auto image = read_image(given, *fit);
    if (!image) return complain(image.error());
    options.images[image->first] = image->second;
  }
  const std::filesystem::path directory(o.directory);
  report::Contents contents;
  contents.fit = std::move(*fit);
  contents.summary = nlohmann::json::parse(contents.fit.summary);
  contents.locals_note = "A fit with --save-locals writes the factors of items too.";
  contents.diagnosis = read_diagnosis(directory);
  add_model(o, contents);
  for (const std::string& missing : {contents.model_missing_reason, contents.data_missing_reason})
    if (!missing.empty()) print_diagnostics({make_warning(missing)}, o.directory);
  const std::string out = o.out.empty() ? (directory / kReportFile).string() : o.out;
  const std::string page = report::write(contents, options);
  if (Result<bool> r = o.out.empty() ? write_file_no_follow(out, page) : write_output(out, page); !r)
    return complain(r.error());
  fmt::print("{}: the report is in {}\n", contents.fit.model, out);
  return ExitCode::done;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  const auto o = std::make_shared<ReportOptions>();
  CLI::App* c = app.add_subcommand("report", "Write a fit as one HTML file with pictures");
  c->add_option("DIR", o->directory, "Directory written by `lehr fit`")->required();
  c->add_option("-o,--out", o->out, fmt::format("HTML file to write; default: DIR/{}", kReportFile))->type_name("FILE");
  c->add_option("--image", o->images,
                "Plate (index set) whose elements are the pixels of an image, row by row, e.g. pixel=28x28; repeatable")
      ->take_all()
      ->type_name("PLATE=ROWSxCOLUMNS");
  add_number(*c, "--top", o->top, kPrintedRange,
             "Entries shown of a long probability vector (simplex), the most probable first");
  add_data(*c, o->data,
           "Data that the fit was made from, given as for `lehr fit` (docs/data.md), if they have moved; default: as "
           "the fit recorded them");
  c->get_option("--drop-missing")
      ->description(
          "Leave out items with a missing value: give it with --data if the fit was made with it. Without --data it is "
          "as in the fit");
  c->add_option("--model", o->model, "Model file, if it has moved since the fit")->type_name("FILE");
  c->footer(
      fmt::format("Examples:\n"
                  "  lehr report out/gmm                                      writes out/gmm/{}\n"
                  "  lehr report out/lda --top 20 -o lda.html\n"
                  "  lehr report out/factorial_mixture --image pixel=4x4\n"
                  "The file needs no network and no script. docs/report.md says which picture a variable gets.",
                  kReportFile));
  c->callback([o, &action] { action = [o] { return report_on(*o); }; });
}

}  // namespace lehr::commands
