// What the commands share: reading a model file, reporting what is wrong with it, writing a file that was asked for.
#include <filesystem>

#include "compiler/commands/commands.h"
#include "compiler/commands/settings.h"
#include "runtime/files/atomic_file.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::optional<Source> read_model(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (text) return Source{path, std::move(*text)};
  tell("lehr: {}: {}\n", path, text.error().text);
  return std::nullopt;
}

Result<bool> write_output(const std::string& path, std::string_view bytes) {
  std::error_code ignored;  // the writer says what is wrong
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  return write_file(path, bytes);
}

ExitCode complain_of(Error error, const std::string& where) {
  if (error.where.empty()) error.where = where;
  return complain(error);
}

ExitCode report(const Diagnostics& diagnostics, const Source& source) {
  tell(render(diagnostics, source));
  return diagnostics.has_errors() ? ExitCode::model : ExitCode::done;
}

}  // namespace lehr::commands
