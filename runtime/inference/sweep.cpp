// Sweeps of an engine: translates a SweepPlan into a plan of the machine, and records the result in the journal.
#include "runtime/inference/sweep.h"

namespace lehr {
namespace {

/// Returns a minibatch as runs of consecutive items. An item that was drawn twice begins a new run.
std::vector<ItemRange> runs_of(std::span<const std::int64_t> batch) {
  std::vector<ItemRange> out;
  for (std::int64_t item : batch) {
    if (!out.empty() && out.back().end == item) ++out.back().end;
    else out.push_back({item, item + 1});
  }
  return out;
}

/// Returns the number of all items relative to those of the minibatch.
double scale_of(const Engine& e, std::span<const std::int64_t> batch) {
  return static_cast<double>(e.items()) / static_cast<double>(batch.size());
}

/// Returns the engine's machine with the accuracy of the options.
machine::Machine with_accuracy(const Engine& e, const SweepOptions& o) {
  machine::Machine out = e.machine();
  out.accuracy = {o.local_iterations, o.local_tolerance};
  return out;
}

/// Returns which steps of the sweep the plan needs.
machine::SweepScope scope_of(const SweepPlan& plan) {
  if (plan.items_only) return machine::SweepScope::stages;
  return plan.bound ? machine::SweepScope::all : machine::SweepScope::ascent;
}

/// Makes the sweep, without a record. An ordinary sweep invalidates the sums of incremental ones.
std::int32_t sweep_now(const Engine& e, const SweepOptions& options, const SweepPlan& plan) {
  const std::optional<std::span<const std::int64_t>> batch =
      plan.batch || options.items.empty() ? plan.batch : std::optional(options.items);
  if (plan.parts && !batch && e.parts().count() > 1)
    return e.parts().pass(with_accuracy(e, options), {.form = options.fresh});
  e.invalidate_parts();
  const std::vector<ItemRange> runs = batch ? runs_of(*batch) : std::vector<ItemRange>();
  const auto call = [](void* context, const StepRow& step) {
    return (*static_cast<const std::function<std::int32_t(const StepRow&)>*>(context))(step);
  };
  auto body = plan.update;
  const machine::Update update{&body, call};
  return machine::sweep(with_accuracy(e, options), {.scope = scope_of(plan),
                                                    .batch = runs,
                                                    .scale = batch ? scale_of(e, *batch) : 1,
                                                    .form = options.fresh && !plan.again,
                                                    .update = plan.update ? &update : nullptr});
}

}  // namespace

std::int32_t sweep(const Engine& e, const SweepOptions& options, const SweepPlan& plan) {
  return e.recorded([&] { return sweep_now(e, options, plan); });
}

std::int32_t sum_data(const Engine& e, std::span<const std::int64_t> batch) {
  return e.recorded([&] { return machine::sum_data(e.machine(), runs_of(batch), scale_of(e, batch)); });
}

std::int32_t evaluate(const Engine& e, const SweepOptions& options, Elbo& out) {
  const std::int32_t status = sweep(e, options, {.items_only = true});
  return status != 0 ? status : e.elbo(out);
}

std::int32_t infer_items(const Engine& e, const SweepOptions& options, machine::SweepScope scope, Elbo& out) {
  e.invalidate_parts();
  const std::int32_t status = machine::infer_items(with_accuracy(e, options), scope);
  return status != 0 ? status : e.elbo(out);
}

bool omits_item_parameters(const Engine& e, const SweepOptions& options) {
  return !options.item_parameters && !machine::reads_statistics_first(e.model());
}

std::int32_t prepare_statistics(const Engine& e, const SweepOptions& options) {
  if (!machine::reads_statistics_first(e.model())) return 0;
  if (!options.items.empty()) return sweep(e, options, {.items_only = true});
  return e.recorded([&] { return machine::sum_statistics(e.machine()); });
}

}  // namespace lehr
