// Stochastic variational inference. A step replaces the sums of the data by those of the minibatch and infers its
// items. Then it updates the global blocks by a natural-gradient step. Latent temperatures are updated between steps.
#include "runtime/inference/svi.h"

#include <algorithm>
#include <cmath>

#include "runtime/inference/batches.h"
#include "runtime/machine/damping.h"

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

namespace {

/// The points outside the items that local bounds hold (StepRow::moves_gradually), and such bounds.
class HeldPoints {
 public:
  explicit HeldPoints(const Engine& e) : e_(e) {
    for (const StepRow& s : e.steps())
      if (!s.stage && s.moves_gradually != 0) steps_.push_back(&s);
    for (const machine::ParameterRow& row : machine::parameters_of(e.model()))
      if (!row.by_stage && std::ranges::any_of(steps_, [&](const StepRow* s) { return s->block == row.block; }))
        rows_.push_back(&row);
  }
  bool any() const { return !steps_.empty(); }

  /// Returns the numbers, those that stay positive by their logarithms.
  std::vector<double> read() const {
    std::vector<double> out;
    for (const machine::ParameterRow* row : rows_)
      for (const double x : e_.reals(row->buffer))
        out.push_back(machine::stays_positive(*row) ? std::log(x) : x);
    return out;
  }
  /// Sets the numbers to those of read(). Returns 0 or a status of the generated code.
  std::int32_t write(const std::vector<double>& numbers) const {
    auto from = numbers.begin();
    for (const machine::ParameterRow* row : rows_)
      for (double& x : e_.reals(row->buffer)) {
        const double y = *from++;
        x = machine::stays_positive(*row) ? std::exp(y) : y;
      }
    e_.invalidate_sums();
    return machine::call(e_.machine(), e_.model().global_expectations);
  }
  /// Updates them until they hardly move, with the sums over items as they are. Returns 0 or a failure status.
  std::int32_t update() const {
    constexpr int kUpdates = 200;
    for (int k = 0; k < kUpdates; ++k)
      for (const StepRow* s : steps_)
        if (const std::int32_t status = machine::call(e_.machine(), s->update)) return status;
    return 0;
  }

 private:
  const Engine& e_;
  std::vector<const StepRow*> steps_;
  std::vector<const machine::ParameterRow*> rows_;
};

/// Returns where the geometric series through three successive points leads, as far as one ratio describes it (SQUAREM;
/// Varadhan & Roland 2008).
std::vector<double> squared_step(const std::vector<double>& x, const std::vector<double>& y,
                                 const std::vector<double>& z) {
  double moved = 0, turned = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    moved += (y[i] - x[i]) * (y[i] - x[i]);
    turned += (z[i] - 2 * y[i] + x[i]) * (z[i] - 2 * y[i] + x[i]);
  }
  const double length = turned > 0 ? std::max(1.0, std::sqrt(moved / turned)) : 1;
  std::vector<double> out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out.push_back(x[i] + 2 * length * (y[i] - x[i]) + length * length * (z[i] - 2 * y[i] + x[i]));
  return out;
}

/// Brings points that local bounds hold to their optimum by sums over all items, after the last step, whose ELBO is in
/// `elbo`. They have no natural parameters that steps could average: a step moves them towards the optimum of a
/// minibatch, which is not that of all items on average, and bounds shorten the way. Each round visits all items three
/// times or more, and they are visited half as often as by the steps.
std::int32_t maximise_points(const Engine& e, const SviOptions& o, Elbo& elbo) {
  constexpr double kFewest = 3, kMost = 100;
  constexpr double kGain = 1e-3;  // nats of a round after which there is no other
  const HeldPoints points(e);
  if (!points.any()) return 0;
  double left = std::clamp(o.epochs / 2, kFewest, kMost);
  const auto visit = [&](Elbo& out) {
    --left;
    return evaluate(e, o, out);
  };
  while (left >= kFewest) {
    const double before = elbo.value;
    std::vector<std::vector<double>> at{points.read()};
    for (int k = 0; k < 2; ++k) {
      std::int32_t status = points.update();
      if (status == 0) status = visit(elbo);
      if (status != 0) return status;
      at.push_back(points.read());
    }
    if (!(elbo.value - before > kGain)) return 0;
    Elbo there;
    std::int32_t status = points.write(squared_step(at[0], at[1], at[2]));
    if (status == 0) status = visit(there);
    if (status == 0 && there.value > elbo.value) {
      elbo = there;
      continue;
    }
    status = points.write(at[2]);
    if (status == 0) status = visit(elbo);
    if (status != 0) return status;
  }
  return 0;
}

/// Status and ELBO of maximise_points(), as one recorded answer.
struct Finished {
  std::int32_t status;
  Elbo elbo;
};

}  // namespace

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
      if (out.iterations == steps && !temperatures && !o.grid && weights.step < 1) {
        const Finished end = e.recorded([&] {
          Finished f{0, elbo};
          f.status = maximise_points(e, o, f.elbo);
          return f;
        });
        if (end.status != 0) return failure(e, end.status, out);
        elbo = end.elbo;
      }
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
