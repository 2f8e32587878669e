// Definitions of the options of `lehr fit`: names, help texts, ranges, and which exclude or need each other. Numeric
// options come from one table (compiler/options), which the library uses too.
#include "compiler/commands/fit_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "compiler/commands/help_page.h"
#include "compiler/commands/number_option.h"
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
  c.add_option("--search", o.fit.search,
               "Try many starts, some of them annealed, and keep the best ELBO; full tries more than quick. Default: "
               "quick, or none with a method, a temperature, --max-iter, --tol, --restarts or --init")
      ->check(CLI::IsMember({"none", "quick", "full"}));
  c.add_option("--anneal", o.fit.anneal,
               "Schedule of the temperature: auto, or linear:from=10,over=100 (from 10 to 1 in 100 sweeps); "
               "docs/annealing.md has exp, entropy, stochastic and file");
  c.add_option(
      "--temper", o.fit.temper,
      "Infer the temperature: global:max=10,levels=100 (one for all data) or local:max=1.5 (one per item). With gibbs, "
      "global:levels=24: parallel tempering, which also estimates the evidence. See docs/annealing.md");
  c.add_option("--init", o.init,
               "Start values: an .npz laid out like posterior.npz, the directory of a fit, or a rule of "
               "docs/annealing.md: seeds (default), points, allocations, means, flat");
}

}  // namespace

void add_numeric_fit_options(CLI::App& c, FitArguments& o) {
  for (const FitNumber& n : numeric_fit_options()) {
    const std::string spelled = fmt::format("--{}", fmt::join(split_fields(n.option), ",--"));
    const auto add = [&](auto member) { add_number(c, spelled, o.fit.*member, n.range, std::string(n.help)); };
    std::visit(add, n.to);
  }
}

void add_results(CLI::App& c, FitArguments& o) {
  c.add_option("--out", o.out, "Directory for the results: fit.json, posterior.npz, trace.csv");
  add_number(c, "--checkpoint-every", o.checkpoint_every, kIterationsRange,
             "Iterations between checkpoints, from which a killed fit can resume; 0: only on an interrupt");
  c.add_option("--resume", o.resume, "Directory of an interrupted fit to finish; repeat all other options");
}

void group_fit_options(CLI::App& c) {
  put_in_group(c, kDataOptions,
               {"--data", "--drop-missing", "--set", "--sizes", "--labels", "--test", "--stream", "--spill"});
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
  add_settings(c, o.settings);
  CLI::Option* stream =
      c.add_flag("--stream", o.stream,
                 "Read items from their files batch by batch instead of loading all data; see docs/scale.md")
          ->excludes(c.get_option("--drop-missing"));
  c.add_option(
       "--spill", o.spill,
       "Directory that keeps the factors of streamed items between sweeps (cavi); it needs space for all of them")
      ->type_name("DIR")
      ->needs(stream);
  std::vector<std::string> names;
  for (const MethodName& m : method_names())
    names.emplace_back(m.name);
  c.add_option("--method", o.method,
               "Inference method: coordinate ascent, stochastic variational inference, Gibbs sampling, or exact draws "
               "by coupling from the past")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  add_numeric_fit_options(c, o);
  c.add_flag("--adaptive", o.fit.adaptive, "Step sizes that adapt to the noise of the gradients (svi)")
      ->excludes(c.get_option("--rho"));
  c.add_flag("--replacement", o.fit.replacement, "Draw minibatches with replacement instead of in passes (svi)");
  add_starts(c, o);
  CLI::Option* test = c.add_option("--test", o.test,
                                   "Held-out data, given like --data, for the log predictive density; see `lehr score`")
                          ->take_all();
  add_number(c, "--test-every", o.test_every, kIterationsRange,
             "Iterations between held-out scores in trace.csv; 0: only at the end")
      ->needs(test);
  add_number(c, "--predictive", o.predictive, kIterationsRange,
             "Write log_likelihood and posterior_predictive to draws.nc if they have at most this many numbers; 0: "
             "never (gibbs, exact)");
  c.add_option(
       "--precision", o.fit.precision,
       "Floating-point type of the computations per item; sums and the ELBO are always double. Samplers need double")
      ->check(CLI::IsMember(std::vector<std::string>(precision_names().begin(), precision_names().end())))
      ->capture_default_str();
  c.add_flag("--save-locals", o.fit.save_locals, "Also write the factors of local variables, those of single items");
  c.add_flag("--quiet", o.quiet, "Print neither progress nor summary");
  add_no_cache(c);
  add_no_opt(c);
  c.add_flag("--profile", o.profile,
             "Report the time of each step, on one thread; with --interpret, also what it computed");
  c.add_flag("--interpret", o.interpret, "Run in the reference interpreter instead of native code (slow)");
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
      "Ctrl-C finishes the sweep, writes what was found by then and says how to go on. docs/data.md and docs/output.md "
      "have the "
      "formats.");
}

}  // namespace lehr::commands
