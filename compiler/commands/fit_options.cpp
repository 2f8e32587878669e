// Definitions of the options of `lehr fit`: names, help texts, ranges, and which exclude or need each other. Numeric
// options come from one table (compiler/options), which the library uses too.
#include "compiler/commands/fit_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "compiler/console/help_page.h"
#include "compiler/console/number_option.h"
#include "compiler/options/fit_settings.h"
#include "runtime/files/readers.h"

namespace lehr::commands {
namespace {

/// Returns true if both paths are spelled alike, apart from slashes at the end. The directories need not exist.
bool is_same_path(const std::string& a, const std::string& b) {
  const auto normal = [](const std::string& p) { return (std::filesystem::path(p) / "").lexically_normal(); };
  return normal(a) == normal(b);
}

/// Adds the options on starts, searches and temperatures.
void add_starts(CLI::App& c, FitArguments& o) {
  c.add_option(
       "--search", o.fit.search,
       "Search many starts, some of them annealed, and keep the best ELBO (cavi only): quick, full (more starts, "
       "longer) or none (one start). Default: quick, but none with another --method, --anneal, --temper, --max-iter, "
       "--tol, --restarts, --init or --stream")
      ->check(CLI::IsMember({"none", "quick", "full"}));
  c.add_option(
       "--anneal", o.fit.anneal,
       "Temperature T that divides the log likelihood in the first sweeps and falls to 1, which helps to "
       "leave poor optima. linear:from=10,over=100: from 10 to 1 in 100 sweeps; exp: the same, geometrically; "
       "file:NAME: T of each sweep from a text file; entropy: as linear, but priors are divided too; "
       "stochastic:rho=0.25,over=50: T is 1, and each sweep mixes the parameters with random ones, with a weight "
       "that falls from 0.25 to 0; auto: the first T is chosen by trial sweeps. Default: T is 1. docs/annealing.md has "
       "all forms")
      ->type_name("SCHEDULE");
  c.add_option(
       "--temper", o.fit.temper,
       "Infer the temperature T that divides the log likelihood, as one more unknown: global:max=10,levels=100 has "
       "one T for all data, on a grid of 100 values from 1 to 10; local:max=1.5,levels=25 one for each item, so that "
       "outliers weigh less. With gibbs, global:levels=24 is parallel tempering: chains at 24 temperatures exchange "
       "states, and the log evidence is estimated. Default: T is 1. See docs/annealing.md")
      ->type_name("KIND");
  c.add_option("--init", o.init,
               "Start values: the directory of a fit, an .npz file with arrays named as in posterior.npz, or a rule. "
               "seeds (default): each category starts from three random items; points: from clusters by k-means; "
               "allocations: from random categories of items; means: parameters that all items share are moved from "
               "their prior at random; flat: they are hardly moved")
      ->type_name("START");
}

}  // namespace

void add_numeric_fit_options(CLI::App& c, FitArguments& o, std::span<const std::string_view> without) {
  for (const FitNumber& n : numeric_fit_options()) {
    if (std::ranges::find(without, n.option) != without.end()) continue;
    const std::string spelled = fmt::format("--{}", fmt::join(split_fields(n.option), ",--"));
    const auto add = [&](auto member) { add_number(c, spelled, o.fit.*member, n.range, std::string(n.help)); };
    std::visit(add, n.to);
  }
}

void add_results(CLI::App& c, FitArguments& o) {
  c.add_option("--out", o.out,
               "Directory for the results: fit.json, posterior.npz, trace.csv (required unless --resume is given)")
      ->type_name("DIR");
  add_number(c, "--checkpoint-every", o.checkpoint_every, kIterationsRange,
             "Iterations between checkpoints, from which a killed fit can resume; 0: only on an interrupt");
  c.add_option("--resume", o.resume, "Directory of an interrupted fit to finish; repeat its options but --out")
      ->type_name("DIR");
}

void group_fit_options(CLI::App& c) {
  put_in_group(
      c, kDataOptions,
      {"--data", "--drop-missing", "--model", "--set", "--sizes", "--labels", "--test", "--stream", "--spill"});
  put_in_group(c, kMethodOptions,
               {"--method", "--batch-size", "--epochs", "--tau0", "--kappa", "--rho", "--adaptive", "--replacement",
                "--warmup", "--draws", "--thin", "--parts", "--forget"});
  put_in_group(c, kStartOptions, {"--search", "--restarts", "--init", "--seed"});
  put_in_group(c, kTemperatureOptions, {"--anneal", "--temper"});
  put_in_group(c, kStoppingOptions, {"--max-iter", "--tol", "--leap-after", "--local-iters", "--local-tol"});
  put_in_group(c, kResourceOptions, {"--threads", "--precision", "--no-cache"});
  put_in_group(c, kOutputOptions,
               {"--out", "--checkpoint-every", "--resume", "--save-locals", "--elbo-every", "--test-every",
                "--predictive", "--quiet"});
  put_in_group(c, kDeveloperOptions, {"--no-opt", "--profile", "--interpret"});
}

void resolve_output_directory(const CLI::App& c, FitArguments& o) {
  const auto explicitly_set = [&c](const char* name) { return c.count(name) > 0; };
  if (!explicitly_set("--out") && !explicitly_set("--resume")) throw CLI::RequiredError("--out");
  if (!explicitly_set("--out")) o.out = o.resume;
  if (explicitly_set("--resume") && !is_same_path(o.out, o.resume))
    throw CLI::ValidationError("--resume", "a fit goes on where it is: leave out --out, or name the same directory");
}

void add_fit_options(CLI::App& c, FitArguments& o) {
  c.add_option("MODEL", o.model, "Model file (*.lehr)")->required();
  add_data(c, o.data, kDataHelp);
  add_results(c, o);
  add_settings(c, o.settings, kSizesOfDataHelp);
  CLI::Option* stream =
      c.add_flag("--stream", o.stream,
                 "Read items from their files batch by batch instead of loading all data; see docs/scale.md")
          ->excludes(c.get_option("--drop-missing"));
  c.add_option(
       "--spill", o.spill,
       "Directory for temporary files: the posteriors of the items' own latent variables between sweeps (cavi only). "
       "Without it, models that need such files are refused (topic proportions need them, categories do not)")
      ->type_name("DIR")
      ->needs(stream);
  std::vector<std::string> names;
  for (const MethodName& m : method_names())
    names.emplace_back(m.name);
  c.add_option("--method", o.method,
               "Inference method: cavi (coordinate ascent), svi (stochastic variational inference, from minibatches), "
               "gibbs (Gibbs sampling) or exact (exact draws, all latents 0/1 or -1/+1)")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  add_numeric_fit_options(c, o);
  c.add_flag("--adaptive", o.fit.adaptive, "Step sizes that adapt to the noise of the gradients (svi only)")
      ->excludes(c.get_option("--rho"));
  c.add_flag("--replacement", o.fit.replacement,
             "Draw the items of minibatches with replacement; otherwise each pass has every item once (svi only)");
  add_starts(c, o);
  CLI::Option* test = c.add_option("--test", o.test,
                                   "Held-out data, given like --data, for the log predictive density; see `lehr score`")
                          ->take_all()
                          ->type_name("FILE");
  add_number(c, "--test-every", o.test_every, kIterationsRange,
             "Iterations between held-out scores in trace.csv; 0: only at the end")
      ->needs(test);
  add_number(c, "--predictive", o.predictive, kIterationsRange,
             "Maximum number of log likelihoods of observations, and of simulated observations, in draws.nc, the file "
             "of draws (gibbs, exact only); if there would be more, fewer draws have them; 0: none");
  c.add_option("--precision", o.fit.precision,
               "Numbers in the work on each item: double (64 bits) or float (32 bits: faster, less exact; cavi and "
               "svi only). "
               "Sums over items and the ELBO are always double")
      ->check(CLI::IsMember(std::vector<std::string>(precision_names().begin(), precision_names().end())))
      ->capture_default_str();
  c.add_flag("--save-locals", o.fit.save_locals, kSaveLocalsHelp);
  c.add_flag("--quiet", o.quiet, "Print neither progress nor summary");
  add_no_cache(c);
  add_no_opt(c);
  c.add_flag("--profile", o.profile,
             "Report the time of each step of a sweep (on one thread); with --interpret, its counts of operations and "
             "bytes instead");
  c.add_flag("--interpret", o.interpret,
             "Run the slow reference interpreter instead of native code, to check the compiler");
  group_fit_options(c);
  add_short_help(c, {"--data", "--set", "--labels", "--method", "--search", "--restarts", "--max-iter", "--out",
                     "--resume", "--test"});
  c.parse_complete_callback([&c, &o] {
    apply_explicit_options(o.fit, [&c](std::string_view name) { return c.count(fmt::format("--{}", name)) > 0; });
    resolve_output_directory(c, o);
  });
  c.footer(
      "Examples:\n"
      "  lehr fit models/coin.lehr --data models/data/coin.csv --out out/coin\n"
      "  lehr fit models/lda.lehr --data w=models/data/kos.ldac.gz --labels term=models/data/kos.vocab.txt "
      "\\\n"
      "      --set K=20 --out out/lda\n"
      "  lehr fit models/gmm.lehr --data x=models/data/faithful.csv:eruptions,waiting --restarts 10 --out "
      "out/gmm\n"
      "  lehr fit models/lda.lehr --data w=models/data/kos.ldac.gz --method svi --batch-size 100 --epochs 2 "
      "\\\n"
      "      --tau0 64 --init flat --anneal linear:from=1.5,over=35 --out out/lda_svi\n"
      "  lehr fit models/gmm.lehr --data x=models/data/faithful.csv:eruptions,waiting --anneal auto --out "
      "out/gmm\n"
      "  lehr show out/lda beta\n"
      "Ctrl-C finishes the sweep, writes what was found by then and says how to go on. docs/data.md and\n"
      "docs/output.md have the formats.");
}

}  // namespace lehr::commands
