// `lehr emit --as NAME`: prints an intermediate representation of the compiler as text.
#include <fmt/format.h>

#include "compiler/commands/commands.h"
#include "compiler/console/help_page.h"
#include "compiler/console/pass_options.h"
#include "compiler/console/settings.h"
#include "compiler/pipeline.h"

namespace lehr::commands {

void add_emit(CLI::App& app, Action& action) {
  struct Options {
    std::string path, ir_name;
    SettingTexts settings;
    PassTexts passes;
  };
  CLI::App* command = app.add_subcommand("emit", "Print a stage of the compilation (for developers)");
  auto o = std::make_shared<Options>();
  std::vector<std::string> names;
  for (std::string_view ir_name : ir_names())
    names.emplace_back(ir_name);
  command->add_option("MODEL", o->path, "Model file (*.lehr)")->required();
  command
      ->add_option(
          "--as", o->ir_name,
          "Stage to print: ast (the file as it was parsed), model (names and plates resolved), density (terms of the "
          "log joint density), conditionals (distribution of each variable given all others), schedule (order of the "
          "updates), loops (loops of the generated program), llvm (code for LLVM) or asm (machine code)")
      ->required()
      ->check(CLI::IsMember(names));
  add_settings(*command, o->settings, kSizesOfCodeHelp);
  command->get_option("--labels")->description(kLabelsOfCodeHelp);
  add_no_opt(*command, o->passes);
  add_pass_options(*command, o->passes);
  put_in_group(*command, kDeveloperOptions,
               {"--no-opt", "--thresholds", "--print-before", "--print-after", "--verify-each", "--time-passes"});
  command->footer(
      "Examples:\n  lehr emit models/topics/lda.lehr --as density\n"
      "  lehr emit models/topics/lda.lehr --as loops --set K=10 --sizes term=6906\n"
      "Constants, sizes, labels and --no-opt matter for loops, llvm and asm. docs/architecture.md explains\n"
      "the stages.");
  command->callback([&action, o] {
    action = [o] {
      const std::optional<Source> source = read_model(o->path);
      if (!source) return ExitCode::usage;
      Diagnostics diagnostics;
      const Result<Settings> settings = read_settings(o->settings);
      if (!settings) return complain(settings.error());
      const Result<std::optional<std::string>> text =
          emit(*source, o->ir_name, *settings, diagnostics, pass_options(o->passes));
      const ExitCode code = report(diagnostics, *source);
      if (!text) return complain(text.error());
      if (*text) fmt::print("{}", **text);
      return code;
    };
  });
}

}  // namespace lehr::commands
