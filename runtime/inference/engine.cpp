// The engine: allocates the buffers that are in memory, wires the machine to window, loader, workers and journal, and
// copies q. Buffers of items in a window or out of core have no memory of their own; checkpoints contain every buffer
// that follows from neither data nor other buffers.
#include "runtime/inference/engine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/host.h"
#include "runtime/inference/cancelled.h"
#include "runtime/machine/items.h"

namespace lehr {
namespace {

using machine::Role;

/// Returns true if a buffer has the values that a start assigns to a category of the items.
bool is_pick(const machine::Model& m, std::int64_t buffer) {
  return std::any_of(m.picks, m.picks + m.pick_count, [&](const machine::PickRow& p) { return p.buffer == buffer; });
}

/// Returns true if later sweeps read the buffer and it follows from neither data nor other buffers; such buffers belong
/// into a checkpoint. They are copied as doubles, since integers have the same width.
bool outlives(const machine::Model& m, std::int64_t buffer) {
  const Role role = m.buffers[buffer].role;
  return (role != Role::data && role != Role::scratch) || buffer == m.item_inverse;
}

/// Returns the number of elements of a buffer as a double, because View::length would overflow for absurd sizes.
double length_of(const machine::View& v, std::int64_t buffer) {
  const machine::BufferRow& row = v.model.buffers[buffer];
  double n = 1;
  for (std::int64_t k = 0; k < row.axes; ++k)
    n *= static_cast<double>(v.extent(v.model.axes[row.first_axis + k]));
  return n;
}

/// Returns true if an extent changes with the items: their number, that of elements nested in them, or the length of
/// row offsets over them.
bool is_of_items(const machine::Model& m, machine::Extent size) {
  const StepRow* const stage = machine::batch_stage(m);
  if (size >= 0 || !stage) return false;
  if (size == stage->items) return true;
  const machine::SizeRow& row = m.sizes[-(size + 1)];
  if (row.rule == machine::SizeRule::one_more) return is_of_items(m, row.base);
  return row.rule == machine::SizeRule::nested && is_of_items(m, m.arrays[row.offsets].rows);
}

/// Returns true if any axis of a buffer changes with the items.
bool lies_on_items(const machine::Model& m, std::int64_t buffer) {
  const machine::BufferRow& row = m.buffers[buffer];
  return std::any_of(m.axes + row.first_axis, m.axes + row.first_axis + row.axes,
                     [&](machine::Extent e) { return is_of_items(m, e); });
}

/// Returns the sizes with no items: 0 elements, and offsets of one entry.
std::vector<std::int64_t> without_items(const machine::Model& m, std::vector<std::int64_t> sizes) {
  for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
    if (is_of_items(m, -(static_cast<machine::Extent>(slot) + 1)))
      sizes[slot] = m.sizes[slot].rule == machine::SizeRule::one_more ? 1 : 0;
  }
  return sizes;
}

}  // namespace

Engine::Engine(const machine::Model& model, std::vector<std::int64_t> sizes, std::int64_t window,
               const machine::Code* code, LoaderFunctions source)
    : sizes_(source.load_items ? without_items(model, sizes) : sizes),
      all_(std::move(sizes)),
      stored_sizes_(sizes_),
      run_sizes_(sizes_),
      run_table_(static_cast<std::size_t>(model.buffer_count)),
      memory_(std::vector<std::size_t>(run_table_.size(), 0)),
      machine_{&model,
               memory_.table(),
               sizes_.data(),
               all_.data(),
               stored_sizes_.data(),
               run_table_.data(),
               run_sizes_.data(),
               {},
               code},
      source_(std::move(source)) {
  if (source_.load_items) {
    const auto load_items = [](void* context, const ItemRange* runs, std::size_t count) {
      return static_cast<Engine*>(context)->load_items({runs, count});
    };
    const auto row = [](void* context, std::int64_t slot, std::int64_t item) {
      return static_cast<Engine*>(context)->source_.row(slot, item);
    };
    const bool windowed = window > 0 && minibatches() && machine::has_single_stage(model);
    machine_.loader = &loader_.emplace(machine::ItemLoader{this, source_.items, load_items, row, !windowed});
  } else if (window > 0 && minibatches() && machine::has_single_stage(model))
    window_ = std::make_unique<ItemWindow>(machine_, window);
  const auto is_here = [&](std::int64_t b) { return !is_partial(b) && !is_pick(model, b); };
  OutOfMemory needed;
  for (std::int64_t b = 0; b < model.buffer_count; ++b)
    needed.lengths.push_back(is_here(b) ? length_of(machine_.view(), b) : 0);
  // Refusing here gives a message; the system might end the process later, when the memory is used.
  constexpr double kNumber = 8;  // bytes
  if (kNumber * std::accumulate(needed.lengths.begin(), needed.lengths.end(), 0.0) >
      static_cast<double>(available_memory()))
    throw needed;
  for (std::int64_t b = 0; b < model.buffer_count; ++b) {
    if (is_here(b)) resize(b, machine_.view().length(b));
  }
  if (window_) {
    machine_.window = window_->hook();
    for (std::size_t slot = 0; slot < stored_sizes_.size(); ++slot) {
      if (machine::row_of(machine_, -(static_cast<std::int64_t>(slot) + 1), 0) >= 0) stored_sizes_[slot] = 0;
    }
  }
  work_with(0);
  divide(0);
  set({});
}

