// `lehr show`: prints the posterior of a saved fit from its directory alone, as text, CSV or JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/describe.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/settings.h"
#include "compiler/console/show_table.h"
#include "compiler/posterior/saved_draws.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct ShowOptions {
  std::string directory, variable, format = "text";
  std::size_t top = 10;
};

/// Elements shown of a variable that the user named, and of each one if all are shown.
constexpr std::size_t kElementsOfNamed = 200, kElementsOfEach = 10;

/// Prints the fit with all variables, or only the variable `only` if it is not null.
void show_text(const SavedFit& fit, const SavedVariable* only, std::size_t top) {
  if (only) {
    fmt::print("{}", printable_lines(describe(fit, *only, {top, kElementsOfNamed})));
    return;
  }
  fmt::print("{}", printable_lines(describe(fit)));
  for (const SavedVariable& v : fit.variables)
    if (v.members.empty()) fmt::print("\n{}", printable_lines(describe(fit, v, {top, kElementsOfEach})));
}

/// Prints all numbers as CSV or JSON, of all variables or only one. Members of joint variables are left out unless
/// named, since the joint variable has their numbers.
ExitCode show_table(const SavedFit& fit, const SavedVariable* only, const std::string& format) {
  std::vector<const SavedVariable*> chosen;
  for (const SavedVariable& v : fit.variables)
    if (only ? only == &v : v.members.empty()) chosen.push_back(&v);
  const Result<PosteriorTable> table = posterior_table(fit, chosen, [&] { return stored_draws(fit); });
  if (!table) return complain(table.error());
  if (only && !table->without.empty())
    print_diagnostics({make_warning(fmt::format("there are no numbers of '{}'", only->name))}, fit.directory);
  fmt::print("{}", format == "csv" ? format_posterior_csv(fit, *table) : format_posterior_json(fit, *table));
  return ExitCode::done;
}

/// Runs the command.
ExitCode show(const ShowOptions& o) {
  const Result<SavedFit> fit = read_fit(o.directory);
  if (!fit) return complain(fit.error());
  warn_of_failure(*fit);
  const SavedVariable* only = fit->find(o.variable);
  if (!o.variable.empty() && !only) {
    std::vector<std::string> names;
    for (const SavedVariable& v : fit->variables)
      names.push_back(v.name);
    return complain(Error{ExitCode::usage,
                          o.directory,
                          fmt::format("'{}' is not a variable of this fit", o.variable),
                          {fmt::format("variables: {}", fmt::join(names, ", "))}});
  }
  if (o.format != "text") return show_table(*fit, only, o.format);
  if (fit->other_trace)
    print_diagnostics({make_warning(fmt::format(
                          "{} is of another fit, which is running or was killed; its curve is not shown", kTraceFile))},
                      o.directory);
  show_text(*fit, only, o.top);
  return ExitCode::done;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  const auto o = std::make_shared<ShowOptions>();
  CLI::App* c = app.add_subcommand("show", "Show the posterior of a fit");
  c->add_option("DIR", o->directory, "Directory written by `lehr fit`")->required();
  c->add_option("VARIABLE", o->variable, "Variable to show alone, with more of its elements; default: all variables");
  add_number(*c, "--top", o->top, kPrintedRange,
             "Entries shown, the most probable first, of a probability vector (simplex) with more than 20 entries, or "
             "with names");
  c->add_option(
       "--format", o->format,
       "Output format: text (tables to read), csv or json (all numbers, with their 5 %, 50 % and 95 % quantiles)")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  c->footer(
      fmt::format("Examples:\n"
                  "  lehr show out/gmm                    status, curve of the ELBO, every variable\n"
                  "  lehr show out/lda beta --top 20      the 20 most probable terms of each topic\n"
                  "  lehr show out/gmm --format csv       every number as a row\n"
                  "Means come with standard deviations in brackets. The numbers themselves stand in DIR/{}.",
                  kPosteriorFile));
  c->callback([o, &action] { action = [o] { return show(*o); }; });
}

}  // namespace lehr::commands
