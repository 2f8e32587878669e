// Streams without end: the posterior so far becomes the prior of the next data. In objects built for this, the
// generated code has the statements outside the items twice. Once they are the model's own, times the weight
// `own_prior`. Once they have the parameters of the carried posterior, times the weight `carried_prior`. An update
// switches from the first to the second.
#include <cstring>

#include "runtime/embedded/driver.h"
#include "runtime/embedded/run.h"
#include "runtime/machine/start.h"

namespace lehr::embedded {
namespace {

/// Sets the weights of the model's own and of the carried priors; sums of the data must then be computed again.
void weigh_priors(const Run& r, double own, double carried) {
  r.view().reals(r.m.own_prior)[0] = own;
  r.view().reals(r.m.carried_prior)[0] = carried;
  r.s.prepared = 0;
}

/// Copies the parameters of the factors to the carried priors, or back.
void copy(const Run& r, bool back) {
  for (const PriorRow& row : priors_of(r.m)) {
    const std::span<double> prior = r.view().reals(row.buffer);
    const std::span<double> factor = r.view().reals(r.m.parameters[row.parameter].buffer);
    const std::span<double> to = back ? factor : prior, from = back ? prior : factor;
    std::memcpy(to.data(), from.data(), to.size_bytes());
  }
}

/// Raises every factor with a carried prior to the power `keep`, by updating it without data and with natural
/// parameters times `keep`. Returns a status.
std::int32_t temper_priors(const Run& r, double keep) {
  set(r.machine(), {.local_data = 0, .global_data = 0, .global = keep});
  std::int32_t status = 0;
  for (const StepRow& step : steps_of(r.m)) {
    bool carried = false;
    for (const PriorRow& row : priors_of(r.m))
      carried = carried || (!step.stage && r.m.parameters[row.parameter].block == step.block);
    if (carried && status == 0) status = call(r.machine(), step.update);
  }
  set(r.machine(), {});
  return status;
}

}  // namespace

void begin_priors(const Run& r) {
  if (r.m.prior_count == 0) return;
  // Carried priors have weight 0 at first, but must be proper: 0 times NaN is NaN.
  for (const PriorRow& row : priors_of(r.m)) {
    ParameterRow parameter = r.m.parameters[row.parameter];
    parameter.buffer = row.buffer;
    repair(r.view(), parameter);
  }
  weigh_priors(r, 1, 0);
}

}  // namespace lehr::embedded

using namespace lehr::embedded;

extern "C" {

std::int32_t lehr_update(const Model* m, void* memory, const DataSet* data, double keep) {
  if (!data) return kNull;
  if (!(keep > 0 && keep <= 1)) return kArgument;
  State* s = nullptr;
  if (const std::int32_t status = open(*m, memory, s)) return status;
  if (!s->started) return kNotStarted;
  s->sweeping = 0;
  if (const std::int32_t status = adopt(*m, *s, data)) return status;
  const Run r{*m, *s};
  copy(r, false);
  weigh_priors(r, 0, 1);
  if (keep < 1) {
    if (const std::int32_t status = begin(*m, memory, nullptr, 0, s)) return status;
    if (const std::int32_t status = temper_priors(r, keep)) {
      copy(r, true);
      s->expectations_stale = 1;
      return status;
    }
    copy(r, false);
    s->prepared = 0;
  }
  s->items_changed = s->fresh = 1;
  if (const std::int32_t status = begin(*m, memory, nullptr, 0, s)) return status;
  return finish_item_start(r.machine());
}

}  // extern "C"
