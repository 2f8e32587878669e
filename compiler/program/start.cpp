#include "compiler/program/start.h"

#include "compiler/program/tables.h"
#include "runtime/engine/sweep.h"

namespace lehr {
namespace {

/// Clusters of what was observed, for the starts that ask for them.
struct Clustering {
  const Started& s;
  std::vector<std::int64_t> found;

  const std::int64_t* of(const std::vector<model::PlateId>& axes, std::int64_t k, Rng& rng) {
    found = cluster(s, axes, k, rng);
    return found.empty() ? nullptr : found.data();
  }
};

const std::int64_t* of_parameter(void* context, std::int64_t parameter, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  const loops::ParameterSlot& slot = c.s.lowered.interface.parameters[static_cast<std::size_t>(parameter)];
  const std::int64_t* found = c.of(c.s.model[slot.variable].axes, k, rng);
  const std::size_t elements =
      c.s.engine.memory.reals(slot.buffer.index()).size() / static_cast<std::size_t>(k);
  return c.found.size() == elements ? found : nullptr;
}

const std::int64_t* of_step(void* context, std::int64_t step, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  const loops::Interface& io = c.s.lowered.interface;
  const auto& stage =
      std::get<loops::StageFunctions>(io.steps[io.sweep[static_cast<std::size_t>(step)].step]);
  return c.of({stage.item}, k, rng);
}

}  // namespace

std::optional<StartKind> start_kind(std::string_view name) {
  const std::pair<std::string_view, StartKind> kinds[] = {{"seeds", StartKind::seeds},
                                                          {"means", StartKind::means},
                                                          {"allocations", StartKind::allocations},
                                                          {"points", StartKind::points},
                                                          {"flat", StartKind::flat}};
  for (const auto& [n, kind] : kinds) {
    if (n == name) return kind;
  }
  return std::nullopt;
}

std::int32_t random_start(const Started& s, StartKind kind, Rng rng) {
  const Tables tables = tables_of(s.model, s.schedule, s.lowered);
  const embedded::Model model = model_of(tables);
  const embedded::View view{model, s.engine.memory.table(), s.engine.sizes.data()};
  Clustering clustering{s, {}};
  const embedded::Clusters clusters{&clustering, of_parameter, of_step};
  std::vector<std::int64_t> order(embedded::order_length(view));
  const embedded::Start start{view, kind, &clusters, order.data()};

  if (const std::int32_t status = s.engine.call(s.engine.initialise)) return status;
  embedded::start_factors(start, rng);
  const bool stored = embedded::start_elements(start, rng);
  if (const std::int32_t status = s.engine.call(s.engine.expectations)) return status;
  const bool picked = embedded::start_items(start, rng);
  if (!stored && !picked) return 0;
  if (const std::int32_t status = seed_statistics(s.engine, stored)) return status;
  return update_globals(s.engine);
}

}  // namespace lehr
