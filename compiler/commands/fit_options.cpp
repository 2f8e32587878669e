// Option definitions of `lehr fit`.
#include "compiler/commands/fit_options.h"

#include "compiler/commands/numbers.h"

namespace lehr::commands {

void add_fit_options(CLI::App& c, FitOptions& o) {
  c.add_option("MODEL", o.model, "model file (*.lehr)")->required();
  c.add_option("--data", o.data, "x=points.npy, file.npz, file.json, file.csv, x=file.csv:a,b, w=corpus.ldac[.gz]")
      ->take_all();
  c.add_option("--out", o.out, "directory for fit.json, posterior.npz, trace.csv")->required();
  add_settings(c, o.settings);
  c.add_option("--method", o.method, "inference method")->check(CLI::IsMember({"cavi", "svi"}))->capture_default_str();
  SviOptions& i = o.inference;
  add_number(c, "--max-iter", i.max_iterations, kIterationsRange, "largest number of sweeps; 0: the ELBO of the start");
  add_number(c, "--tol", i.tolerance, kToleranceRange,
             "converged when the ELBO moves by less than this, relatively, and the parameters by its root");
  add_number(c, "--local-iters", i.local_iterations, kLocalIterationsRange,
             "largest number of passes over the local variables of an item");
  add_number(c, "--local-tol", i.local_tolerance, kToleranceRange,
             "an item is done when its parameters move by less than this, relatively");
  add_number(c, "--batch-size", i.batch, kBatchRange, "svi: items of a step");
  add_number(c, "--epochs", i.epochs, kEpochsRange, "svi: passes over the items");
  add_number(c, "--tau0", i.tau0, kDelayRange, "svi: steps are (tau0 + t)^-kappa");
  add_number(c, "--kappa", i.kappa, kForgettingRange, "svi: forgetting rate, in (0.5, 1] for convergence");
  CLI::Option* rho = add_number(c, "--rho", i.rho, kStepRange, "svi: steps of this size instead");
  c.add_flag("--adaptive", i.adaptive, "svi: steps that follow the noise of the gradients instead")->excludes(rho);
  c.add_flag("--replacement", i.replacement, "svi: draw items with replacement, not by passes");
  add_number(c, "--elbo-every", i.exact_every, kIterationsRange,
             "svi: steps between exact ELBOs; the others are noisy estimates");
  c.add_option("--anneal", o.anneal,
               "linear:from=10,over=100, exp:..., file:..., entropy:..., stochastic:rho=0.25,over=50, auto[:full]");
  c.add_option(
      "--temper", o.temper,
      "latent temperature: global:max=10,levels=100,normaliser=auto|prior|posterior; one for each item: local:max=1.5");
  CLI::Option* test =
      c.add_option("--test", o.test, "held-out data, bound as --data: their log predictive, see `lehr score`")
          ->take_all();
  add_number(c, "--test-every", o.test_every, kIterationsRange,
             "sweeps or steps between held-out scores in trace.csv; 0: at the end")
      ->needs(test);
  add_number(c, "--restarts", o.restarts, kRestartsRange, "runs from different starts; the best ELBO is kept");
  add_number(c, "--seed", o.seed, kSeedRange, "seed of the start values");
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
