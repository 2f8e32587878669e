// Converts built objects to Program and Fit, by the texts and names that the object stores beside its tables.
#include "compiler/library/object.h"

#include <cmath>
#include <cstring>

#include "compiler/instance/built.h"
#include "compiler/instance/members.h"
#include "compiler/library/c_options.h"
#include "compiler/model/walk.h"
#include "compiler/score/held_out.h"

namespace lehr {
namespace {

using machine::BuiltFrom;
using machine::Extent;
using machine::Model;
using machine::SizeRule;
using machine::View;

/// Returns the slot of a run-time extent.
std::size_t slot_of(Extent e) { return static_cast<std::size_t>(-(e + 1)); }

/// Returns a text from which the object was built.
const char* text_of(const Model& object, BuiltFrom part) { return object.built_from[static_cast<std::size_t>(part)]; }

/// Returns the extents of a buffer.
std::vector<std::int64_t> shape_of(const View& v, std::int64_t buffer) {
  const machine::BufferRow& row = v.model.buffers[buffer];
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < row.axes; ++k)
    out.push_back(v.extent(v.model.axes[row.first_axis + k]));
  return out;
}

/// Returns the size of each plate, by PlateId: constants of the code, and the sizes of the state.
std::vector<std::int64_t> plate_sizes(const Program::Impl& p, const Model& object, const embedded::State& state) {
  const model::Model& m = p.complete.model;
  std::vector<std::int64_t> out = bind_sizes(m, p.settings)->sizes;
  for (std::int64_t slot = 0; slot < object.size_count; ++slot) {
    const SizeRule rule = object.sizes[slot].rule;
    if (rule == SizeRule::longest || rule == SizeRule::one_more) continue;
    for (std::size_t k = 0; k < m.plates.size(); ++k)
      if (m.plates[k].name == object.size_names[slot]) out[k] = state.sizes[slot];
  }
  return out;
}

/// Appends the marginals of the members of joint variables.
void add_members(const model::Model& m, const std::vector<std::int64_t>& sizes, std::vector<NamedArray>& arrays) {
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (!model::is_joint(m.variables[k])) continue;
    std::vector<NamedArray> factor;
    for (const NamedArray& a : arrays)
      if (a.name.substr(0, a.name.rfind('.')) == m.variables[k].name) factor.push_back(a);
    if (!factor.empty())
      std::ranges::move(marginals(m, model::VariableId(k), factor, sizes), std::back_inserter(arrays));
  }
}

/// Returns the member at a position in the caller's struct of data, whose members have 8 bytes each.
template <class T>
T field(const embedded::DataSet* data, std::int64_t position) {
  T out;
  std::memcpy(&out, reinterpret_cast<const char*>(data) + 8 * position, sizeof out);
  return out;
}

}  // namespace

Result<Program> program_of(const Model& object) {
  const Result<nlohmann::json> json = parse_object(text_of(object, BuiltFrom::settings), "settings");
  if (!json) return json.error();
  const Result<CompileOptions> options = compile_options(*json);
  if (!options) return options.error();
  const Compilation made = compile(text_of(object, BuiltFrom::model), *options);
  if (!made) return Error{ExitCode::model, options->name, made.text, {}};
  Program::Impl impl = made.program->impl();
  // Built objects count elements from 0, whatever the model says.
  for (model::Model* m : {&impl.resolved, &impl.complete.model})
    for (model::Plate& plate : m->plates)
      plate.from = 0;
  impl.instance = [&object, settings = impl.settings](const Analysed& analysed, const BoundData& data,
                                                      const loops::LowerOptions& lower) {
    return instance_of_built(object, settings, analysed, data, lower);
  };
  return Program(std::make_shared<const Program::Impl>(std::move(impl)));
}

Fit fit_of(const Program& program, const Model& object, const embedded::State& state) {
  const Program::Impl& p = program.impl();
  const View v = embedded::view_of(object, state);
  auto out = std::make_shared<Fit::Impl>();
  for (std::int64_t k = 0; k < object.parameter_count; ++k) {
    const machine::ParameterRow& row = object.parameters[k];
    if (row.by_stage) continue;
    const std::span<const double> x = v.reals(row.buffer);
    out->global.push_back({object.parameter_names[k], shape_of(v, row.buffer), {x.begin(), x.end()}});
  }
  BoundData sizes = *bind_sizes(p.complete.model, p.settings);
  sizes.sizes = plate_sizes(p, object, state);
  add_members(p.complete.model, sizes.sizes, out->global);
  out->settings = fitted_settings(p.complete, sizes);
  return Fit(std::move(out));
}

