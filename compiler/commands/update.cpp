// `lehr update`: a fit of new data whose prior is the posterior of an earlier one.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/commands/fit_options.h"
#include "compiler/commands/numbers.h"
#include "compiler/options/fit_settings.h"
#include "runtime/files/readers.h"

namespace lehr::commands {

void add_update(CLI::App& app, Action& action, const std::string& command) {
  const auto o = std::make_shared<FitArguments>();
  o->command = command;
  CLI::App* c = app.add_subcommand("update", "Fit new data, with the posterior of a fit as the prior");
  c->add_option("DIR", o->prior, "directory of the fit that goes on")->required();
  add_data(*c, o->data, data_forms())->required();
  add_results(*c, *o);
  c->add_option("--model", o->model, "model file, if it is no longer where the fit found it");
  add_number(*c, "--forget", o->keep, kPartOrAllRange,
             "power of the posterior that is kept: 0.9 counts what was seen a batch ago as nine tenths of it");
  add_fit_numbers(*c, *o);
  c->add_flag("--save-locals", o->fit.save_locals, "write the factors of local variables too");
  c->add_flag("--quiet", o->quiet, "no progress, no summary");
  add_no_cache(*c);
  c->footer(
      "Examples:\n"
      "  lehr update out/monday --data x=tuesday.csv:a,b --out out/tuesday\n"
      "  lehr update out/tuesday --data x=wednesday.csv:a,b --forget 0.9 --out out/wednesday\n"
      "Constants, sizes and labels of what is not data are those of the fit. docs/scale.md says when it is exact.");
  c->parse_complete_callback([c, o] { settle_results(*c, *o); });
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
