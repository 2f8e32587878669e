// Random starts of an engine, with what machine::start asks for: clusters of the observations, memory for the values of
// categories, and deferred assignments for items that are in a window or out of core. Deferred or not, a start makes
// the same draws, so it does not depend on where the items are.
#include "runtime/search/random_start.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "runtime/machine/items.h"
#include "runtime/search/features.h"

namespace lehr {
namespace {

/// Clusters of the observations, for StartKind::points.
struct Clustering {
  const Engine& e;
  std::vector<std::int64_t> labels;

  const std::int64_t* of(std::int64_t subject, std::int64_t k, Rng& rng) {
    labels = cluster(features_of(e, subject, false), k, rng);
    return labels.empty() ? nullptr : labels.data();
  }
};

/// Implements Clusters::of_parameter.
const std::int64_t* of_parameter(void* context, std::int64_t parameter, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  const machine::ParameterRow& row = c.e.model().parameters[parameter];
  const std::int64_t* labels = c.of(row.subject, k, rng);
  const std::size_t elements = c.e.machine().view().length(row.buffer) / static_cast<std::size_t>(k);
  return c.labels.size() == elements ? labels : nullptr;
}

/// Implements Clusters::of_step.
const std::int64_t* of_step(void* context, std::int64_t step, std::int64_t k, Rng& rng) {
  auto& c = *static_cast<Clustering*>(context);
  return c.of(c.e.steps()[static_cast<std::size_t>(step)].subject, k, rng);
}

/// A deferred assignment: the start value of an element or an item.
struct DeferredValue {
  std::int64_t at;     // number of the element or item
  std::int32_t value;  // the value
};

/// Returns the first `count` elements of 0 .. n - 1 after shuffle(rng, ...), with memory for about sqrt(n) numbers. A
/// first pass makes all draws and saves the generator every sqrt(n) draws. A second one goes through the swaps from the
/// last to the first. It follows the wanted positions back to the elements that end there.
std::vector<std::int64_t> first_of_shuffle(Rng& rng, std::size_t n, std::size_t count) {
  const std::size_t block = 1 + static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  std::vector<std::pair<std::size_t, Rng>> states;  // the generator before the draw for position `first`
  for (std::size_t i = n; i > 1; --i) {
    if ((n - i) % block == 0) states.emplace_back(i, rng);
    draw_below(rng, i);
  }
  // From the present position of an element to its final one.
  std::unordered_map<std::size_t, std::size_t> wanted;
  for (std::size_t k = 0; k < count; ++k)
    wanted[k] = k;
  std::vector<std::size_t> draws;
  for (; !states.empty(); states.pop_back()) {
    auto& [first, state] = states.back();
    draws.clear();
    for (std::size_t i = first; i > 1 && first - i < block; --i)
      draws.push_back(static_cast<std::size_t>(draw_below(state, i)));
    for (std::size_t i = first + 1 - draws.size(); !draws.empty(); ++i, draws.pop_back()) {
      const std::size_t a = i - 1, b = draws.back();
      if (a == b) continue;
      auto at_a = wanted.extract(a), at_b = wanted.extract(b);
      if (at_a) at_a.key() = b;
      if (at_b) at_b.key() = a;
      wanted.insert(std::move(at_a));
      wanted.insert(std::move(at_b));
    }
  }
  std::vector<std::int64_t> out(count);
  for (const auto& [from, position] : wanted)
    out[position] = static_cast<std::int64_t>(from);
  return out;
}

/// The deferred assignments of one start, until the items are loaded.
struct RecordedValues {
  Engine& engine;                                                        // the engine that starts
  std::map<std::int64_t, std::vector<DeferredValue>> by_parameter = {},  // assignments of stored elements
      by_pick = {};                                                      // assignments of local categories of items
  std::map<std::int64_t, std::int64_t> before = {};  // by parameter: rows of the items that were loaded before
  std::vector<std::int64_t> order = {};              // the result of the last DeferredValues::first
};

/// Returns the assignments of the elements begin, ..., end - 1, sorted; sorts all of them first if necessary.
std::span<const DeferredValue> values_in(std::vector<DeferredValue>& all, std::int64_t begin, std::int64_t end) {
  if (!std::ranges::is_sorted(all, {}, &DeferredValue::at)) std::ranges::sort(all, {}, &DeferredValue::at);
  return {std::ranges::lower_bound(all, begin, {}, &DeferredValue::at),
          std::ranges::lower_bound(all, end, {}, &DeferredValue::at)};
}

/// Implements DeferredValues::put. Runs come in the order of the items, so that the rows before each are counted.
bool put_run(void* context, const machine::Machine& m, ItemRange run, ItemRange items) {
  auto& recorded = *static_cast<RecordedValues*>(context);
  for (auto& [parameter, all] : recorded.by_parameter) {
    const machine::ParameterRow& row = m.model->parameters[parameter];
    const machine::BufferRow& buffer = m.model->buffers[row.buffer];
    const machine::Extent rows = m.model->axes[buffer.first_axis];
    const std::size_t width =
        row.chain ? static_cast<std::size_t>(m.view().extent(m.model->axes[buffer.first_axis + buffer.axes - 1])) : 1;
    const std::int64_t per_row = static_cast<std::int64_t>(machine::row_width(m, row.buffer) / width);
    const std::span<double> factors = machine::factors_of(m, 0, run, row.buffer);
    std::vector<std::int32_t> values(factors.size() / width, -1);
    std::int64_t& before = recorded.before[parameter];
    if (items.begin == 0) before = 0;
    const std::int64_t first = before * per_row, past = first + std::ssize(values);
    before += machine::row_of(m, rows, run.end) - machine::row_of(m, rows, run.begin);
    for (const DeferredValue& t : values_in(all, first, past))
      values[static_cast<std::size_t>(t.at - first)] = t.value;
    if (!values.empty()) machine::write_start_values(row, factors, values, m.whole().length(row.buffer));
  }
  for (auto& [pick, all] : recorded.by_pick) {
    const machine::PickRow& row = m.model->picks[pick];
    recorded.engine.resize(row.buffer, static_cast<std::size_t>(run.end));
    const std::span<std::int64_t> values = recorded.engine.integers(row.buffer);
    std::ranges::fill(values, -1);
    for (const DeferredValue& t : values_in(all, items.begin, items.end))
      values[static_cast<std::size_t>(t.at - items.begin)] = t.value;
  }
  return !recorded.by_parameter.empty();
}

/// Implements DeferredValues::take.
void take_value(void* context, std::int64_t parameter, std::size_t element, std::int64_t value) {
  static_cast<RecordedValues*>(context)->by_parameter[parameter].push_back(
      {static_cast<std::int64_t>(element), static_cast<std::int32_t>(value)});
}

/// Implements DeferredValues::take_item.
void take_item(void* context, std::int64_t pick, std::int64_t item, std::int64_t value) {
  static_cast<RecordedValues*>(context)->by_pick[pick].push_back({item, static_cast<std::int32_t>(value)});
}

/// Implements DeferredValues::first.
const std::int64_t* first_of_permutation(void* context, std::size_t n, std::size_t count, Rng& rng) {
  auto& recorded = *static_cast<RecordedValues*>(context);
  recorded.order = first_of_shuffle(rng, n, count);
  return recorded.order.data();
}

/// A guard: while it lives, the pick buffers have memory.
class Picks {
 public:
  explicit Picks(Engine& engine) : engine_(engine) {
    for (const machine::PickRow& p : picks())
      engine_.resize(p.buffer, engine_.machine().view().length(p.buffer));
  }
  ~Picks() {
    for (const machine::PickRow& p : picks())
      engine_.resize(p.buffer, 0);
  }
  Picks(const Picks&) = delete;
  Picks& operator=(const Picks&) = delete;

