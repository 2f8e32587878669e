// The Gibbs sampler: with code that draws, an ordinary sweep with one pass over the blocks of an item is a Gibbs sweep.
#include "runtime/inference/samplers/gibbs.h"

#include <cmath>

namespace lehr {

Outcome run_gibbs(const Engine& e, const GibbsOptions& o, const OnSweep& on_sweep,
                  const std::function<void(double)>& on_draw) {
  Outcome out;
  const WeightsGuard plain{e};
  const SweepOptions once{.local_iterations = 1};  // each local block of an item is drawn once a sweep
  if (const std::int32_t status = prepare_statistics(e)) return failure(e, status, out);
  machine::set_key(e.machine(), o.seed, o.chain);
  const std::int64_t sweeps = o.warmup + o.draws * o.thin;
  while (out.iterations < sweeps) {
    const double t = o.annealing.temperature(out.iterations);
    e.set(weights_at(o.annealing, t));
    ++out.iterations;
    if (const std::int32_t status = sweep(e, once)) return failure(e, status, out);
    Elbo elbo;
    if (const std::int32_t status = e.elbo(elbo)) return failure(e, status, out);
    out.elbo = elbo.value;  // of a state drawn: its log joint density
    if (std::isnan(out.elbo)) {
      out.status = Status::numerical_failure;
      out.failure = "the log joint density is not a number";
      return out;
    }
    const std::int64_t sampled = out.iterations - o.warmup;
    if (sampled > 0 && sampled % o.thin == 0) on_draw(out.elbo);
    if (!on_sweep({out.iterations, out.elbo, t, annealed_objective(o.annealing, t, elbo)})) {
      out.status = Status::interrupted;
      return out;
    }
  }
  out.status = Status::max_iter;
  return out;
}

}  // namespace lehr
