// The posterior so far as the prior of the next data. The statements of what is outside the items stand twice in the
// generated code, the model's own times one weight, and with the parameters of the factors that there were times
// another.
#include <cstring>

#include "runtime/embedded/driver.h"
#include "runtime/embedded/run.h"
#include "runtime/machine/start.h"

namespace lehr::embedded {
namespace {

void weigh_priors(const Run& r, double own, double carried) {
  r.view().reals(r.m.own_prior)[0] = own;
  r.view().reals(r.m.carried_prior)[0] = carried;
  r.s.prepared = 0;
}

/// Parameters of the factors to those of the priors, or back.
void copy(const Run& r, bool back) {
  for (const PriorRow& row : priors_of(r.m)) {
    const std::span<double> prior = r.view().reals(row.buffer);
    const std::span<double> factor = r.view().reals(r.m.parameters[row.parameter].buffer);
    const std::span<double> to = back ? factor : prior, from = back ? prior : factor;
    std::memcpy(to.data(), from.data(), to.size_bytes());
  }
}

/// Every factor that is a prior to the power `keep`: what its prior makes of it without data.
std::int32_t widen(const Run& r, double keep) {
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
  // They have no weight, but must be such as can be computed with.
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
    if (const std::int32_t status = widen(r, keep)) {
      copy(r, true);
      s->expectations_stale = 1;
      return status;
    }
    copy(r, false);
    s->prepared = 0;
  }
  s->other_items = 1;
  if (const std::int32_t status = begin(*m, memory, nullptr, 0, s)) return status;
  return follow_items(r.machine());
}

}  // extern "C"
