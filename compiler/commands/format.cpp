// `lehr format`: rewrites model files in the standard formatting, each atomically; with --check it only lists them.
#include <algorithm>

#include "compiler/ast/format.h"
#include "compiler/commands/commands.h"
#include "compiler/console/settings.h"
#include "runtime/files/atomic_file.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Formats one file, or with `check` only reports if it would change. Returns ExitCode::model for such a file or for a
/// syntax error.
ExitCode format_one(const std::string& path, bool check) {
  const std::optional<Source> source = read_model(path);
  if (!source) return ExitCode::usage;
  Diagnostics diagnostics;
  const std::optional<std::string> text = format(*source, diagnostics);
  if (!text) return report(diagnostics, *source);
  if (*text == source->text) return ExitCode::done;
  if (check) {
    print_to_stderr("{}: not in the one formatting; run lehr format {}\n", path, path);
    return ExitCode::model;
  }
  const Result<bool> written = write_file(path, *text);
  return written ? ExitCode::done : complain(written.error());
}

}  // namespace

void add_format(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> paths;
    bool check = false;
  };
  CLI::App* command = app.add_subcommand("format", "Rewrite model files in the standard layout");
  auto o = std::make_shared<Options>();
  command->add_option("MODEL", o->paths, "Model files (*.lehr)")->required();
  command->add_flag("--check", o->check, "Only list the files that would change; exit code 3 if there are any");
  command->footer("Examples:\n  lehr format models/*/*.lehr\n  lehr format --check models/*/*.lehr");
  command->callback([&action, o] {
    action = [o] {
      ExitCode worst = ExitCode::done;
      for (const std::string& path : o->paths)
        worst = std::max(worst, format_one(path, o->check));
      return worst;
    };
  });
}

}  // namespace lehr::commands
