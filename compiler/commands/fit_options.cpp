// Option definitions of `lehr fit`.
#include "compiler/commands/fit_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "compiler/commands/numbers.h"
#include "compiler/options/fit_settings.h"
#include "runtime/files/readers.h"

namespace lehr::commands {
namespace {

/// As they are spelled, but for slashes at the end.
bool is_same_path(const std::string& a, const std::string& b) {
  const auto normal = [](const std::string& p) { return (std::filesystem::path(p) / "").lexically_normal(); };
  return normal(a) == normal(b);
}

}  // namespace

void add_fit_numbers(CLI::App& c, FitArguments& o) {
  for (const FitNumber& n : fit_numbers()) {
    const std::string spelled = fmt::format("--{}", fmt::join(split_fields(n.option), ",--"));
    const auto add = [&](auto member) { add_number(c, spelled, o.fit.*member, n.range, std::string(n.help)); };
    std::visit(add, n.to);
  }
}

void add_results(CLI::App& c, FitArguments& o) {
  c.add_option("--out", o.out, "directory for fit.json, posterior.npz, trace.csv; needed unless --resume names it");
  add_number(c, "--checkpoint-every", o.checkpoint_every, kIterationsRange,
             "sweeps or steps between checkpoints, from which a fit that is killed goes on; 0: at an interrupt alone");
  c.add_option("--resume", o.resume,
               "directory of an interrupted or killed fit, which goes on there with the same bits; all else as before");
}

void settle_results(const CLI::App& c, FitArguments& o) {
  const auto said = [&c](const char* name) { return c.count(name) > 0; };
  if (!said("--out") && !said("--resume")) throw CLI::RequiredError("--out");
  if (!said("--out")) o.out = o.resume;
  if (said("--resume") && !is_same_path(o.out, o.resume))
    throw CLI::ValidationError("--resume", "a fit goes on where it is: leave out --out, or name the same directory");
}

void add_fit_options(CLI::App& c, FitArguments& o) {
  c.add_option("MODEL", o.model, "model file (*.lehr)")->required();
  add_data(c, o.data, data_forms());
  add_results(c, o);
  add_settings(c, o.settings);
  CLI::Option* stream =
      c.add_flag("--stream", o.stream,
                 "read items from their files when they are worked on, --batch-size at a time, see docs/scale.md")
          ->excludes(c.get_option("--drop-missing"));
  c.add_option("--spill", o.spill,
               "cavi: directory for the factors of the items that are read, as large as all of them")
      ->type_name("DIR")
      ->needs(stream);
  std::vector<std::string> names;
  for (const MethodName& m : method_names())
    names.emplace_back(m.name);
  c.add_option("--method", o.method, "inference method")->check(CLI::IsMember(names))->capture_default_str();
  add_fit_numbers(c, o);
  c.add_flag("--adaptive", o.fit.adaptive, "svi: steps that follow the noise of the gradients instead")
      ->excludes(c.get_option("--rho"));
  c.add_flag("--replacement", o.fit.replacement, "svi: draw items with replacement, not by passes");
  c.add_option("--search", o.fit.search,
               "none: one start; quick, full: the best of many starts, annealed; quick where nothing else is said of "
               "method, starts, temperatures and sweeps")
      ->check(CLI::IsMember({"none", "quick", "full"}));
  c.add_option("--anneal", o.fit.anneal,
               "linear:from=10,over=100, exp:..., file:..., entropy:..., stochastic:rho=0.25,over=50, auto[:full]");
  c.add_option(
      "--temper", o.fit.temper,
      "latent temperature: global:max=10,levels=100,normaliser=auto|prior|posterior; one for each item: "
      "local:max=1.5; gibbs: global:levels=24, states at temperatures up to that of the prior, and the evidence");
  CLI::Option* test =
      c.add_option("--test", o.test, "held-out data, bound as --data: their log predictive, see `lehr score`")
          ->take_all();
  add_number(c, "--test-every", o.test_every, kIterationsRange,
             "sweeps or steps between held-out scores in trace.csv; 0: at the end")
      ->needs(test);
  add_number(c, "--predictive", o.predictive, kIterationsRange,
             "gibbs, exact: most numbers in log_likelihood and in posterior_predictive of draws.nc; 0: neither");
  c.add_option(
      "--init", o.init,
      "start values: an .npz with names as in posterior.npz, the directory of a fit (chains begin near it), or "
      "seeds (the default), points, allocations, means, flat");
  c.add_option("--precision", o.fit.precision,
               "float: 32 bits where items are worked on, sums over them and the ELBO in 64; not for gibbs and exact")
      ->check(CLI::IsMember(std::vector<std::string>(precision_names().begin(), precision_names().end())))
      ->capture_default_str();
  c.add_flag("--save-locals", o.fit.save_locals, "write the factors of local variables too");
  c.add_flag("--quiet", o.quiet, "no progress, no summary");
  add_no_cache(c);
  add_no_opt(c);
  c.add_flag("--profile", o.profile, "how long each step took, on one thread; with --interpret, what it computed");
  c.add_flag("--interpret", o.interpret,
             "run the loops in the interpreter instead of native code (slow; for checking)");
  c.parse_complete_callback([&c, &o] {
    count_what_is_said(o.fit, [&c](std::string_view name) { return c.count(fmt::format("--{}", name)) > 0; });
    settle_results(c, o);
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
      "Ctrl-C finishes the sweep, writes what was found by then and says how to go on. docs/fitting.md has the "
      "formats.");
}

}  // namespace lehr::commands
