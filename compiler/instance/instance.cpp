// From a lowered program and bound data to an engine, and from the engine's buffers to arrays with names.
//
// Every array of the posterior is a ParameterSlot of the program's interface, which names its buffer, variable and
// parameter. Joint variables are translated to their members on the way out and back on the way in (members.h).
// Reference values are added and subtracted at the same places.
#include "compiler/instance/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "compiler/binding/matrix_axes.h"
#include "compiler/evaluate/footprint.h"
#include "compiler/instance/failed_element.h"
#include "compiler/instance/members.h"
#include "compiler/machine/minibatch.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "runtime/inference/cavi.h"
#include "runtime/machine/random.h"
#include "runtime/parallel/journal.h"
#include "runtime/rng.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using loops::ParameterSlot;

/// Returns the position of a buffer in the program, by which the engine knows it.
std::int64_t position(loops::BufferId b) { return static_cast<std::int64_t>(b.index()); }

/// Returns the options with functions that form the items' factors from the global ones, which every start needs.
loops::LowerOptions with_new_items(loops::LowerOptions options) {
  options.new_items = true;
  return options;
}

/// Returns an error if code that is made for the chosen processor cannot run here.
std::optional<Error> cannot_run(const CodeSource& code) {
  const auto* const backend = std::get_if<Backend>(&code);
  if (!backend || *backend == Backend::interpreter) return std::nullopt;
  const std::optional<native::Refusal> no = native::refusal_of_processor();
  return no ? std::optional(Error{ExitCode::usage, "LEHR_CPU", no->text, {no->note}}) : std::nullopt;
}

}  // namespace

struct Instance::Running {
  /// Makes the machine's tables and the engine, in the order of the fields. Throws OutOfMemory.
  Running(const Tables& tables, const CompiledProgram& program, const std::vector<std::int64_t>& sizes,
          std::int64_t window, LoaderFunctions supplied)
      : names(pointers_to(tables.component_names)),
        model(completed(model_of(tables), program.functions())),
        engine(model, sizes, window, program.functions().code(), std::move(supplied)) {}

  /// Returns a C string for each text; the texts must outlive them.
  static std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<const char*> out;
    for (const std::string& t : texts)
      out.push_back(t.c_str());
    return out;
  }

  /// Returns the tables with the addresses of the functions and the names of components.
  machine::Model completed(machine::Model m, const Functions& functions) const {
    m.functions = functions.addresses();
    m.component_names = names.data();
    return m;
  }

  std::vector<const char*> names;  // the names of components
  machine::Model model;            // the tables, which point to them and to the functions
  Engine engine;                   // the memory, and the sweep over it
};

std::unique_ptr<Instance::Running> Instance::run(const Tables& tables, const CompiledProgram& program,
                                                 const std::vector<std::int64_t>& sizes, std::int64_t window,
                                                 LoaderFunctions supplied) {
  try {
    return std::make_unique<Running>(tables, program, sizes, window, std::move(supplied));
  } catch (OutOfMemory& e) {
    // The engine knows lengths alone; the message needs the names.
    for (const loops::Buffer& b : program.lowered().program.buffers)
      e.names.push_back(b.name);
    throw;
  }
}

Result<std::unique_ptr<Instance>> Instance::make(const Analysed& analysed, const BoundData& data,
                                                 const loops::LowerOptions& options, Backend backend,
                                                 std::int64_t window, ItemSource source,
                                                 const loops::PassOptions& passes) {
  loops::Lowered lowered = generate(analysed, data, with_new_items(options), passes);
  if (source.read) {
    if (const auto why = needs_all_items(analysed.model, analysed.schedule, lowered, source.plate))
      return Error{
          ExitCode::model, "", "the data cannot be read in pieces: " + *why, {"leave out " + option("stream")}};
  }
  return make(analysed, data, std::move(lowered), backend, window, std::move(source));
}

