// Stochastic variational inference. A step replaces the sums of the data by those of the minibatch and infers its
// items. Then it updates the global blocks by a natural-gradient step. Latent temperatures are updated between steps.
#include "runtime/inference/svi.h"

#include <algorithm>
#include <cmath>

#include "runtime/inference/batches.h"

namespace lehr {

std::int64_t batch_of(const Engine& e, const SviOptions& o) {
  return e.minibatches() ? std::min(o.batch, e.items()) : e.items();
}

std::int64_t steps_of(const Engine& e, const SviOptions& o) {
  const std::int64_t a_pass = batches_of(e.items(), batch_of(e, o));
  return static_cast<std::int64_t>(std::ceil(o.epochs * static_cast<double>(a_pass)));
}

double step_size(const SviOptions& o, std::int64_t t) {
  return o.rho > 0 ? o.rho : std::min(1.0, std::pow(o.tau0 + static_cast<double>(t), -o.kappa));
}

std::int32_t step(const Engine& e, const SviOptions& o, std::span<const std::int64_t> batch,
                  const std::function<std::int32_t(const StepRow&)>& update) {
  SweepPlan plan{.batch = batch, .update = update};
  if (const std::int32_t status = sum_data(e, batch)) return status;
  // Blocks that come before the items read their statistics, so the items of the minibatch are inferred first.
  if (machine::has_single_stage(e.model()) && machine::reads_statistics_first(e.model())) {
    if (const std::int32_t status = sweep(e, o, {.items_only = true, .batch = batch})) return status;
    plan.again = true;
  }
  return sweep(e, o, plan);
}

Outcome run_svi(const Engine& e, const SviOptions& o, const OnSweep& on_step, TemperReport* report) {
  Outcome out;
  std::optional<ItemTemperatures> temperatures;
  const WeightsGuard plain{e};
  const auto done = [&](Status s) {
    out.status = s;
    return out;
  };
  if (const std::int32_t status = machine::has_single_stage(e.model()) ? 0 : prepare_statistics(e))
    return failure(e, status, out);
  const StepRow* const stage = machine::batch_stage(e.model());
  Batches batches(e.items(), batch_of(e, o), o.replacement && e.minibatches(), o.seed);
  const std::int64_t steps = steps_of(e, o);
  std::vector<double> r, log_c;
  AdaptiveSteps adaptive(e);
  if (o.items) temperatures.emplace(e, *o.items);
  if (o.grid) r.assign(o.grid->temperatures.size(), 1 / static_cast<double>(o.grid->temperatures.size()));
  while (out.iterations < steps) {
    const std::int64_t t = out.iterations;
    double temperature = o.grid ? 1 / mean_inverse(r, o.grid->temperatures) : o.annealing.temperature(t);
    Weights weights = weights_at(o.annealing, temperature);
    weights.step = step_size(o, t);
    e.set(weights);
    const std::vector<std::int64_t>& batch = batches.next();
    if (temperatures) {
      std::vector<std::int64_t> items(batch);  // without the duplicates of draws with replacement
      items.erase(std::unique(items.begin(), items.end()), items.end());
      if (const std::int32_t status = temperatures->update(items, o)) return failure(e, status, out);
      // Sums of the data alone that no minibatch replaces depend on the temperatures of the items.
      if (const std::int32_t status = stage && stage->data >= 0 ? 0 : e.prepare()) return failure(e, status, out);
      temperature = temperatures->temperature();
      if (report) *report = {temperatures->posterior(), out.iterations + 1, temperature};
    }
    std::function<std::int32_t(const StepRow&)> update;
    if (o.adaptive) update = [&](const StepRow& block) { return adaptive.update(block, weights); };
    if (const std::int32_t status = step(e, o, batch, update)) return failure(e, status, out);
    if (o.adaptive) adaptive.follow();
    ++out.iterations;
    Elbo elbo;
    if (const std::int32_t status = e.elbo(elbo)) return failure(e, status, out);
    if (o.grid && out.iterations % o.grid->every == 0) {
      if (log_c.empty() || !o.grid->constant) log_c = e.recorded([&] { return o.grid->log_normaliser(batch); });
      r = temperature_factor(elbo.data_energy, o.grid->temperatures, log_c);
      if (report) *report = {r, out.iterations, 1 / mean_inverse(r, o.grid->temperatures)};
    }
    // An exact ELBO needs plain weights, the sums of all data and all items at their optimum.
    if (out.iterations == steps || (o.exact_every > 0 && out.iterations % o.exact_every == 0)) {
      e.set({});
      if (const std::int32_t status = temperatures ? temperatures->pause() : e.prepare())
        return failure(e, status, out);
      if (const std::int32_t status = evaluate(e, o, elbo)) return failure(e, status, out);
      if (const std::int32_t status = temperatures ? temperatures->resume() : 0) return failure(e, status, out);
    }
    out.elbo = elbo.value;
    if (!check_elbo(out.elbo, out)) return done(Status::numerical_failure);
    if (!on_step({out.iterations, out.elbo, temperature, annealed_objective(o.annealing, temperature, elbo)}))
      return done(Status::interrupted);
  }
  return done(Status::max_iter);
}

}  // namespace lehr
