// Reading a model file and reporting what is wrong with it.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "compiler/commands/commands.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

std::optional<Source> read_model(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    tell("lehr: cannot read {}: it is a directory\n", path);
    return std::nullopt;
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  Source source{path, std::string(std::istreambuf_iterator<char>(file), {})};
  if (file && !file.bad()) return source;
  tell("lehr: cannot read {}: {}\n", path, std::strerror(errno));
  return std::nullopt;
}

ExitCode report(const Diagnostics& diagnostics, const Source& source) {
  tell(render(diagnostics, source));
  return diagnostics.has_errors() ? ExitCode::model : ExitCode::done;
}

}  // namespace lehr::commands