Result<std::unique_ptr<Instance>> Instance::make(const Analysed& analysed, const BoundData& data,
                                                 loops::Lowered lowered, const CodeSource& code, std::int64_t window,
                                                 ItemSource source) {
  if (std::optional<Error> e = cannot_run(code)) return *e;
  return make(analysed, data, std::make_shared<const CompiledProgram>(std::move(lowered), code), window,
              std::move(source));
}

Result<std::unique_ptr<Instance>> Instance::make(const Analysed& analysed, const BoundData& data,
                                                 std::shared_ptr<const CompiledProgram> program, std::int64_t window,
                                                 ItemSource source) {
  std::vector<SizedArray> arrays;  // what does not fit into memory
  try {
    auto out = std::make_unique<Instance>(analysed, data, std::move(program), window, std::move(source));
    if (std::optional<Error> e = out->uncovered_pair(data)) return *e;
    return out;
  } catch (const OutOfMemory& e) {
    for (std::size_t b = 0; b < e.lengths.size(); ++b)
      arrays.push_back({e.names[b], e.lengths[b]});
  }
  return too_large(std::move(arrays)).value();
}

Result<std::shared_ptr<const CompiledProgram>> Instance::compile(const Analysed& analysed, const BoundData& data,
                                                                 const loops::LowerOptions& options, Backend backend,
                                                                 const loops::PassOptions& passes) {
  if (std::optional<Error> e = cannot_run(backend)) return *e;
  return std::make_shared<const CompiledProgram>(generate(analysed, data, with_new_items(options), passes), backend);
}

Instance::Instance(const Analysed& analysed, const BoundData& data, const loops::LowerOptions& options, Backend backend,
                   std::int64_t window, const loops::PassOptions& passes)
    : Instance(
          analysed, data,
          std::make_shared<const CompiledProgram>(generate(analysed, data, with_new_items(options), passes), backend),
          window) {}

Instance::Instance(const Analysed& analysed, const BoundData& data, std::shared_ptr<const CompiledProgram> program,
                   std::int64_t window, ItemSource source)
    : model_(analysed.model),
      schedule_(analysed.schedule),
      plate_sizes_(data.sizes),
      source_(std::move(source)),
      program_(std::move(program)),
      sizes_(sizes_for(model_, data, program_->lowered())),
      tables_(program_->tables(model_, schedule_, sizes_)),
      lowered_(program_->lowered()),
      running_(run(*tables_, *program_, sizes_, window, supplied())) {
  // Statuses are described in the words of the model.
  engine().describe = [this](std::int32_t status) {
    if (status == kLostDigits) return std::string("parts of the ELBO are huge and cancel: its digits are lost");
    const std::string* const text = describe_status(*tables_, status);
    if (!text) throw ReplayMismatch();  // a status that was read from a checkpoint
    const auto block = static_cast<std::size_t>(status - loops::kFailBlock);
    if (block >= schedule_.conditionals.blocks.size()) return *text;
    const conditionals::Block& b = schedule_.conditionals.blocks[block];
    const std::string element = b.factor ? failed_element(model_, b.variable, *b.factor, posterior(true)) : "";
    return element.empty() ? *text : fmt::format("{}: {}{}", *text, model_[b.variable].name, element);
  };
  copy_patterns();
  copy_data(data);
}

Instance::~Instance() = default;

std::vector<StepTime> Instance::times() const { return step_times(model_, schedule_, lowered_, program_->functions()); }

const std::string& Instance::name_of(std::int64_t buffer) const {
  return lowered_.program[loops::BufferId(static_cast<std::size_t>(buffer))].name;
}

Engine& Instance::engine() { return running_->engine; }
const Engine& Instance::engine() const { return running_->engine; }

std::vector<std::int64_t> Instance::sizes_at(const std::vector<std::int64_t>& plates) const {
  using machine::SizeRule;
  std::vector<std::int64_t> out = sizes_;
  // Plates of items and plates nested in them have new sizes; row offsets have one entry more.
  for (std::size_t slot = 0; slot < out.size(); ++slot) {
    const SizeRule rule = tables_->sizes[slot].rule;
    if (rule == SizeRule::items || rule == SizeRule::nested) out[slot] = plates[tables_->size_plates[slot].index()];
  }
  for (std::size_t slot = 0; slot < out.size(); ++slot) {
    const machine::SizeRow& row = tables_->sizes[slot];
    if (row.rule == SizeRule::one_more && row.base < 0) out[slot] = out[static_cast<std::size_t>(-(row.base + 1))] + 1;
  }
  return out;
}

