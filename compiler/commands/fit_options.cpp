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
      ->check(CLI::IsMember({"cavi"}))
      ->capture_default_str();
  c.add_option("--max-iter", o.cavi.max_iterations, "largest number of sweeps; 0: the ELBO of the start")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--tol", o.cavi.tolerance,
               "converged when the ELBO moves by less than this, relatively, and the parameters by its root")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--local-iters", o.cavi.local_iterations,
               "largest number of passes over the local variables of an item")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  c.add_option("--local-tol", o.cavi.local_tolerance,
               "an item is done when its parameters move by less than this, relatively")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  c.add_option("--restarts", o.restarts, "runs from different starts; the best ELBO is kept")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  c.add_option("--seed", o.seed, "seed of the start values")->capture_default_str();
  c.add_option("--init", o.init, "start values: an .npz with names as in posterior.npz");
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
      "  lehr show out/lda beta\n"
      "Ctrl-C finishes the sweep and writes what was found by then. docs/fitting.md has the formats.");
}

}  // namespace lehr::commands
