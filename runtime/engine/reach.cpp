#include "runtime/engine/reach.h"

#include "runtime/engine/batches.h"

namespace lehr {
namespace {

constexpr std::int64_t kItems = 1000, kSteps = 10;
constexpr std::uint64_t kSample = 0x5A3;

}  // namespace

std::int32_t energy_within_reach(const Engine& e, const SviOptions& o, double& nats) {
  const auto before = e.save();
  const EngineStage* const stage = e.batch_stage();
  Batches sample(stage ? stage->items : 1, stage && !e.minibatches ? stage->items : kItems, false,
                 o.seed + kSample);
  const std::vector<std::int64_t>& items = sample.next();
  e.set({});
  for (std::int64_t k = 0; k < kSteps; ++k) {
    if (const std::int32_t status = step(e, o, items)) return status;
  }
  if (const std::int32_t status = e.call(e.elbo)) return status;
  nats = e.elbo_parts().data_energy;
  e.load(before);
  return e.call(e.prepare);
}

}  // namespace lehr
