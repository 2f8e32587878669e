// `lehr update`: fits new data with the posterior of a saved fit as the prior. It is `lehr fit` with this prior and its
// settings, started at the old posterior.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/commands/fit_options.h"
#include "compiler/commands/number_option.h"
#include "compiler/options/fit_settings.h"

namespace lehr::commands {

void add_update(CLI::App& app, Action& action, const std::string& command) {
  const auto o = std::make_shared<FitArguments>();
  o->command = command;
  CLI::App* c = app.add_subcommand("update", "Fit new data, with the posterior of a fit as the prior");
  c->add_option("DIR", o->prior, "Directory of the fit whose posterior becomes the prior")->required();
  add_data(*c, o->data, kDataHelp)->required();
  add_results(*c, *o);
  c->add_option("--model", o->model, "Model file, if it has moved since the fit");
  add_number(*c, "--forget", o->prior_power, kProportionOrOneRange,
             "Power of the old posterior in the new prior: 0.9 counts the old data as nine tenths of what they were");
  add_numeric_fit_options(*c, *o);
  c->add_flag("--save-locals", o->fit.save_locals, "Also write the factors of local variables, those of single items");
  c->add_flag("--quiet", o->quiet, "Print neither progress nor summary");
  add_no_cache(*c);
  group_fit_options(*c);
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
      o->init = o->prior;
      return fit(*o, nullptr);
    };
  });
}

}  // namespace lehr::commands
