// `lehr help` shows the options of a command or the manual page; `lehr completion` prints a script for a shell.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/commands/commands.h"
#include "compiler/console/interface.h"

namespace lehr::commands {

void add_help(CLI::App& app, Action& action) {
  struct Options {
    std::string command;
    bool manual = false;
  };
  const auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("help", "Show the options of a command, or list all commands");
  std::vector<std::string> names = names_of(commands_of(app));
  c->add_option("COMMAND", o->command, "Command whose options to show; default: list all commands")
      ->check(one_of(std::move(names)));
  c->add_flag("--man", o->manual, "Print the manual page of all commands, for man(1)");
  c->footer("Examples:\n  lehr help fit\n  lehr help --man > lehr.1");
  c->callback([o, &app, &action] {
    action = [o, &app] {
      if (o->manual) fmt::print("{}", manual_page(app, LEHR_VERSION));
      // app.help() would show the page of `help` itself, as that is the command that was parsed.
      else if (o->command.empty())
        fmt::print("{}", app.get_formatter()->make_help(&app, "lehr", CLI::AppFormatMode::Normal));
      else fmt::print("{}", app.get_subcommand(o->command)->help("lehr", CLI::AppFormatMode::All));
      return ExitCode::done;
    };
  });
}

void add_completion(CLI::App& app, Action& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* c = app.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  c->add_option("SHELL", *shell,
                fmt::format("Shell to write a script for: one of {}", fmt::join(completion_shells(), ", ")))
      ->required()
      ->check(one_of(completion_shells()));
  c->footer(
      "Examples:\n"
      "  lehr completion bash > ~/.local/share/bash-completion/completions/lehr\n"
      "  lehr completion fish > ~/.config/fish/completions/lehr.fish");
  c->callback([shell, &app, &action] {
    action = [shell, &app] {
      fmt::print("{}", completion_script(app, *shell));
      return ExitCode::done;
    };
  });
}

}  // namespace lehr::commands
