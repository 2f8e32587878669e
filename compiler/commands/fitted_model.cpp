#include "compiler/commands/fitted_model.h"

#include "compiler/commands/settings.h"
#include "runtime/files/atomic_file.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::optional<Source> model_of(const SavedFit& fit, const std::string& model) {
  if (!model.empty()) return read_model(model);
  if (fit.model_text.empty()) return read_model(fit.model_file);
  if (const Result<std::string> now = read_file(fit.model_file); now && *now != fit.model_text)
    tell("{}: note: {} is another model by now; this is about the one that was fitted (--model FILE takes another)\n",
         fit.directory, fit.model_file);
  return Source{fit.model_file, fit.model_text};
}

std::variant<FittedModel, ExitCode> read_fitted(const std::string& directory, const std::string& model) {
  Result<SavedFit> fit = read_fit(directory);
  if (!fit) return complain(fit.error());
  std::optional<Source> source = model_of(*fit, model);
  if (!source) return ExitCode::usage;
  Diagnostics diagnostics;
  std::optional<model::Model> resolved = read(*source, diagnostics);
  std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  if (!complete) return report(diagnostics, *source);
  return FittedModel{std::move(*fit), std::move(*source), std::move(*resolved), std::move(*complete)};
}

}  // namespace lehr::commands