LoaderFunctions Instance::supplied() {
  if (!source_.read) return {};
  return {source_.items,
          [this](std::span<const ItemRange> runs) {
            // These items are in memory already.
            const auto same = [](ItemRange a, ItemRange b) { return a.begin == b.begin && a.end == b.end; };
            if (!runs.empty() && std::ranges::equal(runs, loaded_, same)) return;
            loaded_.assign(runs.begin(), runs.end());
            if (runs.empty()) {
              // No items: the plates of the items and all that is nested in them have size 0.
              std::vector<std::int64_t> none = plate_sizes_;
              for (std::size_t k = 0; k < none.size(); ++k) {
                model::PlateId at = model_.plates[k].set;
                while (model_[at].parent)
                  at = model_[*model_[at].parent].set;
                if (at == source_.plate) none[k] = 0;
              }
              engine().resize_items(sizes_at(none));
              return;
            }
            const BoundData part = source_.read(runs);
            engine().resize_items(sizes_at(part.sizes));
            copy_data(part);
          },
          [this](std::int64_t slot, std::int64_t item) {
            return source_.row(tables_->size_plates[static_cast<std::size_t>(slot)], item);
          }};
}

void Instance::copy_data(const BoundData& data) {
  const auto copy = [&](loops::BufferId b, const std::vector<double>& values) {
    if (!b.valid() || values.empty()) return;
    if (lowered_.program[b].element == loops::Type::i64) {
      const auto to = engine().integers(position(b));
      for (std::size_t i = 0; i < values.size(); ++i)
        // A missing category or count is -1 in the code.
        to[i] = std::isnan(values[i]) ? -1 : static_cast<std::int64_t>(values[i]);
    } else {
      std::ranges::copy(values, engine().reals(position(b)).begin());
    }
  };
  for (std::size_t k = 0; k < model_.givens.size(); ++k)
    copy(lowered_.data.givens[k], data.givens[k].values);
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    const model::VariableId v(k);
    if (!has_data(model_[v])) continue;
    copy(lowered_.data.observed[k],
         model::is_joint(model_[v]) ? observed_values(model_, v, data) : data.observed[k].values);
  }
  for (std::size_t k = 0; k < model_.plates.size(); ++k) {
    const loops::BufferId b = lowered_.data.offsets[k];
    if (!b.valid() || model_.plates[k].set != model::PlateId(k)) continue;
    // Row offsets of out-of-core items are there only while items are in memory.
    if (!engine().is_partial(position(b)) || !loaded_.empty())
      std::ranges::copy(data.offsets[k], engine().integers(position(b)).begin());
  }
}

std::optional<Error> Instance::asymmetric_matrix() const {
  for (model::GivenId id : lowered_.positive_definite) {
    const model::Given& g = model_[id];
    const auto n = static_cast<std::size_t>(plate_sizes_[model_[model::matrix_axes(g).side].set.index()]);
    const std::span<double> x = engine().reals(position(lowered_.data.givens[id.index()]));
    for (std::size_t i = 0; n > 0 && i < x.size(); ++i) {
      // The entry [row, column] is compared with [column, row] of the same matrix.
      const std::size_t matrix = i / (n * n) * n * n, row = i / n % n, column = i % n;
      const double transposed = x[matrix + column * n + row];
      if (std::abs(x[i] - transposed) <= 1e-9 * (std::abs(x[i]) + std::abs(transposed))) continue;
      return Error{ExitCode::data,
                   option("data"),
                   fmt::format("the matrix '{}' is not symmetric: its entries [{}, {}] and [{}, {}] are {} and {}",
                               g.name, row, column, column, row, x[i], transposed),
                   {"a precision, covariance, scale or rate matrix must be symmetric positive definite"}};
    }
  }
  return std::nullopt;
}

