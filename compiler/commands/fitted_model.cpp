#include "compiler/commands/fitted_model.h"

#include "compiler/commands/settings.h"

#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::variant<FittedModel, ExitCode> read_fitted(const std::string& directory, const std::string& model) {
  Result<SavedFit> fit = read_fit(directory);
  if (!fit) return complain(fit.error());
  std::optional<Source> source = read_model(model.empty() ? fit->model_file : model);
  if (!source) return ExitCode::usage;
  Diagnostics diagnostics;
  std::optional<model::Model> resolved = read(*source, diagnostics);
  std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  if (!complete) return report(diagnostics, *source);
  return FittedModel{std::move(*fit), std::move(*source), std::move(*resolved), std::move(*complete)};
}

}  // namespace lehr::commands
