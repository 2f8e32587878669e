// From a lowered program and bound data to an engine, and from the engine's buffers to the posterior.
#include "compiler/program/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "compiler/loops/interpret.h"
#include "compiler/native/native.h"
#include "compiler/program/item_source.h"
#include "compiler/program/minibatch.h"
#include "runtime/engine/cavi.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

using loops::ParameterSlot;

std::size_t length(const loops::Program& p, const std::vector<std::int64_t>& sizes, const loops::Buffer& b) {
  std::size_t n = 1;
  for (loops::SizeId s : b.axes) {
    const loops::Size& size = p[s];
    n *= static_cast<std::size_t>(size.constant >= 0 ? size.constant
                                                     : sizes.at(static_cast<std::size_t>(size.slot)));
  }
  return n;
}

/// A start forms the items' factors from the global ones.
loops::LowerOptions with_new_items(loops::LowerOptions options) {
  options.new_items = true;
  return options;
}

}  // namespace

Instance::Instance(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                   const loops::LowerOptions& options, Backend backend, std::int64_t window)
    : model_(model),
      schedule_(schedule),
      plate_sizes_(data.sizes),
      lowered_(lower(model, schedule, data, with_new_items(options))),
      tables_(std::make_shared<const Tables>(tables_of(model, schedule, lowered_))) {
  const loops::Program& p = lowered_.program;
  engine_.sizes = lowered_.size_values;
  std::function<Generated(std::size_t)> function;
  if (backend == Backend::native) {
    const auto jit = std::make_shared<native::Jit>(p);
    code_ = jit;
    function = [jit, &p](std::size_t f) -> Generated { return jit->function(p.functions[f].name); };
  } else {
    function = [&p](std::size_t f) -> Generated {
      return [&p, f](lehr_buffer const* buffers, const std::int64_t* sizes, const std::int64_t* integers,
                     const double* reals) { return loops::interpret(p, f, buffers, sizes, integers, reals); };
    };
  }
  take_items(function, window);
  std::vector<std::size_t> lengths;
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    lengths.push_back(is_elsewhere(k) ? 0 : length(p, engine_.sizes, p.buffers[k]));
  for (const embedded::PickRow& pick : tables_->picks)
    lengths[static_cast<std::size_t>(pick.buffer)] = 0;  // there for a start
  engine_.memory = Memory(lengths);
  const loops::Interface& io = lowered_.interface;
  engine_.prepare = function(io.prepare);
  engine_.initialise = function(io.initialise);
  engine_.expectations = function(io.expectations);
  engine_.global_expectations = function(io.global_expectations);
  engine_.elbo = function(io.elbo);
  engine_.elbo_buffer = io.elbo_value.index();
  engine_.weights_buffer = io.weights.index();
  engine_.set({});
  if (const auto& x = io.item_energies)
    engine_.item_energies = {data.sizes[x->item.index()], x->inverse.index(), x->energies.index(),
                             function(x->outer)};
  for (const schedule::Turn& turn : io.sweep) {
    const auto& step = io.steps[turn.step];
    if (const auto* s = std::get_if<loops::StageFunctions>(&step)) {
      EngineStage out;
      out.items = data.sizes[s->item.index()];
      out.plate = model[s->item].set.index();
      out.tables = function(s->tables);
      out.update = function(turn.refresh ? s->refresh.value() : s->update);
      out.refresh = turn.refresh;
      if (s->seed && !turn.refresh) out.seed = function(*s->seed);
      if (s->sum && !turn.refresh) out.sum = function(*s->sum);
      for (loops::BufferId b : s->statistics)
        out.statistics.push_back(b.index());
      if (s->data && !turn.refresh) out.data = function(*s->data);
      for (loops::BufferId b : s->data_sums)
        out.data_sums.push_back(b.index());
      engine_.steps.emplace_back(std::move(out));
    } else {
      const auto& u = std::get<loops::UpdateFunction>(step);
      engine_.steps.emplace_back(
          EngineUpdate{model[schedule.conditionals[u.block].variable].name,
                       function(u.function),
                       {},
                       u.gradient.valid() ? std::optional(u.gradient.index()) : std::nullopt,
                       is_category_chain(u.block)});
      for (const ParameterSlot& slot : io.parameters) {
        if (slot.block == u.block)
          std::get<EngineUpdate>(engine_.steps.back()).parameters.push_back(slot.buffer.index());
      }
    }
  }
  for (const ParameterSlot& slot : io.parameters) {
    if (!slot.local) engine_.settled.push_back(slot.buffer.index());
  }
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const loops::Role role = p.buffers[k].role;
    if (role == loops::Role::parameter || role == loops::Role::expectation || role == loops::Role::statistic)
      engine_.state.push_back(k);
  }
  engine_.describe = [this](std::int32_t status) { return describe_status(model_, schedule_, status); };
  place_data(data);
}