std::vector<std::int64_t> Instance::shape(const ParameterSlot& slot) const {
  std::vector<std::int64_t> out;
  for (loops::SizeId s : lowered_.program[slot.buffer].axes)
    out.push_back(engine().extent(tables_->extent(lowered_.program, s)));
  return out;
}

const std::vector<double>* Instance::reference(const ParameterSlot& slot) const {
  // Only locations move with the data; scales and probabilities do not.
  const auto moves = [&](const math::FactorParameter& p) {
    return p.name == slot.parameter &&
           (p.role == math::ParameterRole::location || p.role == math::ParameterRole::value);
  };
  const auto& parameters = schedule_.conditionals[slot.block].factor->parameters;
  return std::ranges::any_of(parameters, moves) ? centring_offset_of(references_, slot.variable) : nullptr;
}

void Instance::set_offsets(CentringOffsets references) {
  references_ = std::move(references);
  if (references_.empty()) return;
  references_.resize(model_.variables.size());
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    const model::Variable& v = model_.variables[k];
    if (!is_joint(v) || (v.support != math::Support::vector && v.support != math::Support::sparse)) continue;
    std::vector<double> all;
    const std::vector<MemberLayout> layouts = members_of(model_, model::VariableId(k), plate_sizes_);
    for (std::size_t j = 0; j < layouts.size(); ++j) {
      const auto* from = centring_offset_of(references_, v.auxiliary->members[j].variable);
      if (!from) continue;
      for (std::size_t i = 0; i < layouts[j].at.size(); ++i) {
        all.resize(std::max(all.size(), layouts[j].at[i] + 1), 0.0);
        all[layouts[j].at[i]] = (*from)[i % from->size()];
      }
    }
    if (all.empty()) continue;
    for (const MemberLayout& x : layouts)
      for (const std::size_t at : x.at)
        all.resize(std::max(all.size(), at + 1), 0.0);
    references_[k] = std::move(all);
  }
}

Error Instance::failed(std::int32_t status) const {
  const bool data = status >= loops::kFailData;
  return {data ? ExitCode::data : ExitCode::numerical, data ? option("data") : "", engine().describe(status), {}};
}

Result<bool> Instance::replace(const BoundData& data) {
  if (data.sizes != plate_sizes_) throw std::logic_error("data of other sizes than the code was generated for");
  if (std::optional<Error> e = uncovered_pair(data)) return *e;
  engine().invalidate_parts();
  copy_data(data);
  if (std::optional<Error> e = asymmetric_matrix()) return *e;
  if (const std::int32_t s = engine().prepare()) return failed(s);
  return true;
}

Result<bool> Instance::set_draw(const std::vector<std::vector<double>>& values) {
  engine().invalidate_parts();
  // Draws of members go through the factor of their joint variable.
  std::vector<NamedArray> of_members;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const model::Variable& v = model_.variables[k];
    if (!v.joint || values[k].empty()) continue;
    of_members.push_back({v.name + ".value", {std::ssize(values[k])}, values[k]});
    if (const auto* from = centring_offset_of(references_, model::VariableId(k)))
      add_centring_offset(of_members.back().values, *from, 1);
  }
  if (Result<bool> r = of_members.empty() ? true : set(of_members, ""); !r) return r.error();
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    const model::Variable& v = model_[slot.variable];
    const std::vector<double>& from = values[slot.variable.index()];
    if (v.auxiliary || from.empty()) continue;
    const std::span<double> x = engine().reals(position(slot.buffer));
    // The draw of a category is stored as an indicator for each value.
    const std::size_t width = v.value_plate ? static_cast<std::size_t>(shape(slot).back()) : 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = from[i / width];
      x[i] = !v.value_plate ? value : static_cast<double>(i % width) == value ? 1 : 0;
    }
  }
  if (const std::int32_t s = machine::call_on_stored(engine().machine(), engine().model().expectations))
    return failed(s);
  return true;
}

