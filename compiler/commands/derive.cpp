// `lehr derive`: prints the complete conditionals, the mean-field updates and the ELBO of a model as text, LaTeX, HTML
// or JSON.
#include <fmt/format.h>

#include "compiler/commands/commands.h"
#include "compiler/conditionals/print_derivation.h"
#include "compiler/options/help_texts.h"
#include "compiler/pipeline.h"
#include "compiler/report/derivation.h"
#include "compiler/schedule/invariance.h"

namespace lehr::commands {

void add_derive(CLI::App& app, Action& action) {
  struct Options {
    std::string path, format = "text", links = "bound";
  };
  CLI::App* command = app.add_subcommand("derive", "Print the complete conditionals, the updates and the ELBO");
  auto o = std::make_shared<Options>();
  command->add_option("MODEL", o->path, "Model file (*.lehr)")->required();
  command->add_option("--format", o->format, "Output format: text (plain), latex, html (one page) or json")
      ->check(CLI::IsMember({"text", "latex", "html", "json"}))
      ->capture_default_str();
  command->add_option("--links", o->links, kLinksOfCodeHelp)
      ->check(CLI::IsMember(link_choices()))
      ->capture_default_str();
  command->footer(
      "Examples:\n  lehr derive models/topics/lda.lehr\n"
      "  lehr derive models/topics/lda.lehr --format latex > lda.tex\n"
      "  lehr derive models/topics/lda.lehr --format html > lda.html");
  command->callback([&action, o] {
    action = [o] {
      const std::optional<Source> source = read_model(o->path);
      if (!source) return ExitCode::usage;
      Diagnostics diagnostics;
      std::optional<model::Model> resolved = read(*source, diagnostics);
      if (resolved) resolved->guide.gaussian_links = o->links == "gaussian";
      std::optional<Analysed> analysed = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
      Diagnostics ignored;  // the same as those of the first analysis
      if (analysed) analysed = analyse(with_joint_factors(*resolved, *analysed), {}, ignored, {.invariances = true});
      const ExitCode code = report(diagnostics, *source);
      if (!analysed) return code;
      conditionals::Derivation derivation =
          conditionals::derivation_of(analysed->model, analysed->schedule.conditionals, *source);
      for (const schedule::Invariance& x : analysed->schedule.invariances)
        derivation.invariances.push_back(schedule::describe(analysed->model, analysed->schedule, x));
      for (const schedule::Shift& x : analysed->schedule.shifts)
        derivation.invariances.push_back(x.text);
      if (o->format == "latex") fmt::print("{}", conditionals::print_latex(derivation));
      else if (o->format == "html") fmt::print("{}", report::derivation_page(derivation, source->text));
      else if (o->format == "json") fmt::print("{}", conditionals::print_json(derivation));
      else fmt::print("{}", conditionals::print_text(derivation));
      return code;
    };
  });
}

}  // namespace lehr::commands