void Engine::work_with(std::size_t threads, const ChunkSize& least, Group* group) {
  workers_ =
      std::make_unique<Workers>(machine_.code && machine_.code->one_thread ? 1 : threads, least, group, spill_.get());
  machine_.workers = workers_->hook();
}

void Engine::divide(std::int64_t parts) {
  if (loader_) parts = 1;
  if (parts == 0) parts = IncrementalBatches::choose(machine_);
  parts_ = std::make_unique<IncrementalBatches>(
      IncrementalBatches::can_divide(machine_) ? std::clamp<std::int64_t>(parts, 1, std::max<std::int64_t>(1, items()))
                                               : 1);
}

void Engine::resize(std::int64_t buffer, std::size_t length) {
  memory_.resize(static_cast<std::size_t>(buffer), length);
}

const ItemRange* Engine::load_items(std::span<const ItemRange> runs) {
  source_.load_items(runs);
  loaded_.clear();
  std::int64_t at = 0;
  for (const ItemRange& run : runs) {
    loaded_.push_back({at, at + run.end - run.begin});
    at = loaded_.back().end;
  }
  return loaded_.data();
}

void Engine::resize_items(const std::vector<std::int64_t>& sizes) {
  std::ranges::copy(sizes, sizes_.begin());
  for (std::int64_t b = 0; b < model().buffer_count; ++b) {
    if (is_pick(model(), b) || !lies_on_items(model(), b)) continue;
    const std::size_t length = machine_.view().length(b);
    if (reals(b).size() < length) resize(b, length + length / 4);  // some more, so that it is rarely necessary
  }
}

bool Engine::is_partial(std::int64_t buffer) const {
  return loader_ ? lies_on_items(model(), buffer) : window_ && window_->holds(buffer);
}

std::int64_t Engine::items() const {
  const StepRow* const stage = machine::batch_stage(model());
  return stage ? machine_.whole().extent(stage->items) : 1;
}

std::vector<std::int64_t> Engine::state_buffers() const {
  std::vector<std::int64_t> out;
  for (std::int64_t b = 0; b < model().buffer_count; ++b) {
    const Role role = model().buffers[b].role;
    if (loader_ && is_partial(b)) continue;
    if (role == Role::factor || role == Role::statistic) out.push_back(b);
  }
  return out;
}

std::int32_t Engine::elbo(Elbo& out) const {
  // Status and ELBO are recorded together, as one answer of the engine.
  struct Learnt {
    std::int32_t status;
    Elbo elbo;
  };
  const Learnt learnt = recorded([&] {
    Learnt l{0, out};
    l.status = machine::elbo(machine_, l.elbo);
    const bool lost = lost_to_cancellation(l.elbo) > kMostCancelled * (1 + std::abs(l.elbo.value));
    if (l.status == 0 && (lost || l.elbo.value > largest_elbo_)) l.status = kLostDigits;
    return l;
  });
  out = learnt.elbo;
  return learnt.status;
}

