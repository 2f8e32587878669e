// Option definitions of `lehr fit`.
#include "compiler/commands/fit_options.h"

namespace lehr::commands {
void add_fit_options(CLI::App& c, FitOptions& o) {
  c.add_option("MODEL", o.model, "model file (*.lehr)")->required();
  c.add_option("--data", o.data,
               "x=points.npy, file.npz, file.json, file.csv, x=file.csv:a,b, w=corpus.ldac[.gz]")
      ->take_all();
  c.add_option("--out", o.out, "directory for fit.json, posterior.npz, trace.csv")->required();
  add_settings(c, o.settings);
  c.add_option("--method", o.method, "inference method")
      ->check(CLI::IsMember({"cavi", "svi"}))
      ->capture_default_str();
  c.add_option("--max-iter", o.inference.max_iterations, "largest number of sweeps; 0: the ELBO of the start")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--tol", o.inference.tolerance,
               "converged when the ELBO moves by less than this, relatively, and the parameters by its root")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--local-iters", o.inference.local_iterations,
               "largest number of passes over the local variables of an item")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  c.add_option("--local-tol", o.inference.local_tolerance,
               "an item is done when its parameters move by less than this, relatively")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--batch-size", o.inference.batch, "svi: items of a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  c.add_option("--epochs", o.inference.epochs, "svi: passes over the items")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  c.add_option("--tau0", o.inference.tau0, "svi: steps are (tau0 + t)^-kappa")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--kappa", o.inference.kappa, "svi: forgetting rate, in (0.5, 1] for convergence")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI::Option* rho =
      c.add_option("--rho", o.inference.rho, "svi: steps of this size instead")->check(CLI::Range(0.0, 1.0));
  c.add_flag("--adaptive", o.inference.adaptive, "svi: steps that follow the noise of the gradients instead")
      ->excludes(rho);
  c.add_flag("--replacement", o.inference.replacement, "svi: draw items with replacement, not by passes");
  c.add_option("--elbo-every", o.inference.exact_every,
               "svi: steps between exact ELBOs; the others are noisy estimates")
      ->check(CLI::NonNegativeNumber);
  c.add_option(
      "--anneal", o.anneal,
      "linear:from=10,over=100, exp:..., file:..., entropy:..., stochastic:rho=0.25,over=50, auto[:full]");
  c.add_option("--temper", o.temper,
               "latent temperature: global:max=10,levels=100,normaliser=auto|prior|posterior; one for each item: local:max=1.5");
  CLI::Option* test = c.add_option("--test", o.test,
                                   "held-out data, bound as --data: their log predictive, see `lehr score`")
                          ->take_all();
  c.add_option("--test-every", o.test_every, "sweeps or steps between held-out scores in trace.csv; 0: at the end")
      ->check(CLI::NonNegativeNumber)
      ->needs(test);
  c.add_option("--restarts", o.restarts, "runs from different starts; the best ELBO is kept")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  c.add_option("--seed", o.seed, "seed of the start values")->capture_default_str();
  c.add_option("--init", o.init,
               "start values: an .npz with names as in posterior.npz, or seeds (the default), points, "
               "allocations, means, flat");
  c.add_flag("--save-locals", o.save_locals, "write the factors of local variables too");
  c.add_flag("--quiet", o.quiet, "no progress, no summary");
  c.add_flag("--interpret", o.interpret,
             "run the loops in the interpreter instead of native code (slow; for checking)");
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
      "Ctrl-C finishes the sweep and writes what was found by then. docs/fitting.md has the formats.");
}

}  // namespace lehr::commands
