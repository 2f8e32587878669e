// Functions that most commands share: reading a model file, reporting errors in it, and writing an output file.
#include <algorithm>
#include <filesystem>

#include "compiler/advice.h"
#include "compiler/console/console.h"
#include "compiler/console/settings.h"
#include "compiler/console/starters.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

namespace {

constexpr const char* kExtension = ".lehr";

/// Returns suggestions for a model file that does not exist: its name with the extension added, a similar name, or an
/// example model of `lehr new`.
std::vector<std::string> suggestions(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path wanted(path), folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  if (fs::exists(wanted, ignored)) return {};
  std::vector<std::string> out;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored))
    if (entry->path().extension() == kExtension) names.push_back(entry->path().filename().string());
  if (std::ranges::find(names, wanted.filename().string() + kExtension) != names.end())
    out.push_back(fmt::format("did you mean {}{}?", path, kExtension));
  else if (const std::string nearest = suggest(wanted.filename().string(), names); nearest.starts_with("did you"))
    out.push_back(nearest);
  const std::string kind = wanted.stem().string();
  if (std::ranges::find(starter_files(), kind + kExtension, &StarterFile::name) != starter_files().end())
    out.push_back(fmt::format("`lehr new {}` writes a model {}{} to begin with", kind, kind, kExtension));
  else if (out.empty()) out.push_back("`lehr new` lists models to begin with, and writes them");
  return out;
}

}  // namespace

std::optional<Source> read_model(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (text) return Source{path, std::move(*text)};
  print_to_stderr("lehr: {}: {}\n", path, text.error().text);
  for (const std::string& note : suggestions(path))
    print_to_stderr("  note: {}\n", note);
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
  print_to_stderr(render_tested(diagnostics, source));
  return diagnostics.has_errors() ? ExitCode::model : ExitCode::done;
}

}  // namespace lehr::commands
