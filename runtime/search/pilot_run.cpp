// The pilot run: ten full steps from one sample of items, and the energy of the data after them.
#include "runtime/search/pilot_run.h"

#include "runtime/inference/batches.h"

namespace lehr {
namespace {

constexpr std::int64_t kItems = 1000, kSteps = 10;  // size of the sample, steps from it
constexpr std::uint64_t kSampleSeed = 0x5A3;        // added to the seed, so that the sample is not the first minibatch

}  // namespace

std::int32_t pilot_energy(const Engine& e, const SviOptions& o, double& nats) {
  const auto before = e.save();
  Batches sample(e.items(), e.minibatches() ? kItems : e.items(), false, o.seed + kSampleSeed);
  const std::vector<std::int64_t>& items = sample.next();
  e.set({});
  for (std::int64_t k = 0; k < kSteps; ++k) {
    if (const std::int32_t status = step(e, o, items)) return status;
  }
  Elbo elbo;
  if (const std::int32_t status = e.elbo(elbo)) return status;
  nats = elbo.data_energy;
  e.load(before);
  return e.prepare();
}

}  // namespace lehr
