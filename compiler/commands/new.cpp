// `lehr new`: writes an example model with toy data and prints the commands to run next. The commands are in comments
// at the head of the model file and are printed from there, so that text and file agree.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "compiler/commands/commands.h"
#include "compiler/console/interface.h"
#include "compiler/console/settings.h"
#include "compiler/console/starters.h"

namespace lehr::commands {
namespace {

// What a comment line of a model begins with, and one with a command to run.
constexpr std::string_view kComment = "// ", kCommand = "//   lehr ";

/// Returns the kind of model a file belongs to: its name before the first point.
std::string_view kind_of(const StarterFile& file) { return file.name.substr(0, file.name.find('.')); }

/// Returns true for the model file of a kind, false for its data.
bool is_model(const StarterFile& file) { return file.name.ends_with(".lehr"); }

/// Returns the text before the first line end.
std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// Returns all kinds of models.
std::vector<std::string> kinds() {
  std::vector<std::string> out;
  for (const StarterFile& file : starter_files())
    if (is_model(file)) out.emplace_back(kind_of(file));
  return out;
}

/// Returns one line for each kind with the first line of its model as description.
std::string list_of_kinds() {
  std::string out;
  for (const StarterFile& file : starter_files())
    if (is_model(file)) out += fmt::format("{:<12}{}\n", kind_of(file), first_line(file.text).substr(kComment.size()));
  return out;
}

/// Returns the commands in the leading comments of a model, one a line.
std::string next_commands(std::string_view model) {
  std::string out;
  for (; model.starts_with("//"); model.remove_prefix(std::min(first_line(model).size() + 1, model.size())))
    if (model.starts_with(kCommand)) out += fmt::format("  {}\n", first_line(model).substr(kCommand.find("lehr")));
  return out;
}

/// Writes all files of a kind into the directory and prints the next commands. Fails with ExitCode::usage if one of the
/// files exists.
ExitCode write_starter(const std::string& kind, const std::string& directory) {
  std::vector<StarterFile> files;
  std::vector<std::string_view> names;
  std::string commands;
  const auto path = [&](const StarterFile& file) { return (std::filesystem::path(directory) / file.name).string(); };
  for (const StarterFile& file : starter_files()) {
    if (kind_of(file) != kind) continue;
    std::error_code unknown;
    if (std::filesystem::exists(path(file), unknown))
      return complain({ExitCode::usage,
                       path(file),
                       "the file is there already",
                       {"name another directory: lehr new " + kind + " DIR"}});
    files.push_back(file);
    names.push_back(file.name);
    if (is_model(file)) commands = next_commands(file.text);
  }
  for (const StarterFile& file : files)
    if (Result<bool> r = write_output(path(file), file.text); !r) return complain(r.error());
  fmt::print("{} written to {}; next:\n\n", fmt::join(names, ", "), directory);
  const char* const change[] = {"cd", directory.c_str()};
  if (directory != ".") fmt::print("  {}\n", command_line(2, change));
  fmt::print("{}", commands);
  return ExitCode::done;
}

}  // namespace

void add_new(CLI::App& app, Action& action) {
  struct Options {
    std::string kind, directory = ".";
  };
  const auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("new", "Write a commented model to begin with, and toy data");
  c->add_option("KIND", o->kind, "Kind of model, one of those below; without it, all kinds are listed")
      ->check(one_of(kinds()));
  c->add_option("DIR", o->directory, "Directory for the files, created if needed; default: the current one");
  c->footer("Kinds:\n" + list_of_kinds() + "Examples:\n  lehr new gmm\n  lehr new lda topics");
  c->callback([o, &action] {
    action = [o] {
      if (!o->kind.empty()) return write_starter(o->kind, o->directory);
      fmt::print("{}", list_of_kinds());
      return ExitCode::done;
    };
  });
}

}  // namespace lehr::commands