 private:
  std::span<const machine::PickRow> picks() const {
    return {engine_.model().picks, static_cast<std::size_t>(engine_.model().pick_count)};
  }
  Engine& engine_;
};

/// Returns the cluster of each element of a stored category; empty if there are none.
std::vector<std::int64_t> clusters_of(Clustering& clustering, const machine::ParameterRow& row, Rng& rng) {
  const machine::View& view = clustering.e.machine().view();
  const machine::BufferRow& buffer = view.model.buffers[row.buffer];
  const std::int64_t values = view.extent(view.model.axes[buffer.first_axis + buffer.axes - 1]);
  clustering.of(row.subject, values, rng);
  const bool fits = std::ssize(clustering.labels) * values == std::ssize(clustering.e.reals(row.buffer));
  return fits ? clustering.labels : std::vector<std::int64_t>();
}

/// Puts stored categories into the clusters of their elements, and forms the other global factors from these. Returns a
/// status.
std::int32_t place_in_clusters(Engine& e, Clustering& clustering, Rng& rng) {
  const machine::Machine& m = e.machine();
  std::vector<std::pair<std::span<double>, std::vector<double>>> placed;
  for (const machine::ParameterRow& row : machine::parameters_of(e.model())) {
    if (!is_placed_in_clusters(e.model(), row)) continue;
    const std::vector<std::int64_t> labels = clusters_of(clustering, row, rng);
    if (labels.empty()) continue;
    const std::span<double> probs = e.reals(row.buffer);
    std::vector<double> values(probs.size(), 0.0);
    const std::size_t n = probs.size() / labels.size();
    for (std::size_t i = 0; i < labels.size(); ++i)
      values[i * n + static_cast<std::size_t>(labels[i])] = 1;
    placed.emplace_back(probs, std::move(values));
  }
  const auto place = [&] {
    for (const auto& [probs, values] : placed)
      std::ranges::copy(values, probs.begin());
    machine::invalidate_sums(m);
    return machine::call_on_stored(m, e.model().expectations);
  };
  if (placed.empty()) return 0;
  std::int32_t status = place();
  for (const StepRow& step : machine::steps_of(e.model())) {
    if (step.stage || step.seeded || status != 0) continue;
    status = machine::call(m, step.update);
    if (status == 0) status = place();  // the step may be that of such a category
  }
  return status;
}

}  // namespace

bool is_placed_in_clusters(const machine::Model& m, const machine::ParameterRow& row) {
  return row.parameter == machine::Parameter::probs && row.support == machine::Support::category && !row.chain &&
         !row.streamed && !row.by_stage && !row.auxiliary && row.subject >= 0 && m.subjects[row.subject].columns > 0;
}

/// The names of the kinds of start.
constexpr std::pair<std::string_view, StartKind> kNamesOfKinds[] = {{"seeds", StartKind::seeds},
                                                                    {"means", StartKind::means},
                                                                    {"allocations", StartKind::allocations},
                                                                    {"points", StartKind::points},
                                                                    {"flat", StartKind::flat}};

std::optional<StartKind> start_kind(std::string_view name) {
  for (const auto& [n, kind] : kNamesOfKinds) {
    if (n == name) return kind;
  }
  return std::nullopt;
}

std::string_view name_of(StartKind kind) {
  return std::ranges::find(kNamesOfKinds, kind, &std::pair<std::string_view, StartKind>::second)->first;
}

std::int32_t random_start(Engine& e, StartKind kind, Rng rng) {
  e.invalidate_parts();
  e.workers().forget_spilled();
  const Picks picks(e);
  const machine::Machine& m = e.machine();
  Clustering clustering{e, {}};
  RecordedValues values{e};
  const machine::Clusters clusters{&clustering, of_parameter, of_step};
  const machine::DeferredValues deferred{&values, take_value, take_item, first_of_permutation, put_run};
  std::vector<std::int64_t> order(m.loader ? 0 : machine::order_length(m.view()));
  const std::int32_t status =
      machine::start(m, {kind, &clusters, order.data(), m.stores_all_items() ? nullptr : &deferred}, rng);
  return status == 0 && kind == StartKind::points ? place_in_clusters(e, clustering, rng) : status;
}

StartResult start_with_fallback(Engine& e, StartKind wanted, const Rng& rng) {
  // The order of the attempts: kinds that need less of the data come first.
  constexpr StartKind kFallbacks[] = {StartKind::means, StartKind::flat, StartKind::points, StartKind::allocations,
                                      StartKind::seeds};
  const std::int32_t failed = random_start(e, wanted, rng);
  if (failed == 0) return {wanted};
  for (const StartKind kind : kFallbacks) {
    if (kind == wanted || (e.machine().loader && !is_sparse(kind))) continue;
    if (random_start(e, kind, rng) == 0) return {kind, failed};
  }
  return {std::nullopt, failed};
}

void set_restart(Engine& engine, StartKind kind) {
  constexpr std::uint64_t kStream = 0x57A7;  // not the stream of first starts, which would be repeated
  engine.restart = [&engine, kind](std::uint64_t seed, std::optional<StartKind> requested) {
    return engine.recorded([&] {
      const Rng rng(seed, kStream);
      if (requested) return random_start(engine, *requested, rng);
      const StartResult started = start_with_fallback(engine, kind, rng);
      return started.kind ? 0 : started.failed;
    });
  };
}

}  // namespace lehr
