// `lehr draws`: writes draws from the posterior of a saved fit to a file for ArviZ and other programs. A variational
// fit is sampled from its factors; the stored draws of a sampler are thinned.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/number_option.h"
#include "compiler/console/settings.h"
#include "compiler/options/help_texts.h"
#include "compiler/posterior/saved_draws.h"
#include "compiler/posterior/thinned.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/member_file.h"
#include "runtime/output/fit_files.h"
#include "runtime/output/writers.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct DrawsOptions {
  std::string directory, out;
  std::int64_t draws = 1000;
  std::uint64_t seed = 1;
};

/// Draws from the factors of a variational fit, and reports on stderr which factors were not saved.
Result<LabelledArrays> factor_draws(const SavedFit& fit, const DrawsOptions& o) {
  Result<FactorDraws> drawn = draw_factors(fit, o.draws, o.seed);
  if (!drawn) return drawn.error();
  if (!drawn->missing.empty())
    print_to_stderr("{}: the factors of {} were not written (fit with --save-locals)\n", o.directory,
                    fmt::join(drawn->missing, ", "));
  drawn->arrays.attributes = {{"inference_library", "lehr"},
                              {"inference_library_version", LEHR_VERSION},
                              {"model", fit.model},
                              {"method", fit.method},
                              {"seed", fmt::format("{}", o.seed)}};
  return std::move(drawn->arrays);
}

/// Returns the number of draws in all chains of the group `posterior`.
std::size_t count_draws(const LabelledArrays& arrays) {
  std::size_t n = 1;
  for (const Coordinate& c : find_group(arrays, "posterior")->coordinates)
    if (c.name == kChainAxis || c.name == kDrawAxis) n *= c.size();
  return n;
}

/// Runs the command: draws or thins, and writes the file in the format of its extension.
ExitCode draws(DrawsOptions o) {
  const bool named_here = o.out.empty();
  if (named_here) o.out = (std::filesystem::path(o.directory) / kDrawnFile).string();
  const Result<DrawFormat> written = draw_format(option("out"), o.out);
  if (!written) return complain(written.error());
  const Result<SavedFit> fit = read_fit(o.directory);
  if (!fit) return complain(fit.error());
  warn_of_failure(*fit);
  const bool sampled = fit->files.contains(kDrawsFile);
  Result<LabelledArrays> arrays = sampled ? stored_draws(*fit) : factor_draws(*fit, o);
  if (sampled && arrays) arrays = thinned(*arrays, o.draws);
  if (!arrays) return complain(arrays.error());
  const ArrayGroup* posterior = find_group(*arrays, "posterior");
  if (!posterior || posterior->arrays.empty())
    return complain(Error{ExitCode::data, o.directory, "there is nothing to draw", {}});
  const Result<std::string> bytes = written->format(*arrays);
  if (!bytes) return complain(bytes.error());
  if (Result<bool> r = named_here ? write_file_no_follow(o.out, *bytes) : write_output(o.out, *bytes); !r)
    return complain(r.error());
  fmt::print("{}: {} draws {} in {}\n", printable(fit->model), count_draws(*arrays),
             sampled ? "of the sampler" : "from the factors", printable(o.out));
  return ExitCode::done;
}

}  // namespace

void add_draws(CLI::App& app, Action& action) {
  const auto o = std::make_shared<DrawsOptions>();
  CLI::App* c = app.add_subcommand("draws", "Draw from a fit, for ArviZ and other programs");
  c->add_option("DIR", o->directory, "Directory written by `lehr fit`")->required();
  add_number(*c, "-n,--draws", o->draws, kScheduleRange,
             "Number of draws to write; of a fit with method gibbs or exact, at most as many as it has stored");
  add_number(*c, "--seed", o->seed, kSeedRange, kSeedHelp);
  c->add_option("--out", o->out,
                "File for the draws: NetCDF for ArviZ or a table, by its ending (" + draw_extensions() +
                    "); default: DIR/" + kDrawnFile)
      ->type_name("FILE");
  c->footer(
      "Examples:\n"
      "  lehr draws out/schools -n 1000 --out out/schools.nc\n"
      "  lehr draws out/schools -n 200 --seed 2 --out out/schools.csv\n"
      "Of a variational fit every draw takes each variable from its own factor, a joint factor as a whole; of a "
      "sampler\n"
      "the stored draws are thinned. docs/sampling.md says what is in the file.");
  c->callback([o, &action] { action = [o] { return draws(*o); }; });
}

}  // namespace lehr::commands
