// `lehr show`: what a fit found, from its directory alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/commands/describe.h"
#include "compiler/commands/numbers.h"
#include "compiler/commands/settings.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

struct ShowOptions {
  std::string directory, variable;
  std::size_t top = 10;
};

/// Rows of a variable that was asked for, and of one among all.
constexpr std::size_t kManyRows = 200, kFewRows = 10;

ExitCode show(const ShowOptions& o) {
  const Result<SavedFit> fit = read_fit(o.directory);
  if (!fit) return complain(fit.error());
  if (fit->other_trace)
    tell("{}: warning: trace.csv is of another fit, which is running or was killed; its curve is not shown\n",
         o.directory);
  if (o.variable.empty()) {
    fmt::print("{}", printable_lines(describe(*fit)));
    for (const SavedVariable& v : fit->variables)
      fmt::print("\n{}", printable_lines(describe(*fit, v, {o.top, kFewRows})));
    return ExitCode::done;
  }
  if (const SavedVariable* v = fit->find(o.variable)) {
    fmt::print("{}", printable_lines(describe(*fit, *v, {o.top, kManyRows})));
    return ExitCode::done;
  }
  std::vector<std::string> known;
  for (const SavedVariable& v : fit->variables)
    known.push_back(v.name);
  return complain(Error{ExitCode::usage,
                        o.directory,
                        fmt::format("'{}' is not a variable of this fit", o.variable),
                        {fmt::format("variables: {}", fmt::join(known, ", "))}});
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  const auto o = std::make_shared<ShowOptions>();
  CLI::App* c = app.add_subcommand("show", "Show the posterior of a fit");
  c->add_option("DIR", o->directory, "directory that `lehr fit` wrote")->required();
  c->add_option("VARIABLE", o->variable, "show this variable only, with more of its rows");
  add_number(*c, "--top", o->top, kShownRange, "elements shown of a simplex that is labelled or large");
  c->footer(
      "Examples:\n"
      "  lehr show out/gmm                    status, curve of the ELBO, every variable\n"
      "  lehr show out/lda beta --top 20      the 20 most probable terms of each topic\n"
      "Means come with standard deviations in brackets. The numbers themselves stand in DIR/posterior.npz.");
  c->callback([o, &action] { action = [o] { return show(*o); }; });
}

}  // namespace lehr::commands
