// Opens saved fits for commands that apply them to new data.
#include "compiler/console/fitted_model.h"

#include <algorithm>
#include <cctype>

#include "compiler/console/settings.h"
#include "compiler/fit/fit_summary.h"
#include "runtime/files/atomic_file.h"
#include "runtime/inference/cavi.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::optional<Source> model_of(const SavedFit& fit, const std::string& model) {
  if (!model.empty()) return read_model(model);
  if (fit.model_text.empty()) {
    std::optional<Source> current = read_model(fit.model_file);
    if (!current)
      print_to_stderr("  note: --model FILE says where the model of the fit in {} is by now\n", fit.directory);
    return current;
  }
  if (const Result<std::string> now = read_file(fit.model_file); now && *now != fit.model_text)
    print_diagnostics({make_note(fmt::format("{} is another model by now; this is about the one that was fitted "
                                             "(--model FILE takes another)",
                                             fit.model_file))},
                      fit.directory);
  return Source{fit.model_file, fit.model_text};
}

void warn_of_failure(const SavedFit& fit) {
  if (fit.status != name_of(Status::numerical_failure)) return;
  print_diagnostics({make_warning(fmt::format("the fit ended with a numerical failure (its status in {} is {}): "
                                              "its numbers are not a posterior",
                                              kFitFile, fit.status),
                                  {"`lehr fit` with another --seed or --init, or a narrower prior, may do"})},
                    fit.directory);
}

Error with_settings_source(const SavedFit& fit, Error e, const std::vector<std::string>& given) {
  const std::string source = fit.directory.empty() ? "the fit" : "the fit in " + fit.directory;
  // The option must be named as where a size came from, not as a proposal ("--sizes doc=3") and not as part of a longer
  // name.
  const auto is_source = [](const std::string& text, std::size_t end) {
    const auto next = end < text.size() ? static_cast<unsigned char>(text[end]) : '\0';
    return next != '=' && next != '_' && !std::isalnum(next);
  };
  const auto replace = [&](std::string& text, const std::string& option_text) {
    for (std::size_t at = text.find(option_text); at != text.npos; at = text.find(option_text, at + 1)) {
      if (is_source(text, at + option_text.size())) text.replace(at, option_text.size(), source);
    }
  };
  for (const auto& [plate, size] : fit.sizes) {
    if (std::ranges::find(given, plate) != given.end()) continue;
    for (const std::string& option_text : {option("sizes " + plate), option("labels " + plate)}) {
      replace(e.where, option_text);
      replace(e.text, option_text);
      for (std::string& note : e.notes)
        replace(note, option_text);
    }
  }
  return e;
}

std::variant<FittedModel, ExitCode> read_fitted(const std::string& directory, const std::string& model) {
  Result<SavedFit> fit = read_fit(directory);
  if (!fit) return complain(fit.error());
  warn_of_failure(*fit);
  std::optional<Source> source = model_of(*fit, model);
  if (!source) return ExitCode::usage;
  Diagnostics diagnostics;
  std::optional<model::Model> resolved = read(*source, diagnostics);
  if (resolved) resolved = with_guide_of(*resolved, fit->posterior, nlohmann::json::parse(fit->summary));
  std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  if (!complete) return report(diagnostics, *source);
  return FittedModel{std::move(*fit), std::move(*source), std::move(*resolved), std::move(*complete)};
}

}  // namespace lehr::commands
