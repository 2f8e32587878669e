#include "runtime/engine/svi.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/rng.h"

namespace lehr {
namespace {

/// Minibatches of items, ascending.
class Batches {
 public:
  Batches(std::int64_t items, const SviOptions& o)
      : size_(static_cast<std::size_t>(std::clamp<std::int64_t>(o.batch, 1, items))),
        replacement_(o.replacement),
        order_(static_cast<std::size_t>(items)),
        next_(order_.size()),
        rng_(o.seed, 0x5B17) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  std::int64_t a_pass() const { return static_cast<std::int64_t>((order_.size() + size_ - 1) / size_); }

  const std::vector<std::int64_t>& next() {
    batch_.clear();
    if (replacement_) {
      for (std::size_t i = 0; i < size_; ++i)
        batch_.push_back(static_cast<std::int64_t>(draw_below(rng_, order_.size())));
    } else {
      if (next_ >= order_.size()) {
        shuffle(rng_, order_);
        next_ = 0;
      }
      const std::size_t end = std::min(order_.size(), next_ + size_);
      batch_.assign(order_.begin() + static_cast<std::ptrdiff_t>(next_),
                    order_.begin() + static_cast<std::ptrdiff_t>(end));
      next_ = end;
    }
    std::ranges::sort(batch_);
    return batch_;
  }

 private:
  std::size_t size_;
  bool replacement_;
  std::vector<std::int64_t> order_, batch_;
  std::size_t next_;
  Rng rng_;
};

}  // namespace

Outcome run_svi(const Engine& e, const SviOptions& o, const OnSweep& on_step, TemperReport* report) {
  Outcome out;
  std::optional<ItemTemperatures> temperatures;
  const PlainAtEnd plain{e};
  const auto done = [&](Status s) {
    out.status = s;
    return out;
  };
  const bool infer_first = e.items && reads_statistics_first(e);
  if (const std::int32_t status = e.items ? 0 : prepare_statistics(e)) return failure(e, status, out);
  const EngineStage* const stage = e.batch_stage();
  Batches batches(stage ? stage->items : 1, o);
  const auto steps = static_cast<std::int64_t>(std::ceil(o.epochs * static_cast<double>(batches.a_pass())));
  std::vector<double> r, log_c;
  AdaptiveSteps adaptive(e);
  if (o.items) temperatures.emplace(e, *o.items);
  if (o.grid) r.assign(o.grid->temperatures.size(), 1 / static_cast<double>(o.grid->temperatures.size()));
  while (out.iterations < steps) {
    const std::int64_t t = out.iterations;
    double temperature = o.grid ? 1 / mean_inverse(r, o.grid->temperatures) : o.annealing.temperature(t);
    Weights weights = weights_at(o.annealing, temperature);
    weights.step = o.rho > 0 ? o.rho : std::min(1.0, std::pow(o.tau0 + static_cast<double>(t), -o.kappa));
    e.set(weights);
    const std::vector<std::int64_t>& batch = batches.next();
    if (temperatures) {
      std::vector<std::int64_t> items(batch);
      items.erase(std::unique(items.begin(), items.end()), items.end());
      if (const std::int32_t status = temperatures->update(items, o)) return failure(e, status, out);
      // Sums of data alone that do not come from the batch follow the temperatures.
      if (const std::int32_t status = stage && stage->data ? 0 : e.call(e.prepare))
        return failure(e, status, out);
      temperature = temperatures->temperature();
      if (report) *report = {temperatures->posterior(), out.iterations + 1, temperature};
    }
    SweepPlan plan{.batch = batch};
    if (o.adaptive) plan.update = [&](const EngineUpdate& block) { return adaptive.update(block, weights); };
    if (const std::int32_t status = sum_data(e, batch)) return failure(e, status, out);
    if (infer_first) {
      if (const std::int32_t status = sweep(e, o, {.items_only = true, .batch = batch}))
        return failure(e, status, out);
      plan.again = true;
    }
    if (const std::int32_t status = sweep(e, o, plan)) return failure(e, status, out);
    ++out.iterations;
    if (const std::int32_t status = e.call(e.elbo)) return failure(e, status, out);
    Elbo elbo = e.elbo_parts();
    if (o.grid && out.iterations % o.grid->every == 0) {
      if (log_c.empty() || !o.grid->constant) log_c = o.grid->log_normaliser(batch);
      r = temperature_factor(elbo.data_energy, o.grid->temperatures, log_c);
      if (report) *report = {r, out.iterations, 1 / mean_inverse(r, o.grid->temperatures)};
    }
    if (out.iterations == steps || (o.exact_every > 0 && out.iterations % o.exact_every == 0)) {
      e.set({});
      double exact = 0;
      if (const std::int32_t status = temperatures ? temperatures->pause() : e.call(e.prepare))
        return failure(e, status, out);
      if (const std::int32_t status = evaluate(e, o, exact)) return failure(e, status, out);
      elbo = e.elbo_parts();
      if (const std::int32_t status = temperatures ? temperatures->resume() : 0)
        return failure(e, status, out);
    }
    out.elbo = elbo.value;
    if (!check_elbo(out.elbo, out)) return done(Status::numerical_failure);
    if (!on_step({out.iterations, out.elbo, temperature, annealed_objective(o.annealing, temperature, elbo)}))
      return done(Status::interrupted);
  }
  return done(Status::max_iter);
}

}  // namespace lehr
