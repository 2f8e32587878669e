// `lehr check`: analyses a model up to its schedule, checks the numbers in it, and prints errors and warnings; prints
// nothing if there are none.
#include "compiler/commands/commands.h"
#include "compiler/pipeline.h"

namespace lehr::commands {

void add_check(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("check", "Check a model file; print nothing if it is correct");
  auto path = std::make_shared<std::string>();
  command->add_option("MODEL", *path, "Model file (*.lehr)")->required();
  command->footer("Example:\n  lehr check models/topics/lda.lehr");
  command->callback([&action, path] {
    action = [path] {
      const std::optional<Source> source = read_model(*path);
      if (!source) return ExitCode::usage;
      Diagnostics diagnostics;
      const std::optional<Analysed> analysed = analyse(*source, {}, diagnostics);
      if (const ExitCode code = report(diagnostics, *source); !analysed) return code;
      const Result<BoundData> numbers = bind_sizes(analysed->model, {});
      return numbers ? ExitCode::done : complain_of(numbers.error(), *path);
    };
  });
}

}  // namespace lehr::commands