Result<Instance::Started> Instance::start(std::uint64_t seed, std::uint64_t restart, StartKind kind) {
  if (std::optional<Error> e = asymmetric_matrix()) return *e;
  if (const std::int32_t s = engine().prepare()) return failed(s);
  // The random numbers depend on seed and restart alone, so all methods begin at the same start.
  const StartResult started = start_with_fallback(engine(), kind, Rng(seed, restart));
  if (!started.kind) return failed(started.failed);
  set_restart(engine(), *started.kind);
  return Started{*started.kind, started.failed == 0 ? "" : engine().describe(started.failed)};
}

bool Instance::is_first_of_joint(const ParameterSlot& slot) const {
  const auto& v = model_[slot.variable].auxiliary;
  const auto& all = lowered_.interface.parameters;
  return v && v->kind == model::Auxiliary::Kind::joint &&
         std::ranges::find(all, slot.variable, &ParameterSlot::variable)->name == slot.name;
}

std::vector<NamedArray> Instance::factor_of(model::VariableId joint, LocationOrigin origin) const {
  std::vector<NamedArray> out;
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    if (slot.variable != joint) continue;
    const std::span<double> x = engine().reals(position(slot.buffer));
    out.push_back({slot.name, shape(slot), {x.begin(), x.end()}});
    if (const auto* from = origin == LocationOrigin::zero ? reference(slot) : nullptr)
      add_centring_offset(out.back().values, *from, 1);
  }
  return out;
}

Result<std::vector<NamedArray>> Instance::with_members_joined(std::vector<NamedArray> arrays,
                                                              const std::string& source) const {
  const auto variable_of = [&](const NamedArray& a) -> const model::Variable* {
    const auto v = std::ranges::find(model_.variables, a.name.substr(0, a.name.rfind('.')), &model::Variable::name);
    return v == model_.variables.end() ? nullptr : &*v;
  };
  // The arrays of members, by joint variable; `whole` are the variables that have arrays.
  std::map<model::VariableId, std::vector<NamedArray>> of_members;
  std::set<const model::Variable*> whole;
  for (const NamedArray& a : arrays) {
    const model::Variable* v = variable_of(a);
    whole.insert(v);
    if (v && v->joint) of_members[*v->joint].push_back(a);
  }
  std::erase_if(arrays, [&](const NamedArray& a) { return variable_of(a) && variable_of(a)->joint; });
  for (const auto& [joint, given] : of_members) {
    if (whole.contains(&model_[joint])) continue;
    std::vector<NamedArray> factor = factor_of(joint);
    const std::vector<NamedArray> expected = marginals(model_, joint, factor, plate_sizes_);
    for (const NamedArray& a : given) {
      const auto like = std::ranges::find(expected, a.name, &NamedArray::name);
      // Arrays of a posterior may start a sampler, and draws a posterior. The names then differ, and the lengths
      // decide.
      const auto same_variable = std::ranges::find_if(expected, [&](const NamedArray& k) {
        return k.name.substr(0, k.name.rfind('.')) == a.name.substr(0, a.name.rfind('.'));
      });
      const bool value =
          a.name.ends_with(".value") || (same_variable != expected.end() && same_variable->name.ends_with(".value"));
      const std::size_t wanted = like != expected.end()                     ? like->values.size()
                                 : value && same_variable != expected.end() ? same_variable->values.size()
                                                                            : 0;
      if (like == expected.end() && wanted > 0 && a.values.size() % wanted == 0) continue;
      if (a.values.size() == wanted) continue;
      const std::string problem = like == expected.end()
                                      ? "is not a parameter of the posterior of this model"
                                      : fmt::format("has {} numbers, the model needs {}", a.values.size(), wanted);
      return Error{ExitCode::data, source, fmt::format("'{}' {}", printable(a.name), problem), {}};
    }
    set_members(model_, joint, given, plate_sizes_, factor);
    std::ranges::move(factor, std::back_inserter(arrays));
  }
  return arrays;
}

