// `lehr update`: fits new data with the posterior of a saved fit as the prior. It is `lehr fit` with this prior and its
// settings, started at the old posterior.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/commands/commands.h"
#include "compiler/commands/fit_options.h"
#include "compiler/console/number_option.h"
#include "compiler/options/fit_settings.h"
#include "runtime/files/readers.h"
#include "runtime/output/fit_files.h"

namespace lehr::commands {
namespace {

/// An option of `lehr fit` that an update refuses, since it would have no effect, and why.
struct RefusedOption {
  std::string_view option;  // as in the table fit_option_table()
  std::string why;          // the reason and what to do instead
};

/// Returns the options that have no effect for the method of an update, and those that have none from its start.
std::vector<RefusedOption> refused_options(const FitOptions& o) {
  std::vector<RefusedOption> out{
      {"parts", "only sweeps at a temperature are made in parts, and an update has none: leave it out"},
      {"restarts,chains",
       "every run of an update starts at the posterior of the fit and ends alike: leave it out, or fit all data by "
       "`lehr fit --restarts`"}};
  for (const FitOption& row : fit_option_table()) {
    if (!row.is_number() || has_effect(row.used_by, o)) continue;
    out.push_back({row.option, fmt::format("an update is made by {}, for which it has no effect: leave it out, or fit "
                                           "all data by `lehr fit --method {}`",
                                           find_method(o.method)->description, methods_using(row.used_by, o)[0])});
  }
  return out;
}

/// Adds the refused options to the command, without help: giving one is a usage error that says what to do instead.
void refuse_options(CLI::App& c, const std::vector<RefusedOption>& options) {
  for (const RefusedOption& refused : options) {
    const std::string spelled = fmt::format("--{}", fmt::join(split_fields(refused.option), ",--"));
    const auto refuse = [name = spelled.substr(0, spelled.find(',')), why = refused.why](const std::string&) {
      throw CLI::ValidationError(name, why);
    };
    c.add_option_function<std::string>(spelled, refuse)->group("");
  }
}

/// Rewrites help texts that distinguish methods, for a command that has coordinate ascent alone.
void describe_for_ascent(CLI::App& c) {
  constexpr std::string_view kOnly = " ({only})";
  for (const FitOption& row : fit_option_table()) {
    CLI::Option* const o = c.get_option_no_throw(fmt::format("--{}", row.name()));
    std::string text(row.help);
    if (const std::size_t at = text.find(kOnly); o && at != text.npos) o->description(text.erase(at, kOnly.size()));
  }
  c.get_option("--elbo-every")->description("Sweeps from one computation of the ELBO to the next; 0 is the same as 1");
  c.get_option("--checkpoint-every")
      ->description(
          "Sweeps from one checkpoint, from which a killed update can resume, to the next; 0: only on an interrupt");
  c.get_option("--seed")->description(fmt::format(
      "Number recorded as `seed` in {}; without other effect, as an update draws no random numbers", kFitFile));
}

}  // namespace

void add_update(CLI::App& app, Action& action, const std::string& command) {
  const auto o = std::make_shared<FitArguments>();
  o->command = command;
  CLI::App* c = app.add_subcommand("update", "Fit new data, with the posterior of a fit as the prior");
  c->add_option("DIR", o->prior, "Directory of the fit, by method cavi or svi, whose posterior becomes the prior")
      ->required();
  add_data(*c, o->data, kDataHelp)->required();
  add_results(*c, *o);
  c->add_option("--model", o->model, "Model file, if it has moved since the fit")->type_name("FILE");
  add_number(*c, "--forget", o->prior_power, kProportionOrOneRange,
             "Power of the old posterior in the new prior: 0.9 counts the old data as nine tenths of what they were");
  const std::vector<RefusedOption> without_use = refused_options(o->fit);
  add_shared_options(*c, o->fit, [&](const FitOption& row) {
    const bool refused = std::ranges::find(without_use, row.option, &RefusedOption::option) != without_use.end();
    return (row.is_number() && !refused) || row.option == "save-locals" || row.option == "sds";
  });
  c->add_flag("--quiet", o->quiet, "Print neither progress nor summary");
  add_no_cache(*c);
  group_fit_options(*c);
  describe_for_ascent(*c);
  refuse_options(*c, without_use);
  c->footer(
      "Examples:\n"
      "  lehr update out/monday --data x=tuesday.csv:a,b --out out/tuesday\n"
      "  lehr update out/tuesday --data x=wednesday.csv:a,b --forget 0.9 --out out/wednesday\n"
      "Constants, sizes and labels of what is not data are those of the fit. docs/scale.md says when it is exact.");
  c->parse_complete_callback([c, o] { resolve_output_directory(*c, *o); });
  c->callback([o, &action] {
    std::error_code ignored;
    if (std::filesystem::equivalent(o->out, o->prior, ignored))
      throw CLI::ValidationError("--out",
                                 "the new fit would take the place of the one that goes on: name another directory");
    action = [o] {
      o->fit.start = o->prior;
      return fit(*o, nullptr);
    };
  });
}

}  // namespace lehr::commands
