// Reading a model file and reporting what is wrong with it.
#include "compiler/commands/commands.h"
#include "runtime/files/atomic_file.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::optional<Source> read_model(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (text) return Source{path, std::move(*text)};
  tell("lehr: {}: {}\n", path, text.error().text);
  return std::nullopt;
}

ExitCode report(const Diagnostics& diagnostics, const Source& source) {
  tell(render(diagnostics, source));
  return diagnostics.has_errors() ? ExitCode::model : ExitCode::done;
}

}  // namespace lehr::commands