Result<bool> Instance::set(const std::vector<NamedArray>& given, const std::string& source) {
  bool of_items = false;
  engine().invalidate_parts();
  Result<std::vector<NamedArray>> joined = with_members_joined(given, source);
  if (joined) joined = with_own_entries(std::move(*joined), source);
  if (!joined) return joined.error();
  for (const NamedArray& a : *joined) {
    const ParameterSlot* slot = nullptr;
    std::vector<std::string> names;
    for (const ParameterSlot& s : lowered_.interface.parameters) {
      names.push_back(s.name);
      if (s.name == a.name) slot = &s;
    }
    if (!slot) {
      if (starts_nothing(model_, a.name, given)) continue;
      return Error{ExitCode::data,
                   source,
                   fmt::format("'{}' is not a parameter of the posterior of this model", printable(a.name)),
                   {fmt::format("parameters: {}", fmt::join(names, ", "))}};
    }
    const std::span<double> x = engine().reals(position(slot->buffer));
    const bool elsewhere = engine().is_partial(position(slot->buffer));
    if (engine().machine().whole().length(position(slot->buffer)) != a.values.size()) {
      return Error{ExitCode::data,
                   source,
                   fmt::format("'{}' has shape ({}), the model needs ({})", a.name, fmt::join(a.shape, ", "),
                               fmt::join(shape(*slot), ", ")),
                   {}};
    }
    of_items = of_items || (slot->local && !slot->fused);
    if (elsewhere) continue;
    std::copy(a.values.begin(), a.values.end(), x.begin());
    if (const auto* from = reference(*slot)) add_centring_offset(x, *from, -1);
  }
  const machine::Machine& m = engine().machine();
  // Expected statistics follow from the parameters (those of items remain, if none was set), and tangent points from
  // both.
  std::int32_t failed = machine::call_on_stored(m, of_items ? m.model->expectations : m.model->global_expectations);
  if (!failed) failed = machine::move_tangent_points(m);
  if (failed) return Error{ExitCode::data, source, engine().describe(failed), {}};
  return of_items;
}

std::vector<std::string> Instance::symmetric_components() const {
  constexpr double kAlike = 1e-3;  // relative; runs stop before they have converged fully
  // Whether a latent category has the elements of the plate as its values.
  const auto is_value = [&](model::PlateId p) {
    return std::any_of(model_.variables.begin(), model_.variables.end(), [&](const model::Variable& v) {
      return is_latent(v) && v.value_plate && model_[*v.value_plate].set == model_[p].set;
    });
  };
  std::map<std::string, bool> equal;  // by variable: all of its arrays
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    const model::Variable& v = model_[slot.variable];
    if (slot.local || slot.fused || v.axes.size() != 1 || !is_value(v.axes[0])) continue;
    const std::span<double> x = engine().reals(position(slot.buffer));
    const auto n = static_cast<std::size_t>(shape(slot)[0]);
    bool same = n > 1;
    // Each element of the first axis is compared with element 0.
    for (std::size_t i = 0; i < x.size() && same; ++i)
      same = std::abs(x[i] - x[i % (x.size() / n)]) <= kAlike * std::abs(x[i]) + 1e-12;
    const bool before = equal.try_emplace(v.name, true).first->second;
    equal[v.name] = before && same;
  }
  // In a symmetric solution all variables are equal for all values. One alone may well be.
  std::vector<std::string> out;
  for (const auto& [name, same] : equal) {
    if (!same) return {};
    out.push_back(name);
  }
  return out;
}

namespace {

/// Returns the array that receives the next draw of a variable, with one draw more in its shape. Throws ReplayMismatch
/// if the draws of a checkpoint belong to another model.
NamedArray& next_draw(std::vector<NamedArray>& draws, std::size_t& at, const std::string& name, std::size_t draw_size) {
  if (at >= draws.size() || draws[at].name != name || draws[at].shape.empty()) throw ReplayMismatch();
  NamedArray& out = draws[at++];
  if (out.values.size() != static_cast<std::size_t>(out.shape[0]) * draw_size) throw ReplayMismatch();
  ++out.shape[0];
  return out;
}

}  // namespace

