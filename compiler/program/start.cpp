#include "compiler/program/start.h"

#include <algorithm>
#include <map>

#include "compiler/program/tables.h"
#include "runtime/engine/sweep.h"

namespace lehr {
namespace {

/// Clusters of what was observed, for the starts that ask for them.
struct Clustering {
  const Started& s;
  const embedded::View& view;
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
      c.view.length(static_cast<std::int64_t>(slot.buffer.index())) / static_cast<std::size_t>(k);
  return c.found.size() == elements ? found : nullptr;
}

const std::int64_t* of_step(void* context, std::int64_t step, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  const loops::Interface& io = c.s.lowered.interface;
  const auto& stage =
      std::get<loops::StageFunctions>(io.steps[io.sweep[static_cast<std::size_t>(step)].step]);
  return c.of({stage.item}, k, rng);
}

/// What elements of the items take, as long as their factors are not in memory: by parameter, -1 for nothing.
struct TakenValues {
  const embedded::View& view;
  std::map<std::int64_t, std::vector<std::int32_t>> values = {};

  /// Puts those of a run in place.
  void put(const ItemFactors& items, std::size_t run, ItemRange which) const {
    for (const auto& [parameter, all] : values) {
      const embedded::ParameterRow& row = view.model.parameters[parameter];
      const auto array = std::find_if(items.arrays().begin(), items.arrays().end(), [&](const ItemArray& a) {
        return a.buffer == static_cast<std::size_t>(row.buffer);
      });
      const std::size_t length = view.length(row.buffer), width = length / all.size(),
                        per_row = array->width / width, first = items.row(*array, which.begin) * per_row;
      const std::span<double> factors = items.factors(run, *array);
      if (factors.empty()) continue;
      embedded::put_values(row, factors, std::span(all).subspan(first, factors.size() / width), length);
    }
  }
};

void take_value(void* context, std::int64_t parameter, std::size_t element, std::int64_t value) {
  auto& taken = *static_cast<TakenValues*>(context);
  std::vector<std::int32_t>& values = taken.values[parameter];
  if (values.empty()) {
    const embedded::ParameterRow& row = taken.view.model.parameters[parameter];
    const embedded::BufferRow& buffer = taken.view.model.buffers[row.buffer];
    const auto width =
        row.chain ? taken.view.extent(taken.view.model.axes[buffer.first_axis + buffer.axes - 1]) : 1;
    values.assign(taken.view.length(row.buffer) / static_cast<std::size_t>(width), -1);
  }
  values[element] = static_cast<std::int32_t>(value);
}

/// Room for the picks as long as a start needs them.
class Picks {
 public:
  explicit Picks(const embedded::View& view, Memory& memory) : view_(view), memory_(memory) {
    each(
        [&](std::size_t buffer) { memory_.resize(buffer, view_.length(static_cast<std::int64_t>(buffer))); });
  }
  ~Picks() {
    each([&](std::size_t buffer) { memory_.resize(buffer, 0); });
  }
  Picks(const Picks&) = delete;
  Picks& operator=(const Picks&) = delete;

 private:
  void each(const std::function<void(std::size_t)>& body) const {
    for (std::int64_t k = 0; k < view_.model.pick_count; ++k)
      body(static_cast<std::size_t>(view_.model.picks[k].buffer));
  }

  const embedded::View& view_;
  Memory& memory_;
};

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
  const embedded::Model model = model_of(s.tables);
  const bool window = s.engine.items && s.engine.items->window() > 0;
  const embedded::View view{model, s.engine.memory.table(), s.engine.sizes.data()};
  const embedded::View in_memory{model, view.table,
                                 window ? s.engine.items->no_items().data() : s.engine.sizes.data()};
  const Picks picks(view, s.engine.memory);
  Clustering clustering{s, view, {}};
  TakenValues values{view};
  const embedded::Clusters clusters{&clustering, of_parameter, of_step};
  const embedded::Taken taken{&values, take_value};
  std::vector<std::int64_t> order(embedded::order_length(view));
  const embedded::Start start{view, kind, &clusters, order.data(), window ? &taken : nullptr};

  if (const std::int32_t status = s.engine.call_without_items(s.engine.initialise)) return status;
  embedded::start_factors({in_memory, kind}, rng);
  if (s.engine.items && !window) {
    if (const std::int32_t status = s.engine.call(s.engine.expectations)) return status;
    if (const std::int32_t status = form_items(s.engine)) return status;
  }
  const bool stored = embedded::start_elements(start, rng);
  if (const std::int32_t status = s.engine.call_without_items(s.engine.expectations)) return status;
  const bool picked = embedded::start_items(start, rng);
  if (stored || picked) {
    const auto put = [&](std::size_t run, ItemRange which) {
      values.put(*s.engine.items, run, which);
      return values.values.empty() ? 0 : s.engine.items->expectations(run);
    };
    if (const std::int32_t status = seed_statistics(s.engine, stored, put)) return status;
    if (const std::int32_t status = update_globals(s.engine)) return status;
  }
  return follow_items(s.engine);
}

}  // namespace lehr
