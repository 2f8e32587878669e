// `lehr families`: lists the distributions of the language from their table in compiler/math.
#include <fmt/format.h>

#include "compiler/commands/commands.h"
#include "compiler/math/print_families.h"

namespace lehr::commands {

void add_families(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("families", "List the distributions: parameters, densities, statistics");
  command->footer("Example:\n  lehr families | less");
  command->callback([&action] {
    action = [] {
      fmt::print("{}", math::print_families());
      return ExitCode::done;
    };
  });
}

}  // namespace lehr::commands