void Engine::store_items(std::int64_t count) const {
  const machine::Extent items = machine::batch_stage(model())->items;
  saved_items_ = count;
  stored_sizes_[static_cast<std::size_t>(-(items + 1))] = count > 0 ? count : extent(items);
}

std::span<double> Engine::saved_part(std::int64_t b) const {
  const std::span<double> all = reals(b);
  const machine::BufferRow& row = model().buffers[b];
  const bool by_item =
      saved_items_ > 0 && row.axes > 0 && model().axes[row.first_axis] == machine::batch_stage(model())->items;
  if (!by_item) return all;
  const auto n = static_cast<std::size_t>(items());
  return all.first(all.size() / n * static_cast<std::size_t>(saved_items_));
}

Arrays Engine::save(Arrays spare) const {
  const std::vector<std::int64_t> buffers = state_buffers();
  spare.resize(buffers.size());
  auto to = spare.begin();
  for (const std::int64_t b : buffers) {
    const std::span<const double> x = saved_part(b);
    to++->assign(x.begin(), x.end());
  }
  return spare;
}

void Engine::drop(Snapshot& saved) const {
  // Every snapshot is made as arrays that are not constant.
  if (saved.use_count() == 1) spare_ = std::move(*std::const_pointer_cast<Arrays>(saved));
  saved.reset();
}

void Engine::revert(Snapshot& saved) const {
  load(saved);
  drop(saved);
}

void Engine::load(const Arrays& saved) const {
  const std::vector<std::int64_t> buffers = state_buffers();
  const auto fits = [&](const std::vector<double>& x, std::int64_t b) { return x.size() == saved_part(b).size(); };
  if (!std::ranges::equal(saved, buffers, fits)) throw ReplayMismatch();  // the snapshot is of a checkpoint
  auto from = saved.begin();
  for (const std::int64_t b : buffers)
    std::ranges::copy(*from++, saved_part(b).begin());
  invalidate_parts();
  invalidate_sums();
  workers_->scatter();
}

void Engine::load(const Snapshot& saved) const {
  if (!journal_ || !journal_->replays()) load(*saved);
}

std::vector<std::int64_t> Engine::global_buffers() const {
  std::vector<std::int64_t> out;
  for (const machine::ParameterRow& row : machine::parameters_of(model())) {
    if (!row.by_stage) out.push_back(row.buffer);
  }
  return out;
}

Parameters Engine::global_parameters(Arrays spare) const {
  std::size_t count = 0;
  for (const machine::ParameterRow& row : machine::parameters_of(model())) {
    if (row.by_stage) continue;
    const std::span<const double> x = reals(row.buffer);
    if (spare.size() == count) spare.emplace_back();
    spare[count++].assign(x.begin(), x.end());
  }
  spare.resize(count);
  return spare;
}

std::int32_t Engine::random_parameters(std::uint64_t seed, std::optional<StartKind> kind, Parameters& out) const {
  // A start would invalidate the sums of the parts, but q is restored afterwards.
  const bool valid = parts_->is_valid();
  const std::vector<std::vector<double>> q = save();
  set({});
  if (const std::int32_t status = restart(seed, kind)) return status;
  out = global_parameters();
  load(q);
  parts_->set_valid(valid);
  return 0;
}

void Engine::follow(Journal* journal) {
  journal_ = journal;
  if (journal_) journal_->arrived = [this](const std::string& memory) { restore(memory); };
}

std::string Engine::memory() const {
  gather();
  std::string out;
  Writer to(out);
  for (std::int64_t b = 0; b < model().buffer_count; ++b) {
    if (!outlives(model(), b) || (loader_ && is_partial(b))) continue;
    to(reals(b).size());
    to.raw(reals(b));
  }
  to(*parts_);
  return out;
}

void Engine::restore(const std::string& memory) {
  Reader from(memory);
  for (std::int64_t b = 0; b < model().buffer_count; ++b) {
    if (!outlives(model(), b) || (loader_ && is_partial(b))) continue;
    if (from.take<std::size_t>() != reals(b).size()) throw ReplayMismatch();
    from.raw(reals(b));
  }
  from(*parts_);
}

}  // namespace lehr
