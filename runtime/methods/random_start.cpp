#include "runtime/methods/random_start.h"

#include <algorithm>
#include <map>

#include "runtime/machine/items.h"
#include "runtime/methods/columns.h"

namespace lehr {
namespace {

/// Clusters of what was observed, for the starts that ask for them.
struct Clustering {
  const Engine& e;
  std::vector<std::int64_t> found;

  const std::int64_t* of(std::int64_t subject, std::int64_t k, Rng& rng) {
    found = cluster(columns_of(e, subject, false), k, rng);
    return found.empty() ? nullptr : found.data();
  }
};

const std::int64_t* of_parameter(void* context, std::int64_t parameter, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  const machine::ParameterRow& row = c.e.model().parameters[parameter];
  const std::int64_t* found = c.of(row.subject, k, rng);
  const std::size_t elements = c.e.machine().view().length(row.buffer) / static_cast<std::size_t>(k);
  return c.found.size() == elements ? found : nullptr;
}

const std::int64_t* of_step(void* context, std::int64_t step, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  return c.of(c.e.steps()[static_cast<std::size_t>(step)].subject, k, rng);
}

/// What elements of the items take, as long as their factors are not in memory: by parameter, -1 for nothing.
struct TakenValues {
  const machine::View view;
  std::map<std::int64_t, std::vector<std::int32_t>> values = {};
};

bool put_run(void* context, const machine::Machine& m, ItemRange run) {
  const auto& taken = *static_cast<const TakenValues*>(context);
  for (const auto& [parameter, all] : taken.values) {
    const machine::ParameterRow& row = m.model->parameters[parameter];
    const machine::Extent rows = m.model->axes[m.model->buffers[row.buffer].first_axis];
    const std::size_t length = m.view().length(row.buffer), width = length / all.size(),
                      per_row = machine::row_width(m, row.buffer) / width,
                      first = static_cast<std::size_t>(machine::row_of(m, rows, run.begin)) * per_row;
    const std::span<double> factors = machine::factors_of(m, 0, run, row.buffer);
    if (factors.empty()) continue;
    machine::put_values(row, factors, std::span(all).subspan(first, factors.size() / width), length);
  }
  return !taken.values.empty();
}

void take_value(void* context, std::int64_t parameter, std::size_t element, std::int64_t value) {
  auto& taken = *static_cast<TakenValues*>(context);
  std::vector<std::int32_t>& values = taken.values[parameter];
  if (values.empty()) {
    const machine::ParameterRow& row = taken.view.model.parameters[parameter];
    const machine::BufferRow& buffer = taken.view.model.buffers[row.buffer];
    const auto width = row.chain ? taken.view.extent(taken.view.model.axes[buffer.first_axis + buffer.axes - 1]) : 1;
    values.assign(taken.view.length(row.buffer) / static_cast<std::size_t>(width), -1);
  }
  values[element] = static_cast<std::int32_t>(value);
}

/// Room for the picks as long as a start needs them.
class Picks {
 public:
  explicit Picks(Engine& engine) : engine_(engine) {
    for (const machine::PickRow& p : rows())
      engine_.resize(p.buffer, engine_.machine().view().length(p.buffer));
  }
  ~Picks() {
    for (const machine::PickRow& p : rows())
      engine_.resize(p.buffer, 0);
  }
  Picks(const Picks&) = delete;
  Picks& operator=(const Picks&) = delete;

 private:
  std::span<const machine::PickRow> rows() const {
    return {engine_.model().picks, static_cast<std::size_t>(engine_.model().pick_count)};
  }
  Engine& engine_;
};

}  // namespace

constexpr std::pair<std::string_view, StartKind> kKinds[] = {{"seeds", StartKind::seeds},
                                                             {"means", StartKind::means},
                                                             {"allocations", StartKind::allocations},
                                                             {"points", StartKind::points},
                                                             {"flat", StartKind::flat}};

std::optional<StartKind> start_kind(std::string_view name) {
  for (const auto& [n, kind] : kKinds) {
    if (n == name) return kind;
  }
  return std::nullopt;
}

std::string_view name_of(StartKind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<std::string_view, StartKind>::second)->first;
}

std::int32_t random_start(Engine& e, StartKind kind, Rng rng) {
  e.forget_parts();
  const Picks picks(e);
  const machine::View view = e.machine().view();
  Clustering clustering{e, {}};
  TakenValues values{view};
  const machine::Clusters clusters{&clustering, of_parameter, of_step};
  const machine::Taken taken{&values, take_value, put_run};
  std::vector<std::int64_t> order(machine::order_length(view));
  return machine::start(e.machine(), {kind, &clusters, order.data(), e.machine().window ? &taken : nullptr}, rng);
}

void restart_at(Engine& engine, StartKind kind) {
  constexpr std::uint64_t kStream = 0x57A7;  // not that of the first starts
  engine.restart = [&engine, kind](std::uint64_t seed, std::optional<StartKind> other) {
    return engine.seen([&] { return random_start(engine, other.value_or(kind), Rng(seed, kStream)); });
  };
}

}  // namespace lehr