void Instance::take_items(const std::function<Generated(std::size_t)>& function, std::int64_t window) {
  const std::optional<model::PlateId> plate = batch_plate(model_, lowered_);
  engine_.minibatches = plate && takes_minibatches(model_, lowered_, *plate);
  std::optional<ItemSource> source = item_source(model_, lowered_, tables_, function);
  if (!source) return;
  if (!engine_.minibatches) window = 0;
  engine_.items = std::make_shared<ItemFactors>(engine_.memory, engine_.sizes, std::move(*source), window);
}

bool Instance::is_elsewhere(std::size_t buffer) const {
  if (!engine_.items || engine_.items->window() == 0) return false;
  return std::any_of(engine_.items->arrays().begin(), engine_.items->arrays().end(),
                     [&](const ItemArray& a) { return a.buffer == buffer; });
}

void Instance::place_data(const BoundData& data) {
  const auto copy = [&](loops::BufferId b, const std::vector<double>& values) {
    if (!b.valid() || values.empty()) return;
    if (lowered_.program[b].element == loops::Type::i64) {
      const auto to = engine_.memory.integers(b.index());
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = std::isnan(values[i]) ? -1 : static_cast<std::int64_t>(values[i]);
    } else {
      const auto to = engine_.memory.reals(b.index());
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = values[i];
    }
  };
  for (std::size_t k = 0; k < model_.givens.size(); ++k)
    copy(lowered_.data.givens[k], data.givens[k].values);
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    if (model_.variables[k].observed) copy(lowered_.data.observed[k], data.observed[k].values);
  }
  for (std::size_t k = 0; k < model_.plates.size(); ++k) {
    const loops::BufferId b = lowered_.data.offsets[k];
    if (!b.valid() || model_.plates[k].set != model::PlateId(k)) continue;
    const auto to = engine_.memory.integers(b.index());
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = data.offsets[k].at(i);
  }
}

std::optional<Error> Instance::asymmetric_matrix() const {
  for (model::GivenId id : lowered_.definite) {
    const model::Given& g = model_[id];
    const auto n = static_cast<std::size_t>(plate_sizes_[model_[g.event[0]].set.index()]);
    const std::span<double> x = engine_.memory.reals(lowered_.data.givens[id.index()].index());
    for (std::size_t i = 0; n > 0 && i < x.size(); ++i) {
      const std::size_t matrix = i / (n * n) * n * n, row = i / n % n, column = i % n;
      const double other = x[matrix + column * n + row];
      if (std::abs(x[i] - other) <= 1e-9 * (std::abs(x[i]) + std::abs(other))) continue;
      return Error{
          ExitCode::data,
          "--data",
          fmt::format("the matrix '{}' is not symmetric: its entries [{}, {}] and [{}, {}] are {} and {}",
                      g.name, row, column, column, row, x[i], other),
          {"a precision, covariance, scale or rate matrix must be symmetric positive definite"}};
    }
  }
  return std::nullopt;
}

std::vector<std::int64_t> Instance::shape(const ParameterSlot& slot) const {
  std::vector<std::int64_t> out;
  for (loops::SizeId s : lowered_.program[slot.buffer].axes) {
    const loops::Size& size = lowered_.program[s];
    out.push_back(size.constant >= 0 ? size.constant : engine_.sizes[static_cast<std::size_t>(size.slot)]);
  }
  return out;
}

bool Instance::is_category_chain(conditionals::BlockId b) const {
  const conditionals::Block& block = schedule_.conditionals[b];
  return block.chain && model_[block.variable].value_plate;
}

