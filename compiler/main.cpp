// The command line: `lehr COMMAND ...`. Each command stands in compiler/commands.
#include <fmt/format.h>

#include <exception>

#include "compiler/commands/commands.h"

namespace {

int run(int argc, char** argv) {
  using namespace lehr::commands;
  CLI::App app{"Lehr: from a conjugate exponential-family model to native variational inference.", "lehr"};
  app.set_version_flag("--version", std::string("lehr ") + LEHR_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 internal; 2 usage; 3 model; 4 data; 5 numerical failure.\n"
      "lehr COMMAND --help shows the options of a command and examples.");
  Action action;
  add_build(app, action);
  add_check(app, action);
  add_derive(app, action);
  add_emit(app, action);
  add_format(app, action);
  add_families(app, action);
  add_fit(app, action, command_line(argc, argv));
  add_score(app, action);
  add_show(app, action);
  add_simulate(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kUsage;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "lehr: internal error: {}\n", e.what());
    return lehr::commands::kInternal;
  }
}