bool ObjectData::is_nested(Extent e) const { return e < 0 && object_->sizes[slot_of(e)].rule == SizeRule::nested; }

embedded::Status ObjectData::read_sizes(const embedded::State& state, const embedded::DataSet* data) {
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < object_->size_count; ++k) {
    const machine::SizeRow& row = object_->sizes[k];
    slots_.push_back(row.rule == SizeRule::fixed     ? state.capacity[k]
                     : row.rule == SizeRule::longest ? embedded::kLargest
                                                     : -1);
    if (row.rule != SizeRule::items) continue;
    slots_.back() = field<std::int64_t>(data, at++);
    if (slots_.back() < 1 || slots_.back() < row.least || slots_.back() > embedded::kLargest) return embedded::kSize;
  }
  for (std::int64_t k = 0; k < object_->array_count; ++k) {
    auto* const array = const_cast<void*>(field<const void*>(data, at++));
    if (!array && object_->arrays[k].domain == machine::Domain::offsets) return embedded::kNull;
    if (reinterpret_cast<std::uintptr_t>(array) % 8 != 0) return embedded::kData;
    table_[static_cast<std::size_t>(object_->arrays[k].buffer)] = array;
  }
  std::vector<std::int64_t> capacity(slots_.size(), embedded::kLargest);
  embedded::State limits{};
  limits.next_sizes = slots_.data();
  limits.capacity = capacity.data();
  return embedded::derive_sizes(view(), limits);
}

embedded::Status ObjectData::read(const Model& object, const embedded::State& state, const embedded::DataSet* data) {
  object_ = &object;
  table_.assign(static_cast<std::size_t>(object.buffer_count), nullptr);
  if (const embedded::Status status = read_sizes(state, data)) return status;
  shown_.assign(slots_.size(), false);
  for (std::int64_t k = 0; k < object.array_count; ++k) {
    const machine::ArrayRow& row = object.arrays[k];
    const bool given = table_[static_cast<std::size_t>(row.buffer)] && row.buffer != object.item_inverse;
    if (given && row.domain != machine::Domain::offsets) add(k);
  }
  add_lengths();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    if (object.sizes[slot].rule == SizeRule::items && !shown_[slot]) sizes_[object.size_names[slot]] = slots_[slot];
  return embedded::kOk;
}

/// One value for each element of a nested plate becomes a ragged array, if its parent is not nested itself. Other
/// arrays over nested plates stay joined end to end.
void ObjectData::add(std::int64_t array) {
  const machine::ArrayRow& row = object_->arrays[array];
  const machine::BufferRow& buffer = object_->buffers[row.buffer];
  const Extent* const axes = object_->axes + buffer.first_axis;
  const std::string name = object_->array_names[array];
  DataView::Values values = std::span<const double>(view().reals(row.buffer));
  if (buffer.integers) {
    std::vector<double>& x = converted_.emplace_back();
    for (const std::int64_t value : view().integers(row.buffer))
      x.push_back(value == -1 ? std::nan("") : static_cast<double>(value));
    values = std::span<const double>(x);
  }
  const bool is_ragged = buffer.axes == 1 && is_nested(axes[0]);
  const std::int64_t offsets = is_ragged ? object_->sizes[slot_of(axes[0])].offsets : -1;
  if (is_ragged && !is_nested(object_->arrays[offsets].rows)) {
    const Extent parent = object_->arrays[offsets].rows;
    const std::span<const std::int64_t> from = view().integers(object_->arrays[offsets].buffer);
    views_.push_back(ragged(name, values, {from.begin(), from.end()}));
    shown_[slot_of(axes[0])] = true;
    if (parent < 0) shown_[slot_of(parent)] = true;
    return;
  }
  views_.push_back(lehr::view(name, values, shape_of(view(), row.buffer)));
  for (std::int64_t k = 0; k < buffer.axes; ++k)
    if (axes[k] < 0 && !is_nested(axes[k])) shown_[slot_of(axes[k])] = true;
}

void ObjectData::add_lengths() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (object_->sizes[slot].rule != SizeRule::nested || shown_[slot]) continue;
    const machine::ArrayRow& offsets = object_->arrays[object_->sizes[slot].offsets];
    const std::span<const std::int64_t> from = view().integers(offsets.buffer);
    std::vector<double>& lengths = converted_.emplace_back();
    for (std::size_t row = 1; row < from.size(); ++row)
      lengths.push_back(static_cast<double>(from[row] - from[row - 1]));
    views_.push_back(lehr::view(object_->size_names[slot], std::span<const double>(lengths)));
    if (offsets.rows < 0) shown_[slot_of(offsets.rows)] = true;
  }
}

}  // namespace lehr