Result<bool> Instance::start(std::uint64_t seed, std::uint64_t restart, StartKind kind) {
  const auto failed = [&](std::int32_t status) {
    const bool data = status >= loops::kFailData;
    return Error{
        data ? ExitCode::data : ExitCode::numerical, data ? "--data" : "", engine_.describe(status), {}};
  };
  if (std::optional<Error> e = asymmetric_matrix()) return *e;
  if (const std::int32_t s = engine_.call(engine_.prepare)) return failed(s);
  const Started started{model_, schedule_, lowered_, *tables_, engine_, plate_sizes_};
  if (const std::int32_t s = random_start(started, kind, Rng(seed, restart))) return failed(s);
  engine_.restart = [started, kind](std::uint64_t again, std::optional<StartKind> other) {
    return random_start(started, other.value_or(kind), Rng(again, 0x57A7));
  };
  return true;
}

Result<bool> Instance::set(const std::vector<NpyArray>& arrays, const std::string& source) {
  bool of_items = false;
  for (const NpyArray& a : arrays) {
    const ParameterSlot* slot = nullptr;
    std::vector<std::string> known;
    for (const ParameterSlot& s : lowered_.interface.parameters) {
      known.push_back(s.name);
      if (s.name == a.name) slot = &s;
    }
    if (!slot) {
      // probabilities of a category that is formed where it is used: nothing reads a start value
      const std::size_t dot = a.name.find('.');
      bool overwritten = false;
      for (const model::Variable& v : model_.variables) {
        overwritten = overwritten || (!v.observed && v.value_plate && a.name == v.name + ".probs");
      }
      if (overwritten && dot != std::string::npos) continue;
      return Error{ExitCode::data,
                   source,
                   fmt::format("'{}' is not a parameter of the posterior of this model", a.name),
                   {fmt::format("parameters: {}", fmt::join(known, ", "))}};
    }
    const std::span<double> x = engine_.memory.reals(slot->buffer.index());
    const bool elsewhere = is_elsewhere(slot->buffer.index());
    if ((elsewhere ? length(lowered_.program, engine_.sizes, lowered_.program[slot->buffer]) : x.size()) !=
        a.values.size()) {
      return Error{ExitCode::data,
                   source,
                   fmt::format("'{}' has shape ({}), the model needs ({})", a.name, fmt::join(a.shape, ", "),
                               fmt::join(shape(*slot), ", ")),
                   {}};
    }
    of_items = of_items || (slot->local && !slot->streamed);
    if (!elsewhere) std::copy(a.values.begin(), a.values.end(), x.begin());
  }
  if (const std::int32_t s = engine_.call_without_items(engine_.expectations))
    return Error{ExitCode::data, source, engine_.describe(s), {}};
  return of_items;
}

std::vector<std::string> Instance::equal_components() const {
  const auto is_value = [&](model::PlateId p) {
    return std::any_of(model_.variables.begin(), model_.variables.end(), [&](const model::Variable& v) {
      return !v.observed && !v.auxiliary && v.value_plate && model_[*v.value_plate].set == model_[p].set;
    });
  };
  std::map<std::string, bool> equal;  // by variable: all of its arrays
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    const model::Variable& v = model_[slot.variable];
    if (slot.local || slot.streamed || v.axes.size() != 1 || !is_value(v.axes[0])) continue;
    const std::span<double> x = engine_.memory.reals(slot.buffer.index());
    const auto n = static_cast<std::size_t>(shape(slot)[0]);
    bool same = n > 1;
    for (std::size_t i = 0; i < x.size() && same; ++i)
      same = std::abs(x[i] - x[i % (x.size() / n)]) <= 1e-6 * std::abs(x[i]) + 1e-12;
    const bool before = equal.try_emplace(v.name, true).first->second;
    equal[v.name] = before && same;
  }
  // One of them may well be the same for all values; all of them are in a symmetric solution.
  std::vector<std::string> out;
  for (const auto& [name, same] : equal) {
    if (!same) return {};
    out.push_back(name);
  }
  return out;
}

std::vector<NpyArray> Instance::posterior(bool locals) const {
  std::vector<NpyArray> out;
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    if (slot.local && (!locals || is_elsewhere(slot.buffer.index()))) continue;
    const std::span<double> x = engine_.memory.reals(slot.buffer.index());
    out.push_back({slot.name, shape(slot), {x.begin(), x.end()}, false});
  }
  return out;
}

}  // namespace lehr