void Instance::append_draw(std::vector<NamedArray>& draws, bool locals, LocationOrigin origin) const {
  std::size_t at = 0;
  const bool first = draws.empty();
  // Copies of a category are drawn as counts; the key chooses one copy at random for the output.
  const std::int64_t* const key = engine().machine().view().random_key();
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    const model::Variable& v = model_[slot.variable];
    if (is_first_of_joint(slot) && (!slot.local || locals)) {
      for (NamedArray& member : marginals(model_, slot.variable, factor_of(slot.variable, origin), plate_sizes_)) {
        const std::string name = member.name.substr(0, member.name.rfind('.'));
        const auto of = std::ranges::find(model_.variables, name, &model::Variable::name);
        if (first) {
          member.shape.insert(member.shape.begin(), 0);
          draws.push_back({name, member.shape, {}, is_discrete(of->support)});
        }
        NamedArray& to = next_draw(draws, at, name, member.values.size());
        to.values.insert(to.values.end(), member.values.begin(), member.values.end());
      }
    }
    if (v.auxiliary || (slot.local && !locals)) continue;
    const std::span<double> x = engine().reals(position(slot.buffer));
    std::vector<std::int64_t> extents = shape(slot);
    // A draw of a category is stored as an indicator for each value and written as the number of the value.
    const std::size_t values = v.value_plate ? static_cast<std::size_t>(extents.back()) : 1;
    if (v.value_plate) extents.pop_back();
    if (first) {
      extents.insert(extents.begin(), 0);
      draws.push_back({v.name, std::move(extents), {}, is_discrete(v.support)});
    }
    NamedArray& to = next_draw(draws, at, v.name, x.size() / values);
    for (std::size_t i = 0; i < x.size(); i += values) {
      const auto element = static_cast<std::int64_t>(i / values);
      to.values.push_back(values == 1 ? x[i]
                                      : static_cast<double>(machine::value_of_copy(x.subspan(i, values), key,
                                                                                   position(slot.buffer), element)));
    }
    const auto* from = origin == LocationOrigin::zero ? reference(slot) : nullptr;
    if (from) add_centring_offset(std::span(to.values).last(x.size()), *from, 1);
  }
}

std::vector<NamedArray> Instance::posterior(bool locals, LocationOrigin origin) const {
  if (locals) engine().gather();
  std::vector<NamedArray> out;
  for (const ParameterSlot& slot : lowered_.interface.parameters) {
    // Factors of items that a window or file holds are not in memory as a whole.
    if (slot.local && (!locals || engine().is_partial(position(slot.buffer)))) continue;
    // The sources of counts follow from the other factors.
    if (model::is_source(model_[slot.variable])) continue;
    const std::span<double> x = engine().reals(position(slot.buffer));
    out.push_back({slot.name, shape(slot), {x.begin(), x.end()}, false});
    if (const auto* from = origin == LocationOrigin::zero ? reference(slot) : nullptr)
      add_centring_offset(out.back().values, *from, 1);
    if (!is_first_of_joint(slot)) continue;
    std::ranges::move(coordinates_of_entries(slot.variable), std::back_inserter(out));
    std::ranges::move(marginals(model_, slot.variable, factor_of(slot.variable, origin), plate_sizes_),
                      std::back_inserter(out));
  }
  return out;
}

Result<std::unique_ptr<Instance>> compiled_instance(const Analysed& analysed, const BoundData& data,
                                                    const loops::LowerOptions& options) {
  return Instance::make(analysed, data, options, Backend::native, 0);
}

MakeInstance compiled_instances(loops::PassOptions passes) {
  return [passes = std::move(passes)](const Analysed& analysed, const BoundData& data,
                                      const loops::LowerOptions& options) {
    return Instance::make(analysed, data, options, Backend::native, 0, {}, passes);
  };
}

}  // namespace lehr
