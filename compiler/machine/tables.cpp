// Translates a lowered model into the tables of runtime/machine/model.h. Functions and buffers are referred to by
// position, -1 for none.
#include "compiler/machine/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compiler/conditionals/shared_terms.h"
#include "compiler/loops/facts.h"
#include "compiler/machine/component_rows.h"
#include "compiler/machine/enumerations.h"
#include "compiler/machine/minibatch.h"
#include "compiler/machine/subjects.h"
#include "compiler/machine/workload.h"
#include "compiler/model/expectations.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/schedule/moments.h"

namespace lehr {
namespace {

using machine::Domain;
using machine::Extent;
using machine::Parameter;
using machine::Role;
using machine::SizeRule;

/// Limit of an estimated number of operations, so that it fits into an integer.
constexpr double kMostOperations = 1e15;

/// Returns the message for a block whose factor becomes improper.
std::string improper_factor(const model::Model& m, const schedule::Schedule& s, conditionals::BlockId b) {
  const conditionals::Block& block = s.conditionals[b];
  const std::string& name = m[block.variable].name;
  if (block.point) {
    const model::Distribution& prior = model::as_written(m[m[block.variable].statement].main);
    return fmt::format(
        "'{}' has no mode inside its support: a point needs {} with shape, concentration or a and b of "
        "at least 1, and data that bound it",
        name, prior.family->name);
  }
  const auto& origins = s.conditionals.density.origins;
  const bool improper = std::any_of(origins.begin(), origins.end(), [&](const density::Origin& o) {
    return o.improper && o.statement == m[block.variable].statement;
  });
  return fmt::format(
      "the posterior of '{}' is not a proper {} ({})", name, block.family->name,
      improper ? "its prior has no normaliser, so that each element needs enough data" : "a parameter left its domain");
}

/// Writes the tables of one model.
class Writer {
 public:
  Writer(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
         const std::vector<std::int64_t>& sizes)
      : m_(m), s_(s), l_(l), sizes_(sizes), p_(l.program) {}

  /// Writes and returns all tables.
  Tables run() {
    write_sizes();
    write_buffers();
    write_arrays();
    raise_least_sizes();
    write_steps();
    write_phases();
    write_parameters();
    write_component_tables(m_, s_, l_, subjects_, t_);
    for (std::size_t k = 0; k < s_.invariances.size(); ++k)
      write_invariance(s_.invariances[k], l_.interface.invariances[k]);
    for (std::size_t k = 0; k < s_.shifts.size(); ++k)
      write_shift(s_.shifts[k], l_.interface.shifts[k]);
    for (std::size_t k = 0; k < s_.conditionals.blocks.size(); ++k)
      t_.failures.push_back(improper_factor(m_, s_, conditionals::BlockId(k)));
    for (std::size_t k = 0; k < m_.givens.size(); ++k)
      t_.failures.push_back(fmt::format("the data matrix '{}' is not positive definite", m_.givens[k].name));
    for (const model::Variable& v : m_.variables) {
      const bool matrix = v.observed && v.support == math::Support::spd_matrix;
      t_.failures.push_back(matrix ? fmt::format("the observed matrix '{}' is not positive definite", v.name) : "");
    }
    const loops::Interface& io = l_.interface;
    const auto function = [](std::size_t f) { return static_cast<std::int64_t>(f); };
    t_.model.layout = machine::kLayout;
    t_.model.prepare = function(io.prepare);
    t_.model.initialise = function(io.initialise);
    t_.model.initialise_local = io.initialise_local ? function(*io.initialise_local) : -1;
    t_.model.expectations = function(io.expectations);
    t_.model.global_expectations = function(io.global_expectations);
    t_.model.elbo = function(io.elbo);
    t_.model.elbo_buffer = index(io.elbo_value);
    t_.model.weights_buffer = index(io.weights);
    t_.model.item_energies = t_.model.item_inverse = t_.model.item_outer = -1;
    t_.model.states = io.states ? function(*io.states) : -1;
    t_.model.couplings = t_.model.open_envelope = t_.model.undecided = t_.model.first_envelope = -1;
    if (const auto& x = io.envelope) {
      t_.model.couplings = function(x->couplings);
      t_.model.open_envelope = function(x->open);
      t_.model.undecided = function(x->undecided);
      t_.model.first_envelope = function(x->visits.at(0));
    }
    t_.model.random_key = io.random_key.valid() ? index(io.random_key) : -1;
    if (const auto& x = io.item_energies) {
      t_.model.item_energies = index(x->energies);
      if (x->inverse.valid()) t_.model.item_inverse = index(x->inverse);
      if (x->outer) t_.model.item_outer = function(*x->outer);
    }
    t_.model.block_count = static_cast<std::int64_t>(s_.conditionals.blocks.size());
    t_.model.function_count = static_cast<std::int64_t>(p_.functions.size());
    return std::move(t_);
  }

 private:
  /// Returns the number of a buffer.
  static std::int64_t index(loops::BufferId b) { return static_cast<std::int64_t>(b.index()); }
  Extent extent(loops::SizeId s) const { return t_.extent(p_, s); }
  Extent extent(model::PlateId plate) const { return extent(l_.plate_sizes[m_[plate].set.index()]); }
  /// Returns true if the plate is a set of its own; an alias refers to another plate.
  bool is_set(std::size_t plate) const { return m_.plates[plate].set == model::PlateId(plate); }

  /// Writes a row for each run-time size, with the rule that determines it.
  void write_sizes() {
    t_.sizes.resize(sizes_.size(), {SizeRule::fixed, 0, -1, 1});
    t_.size_plates.resize(t_.sizes.size());
    for (std::size_t k = 0; k < m_.plates.size(); ++k) {
      const model::PlateId plate(k);
      if (!is_set(k)) continue;
      const loops::SizeId size = l_.plate_sizes[k];
      const loops::BufferId offsets = l_.data.offsets[k];
      if (offsets.valid()) {
        const auto offsets_slot = slot(p_[offsets].axes[0]);
        t_.sizes[offsets_slot] = {SizeRule::one_more, extent(*m_[plate].parent), -1, 0};
        t_.size_plates[offsets_slot] = plate;
      }
      if (p_[size].constant >= 0) continue;
      const std::size_t at = slot(size);
      t_.size_plates[at] = plate;
      if (m_[plate].parent) t_.sizes[at] = {SizeRule::nested, 0, -1, 0};
      else if (is_item_plate(m_, plate)) t_.sizes[at].rule = SizeRule::items;
      if (const loops::SizeId longest = l_.longest[k]; longest.valid()) {
        t_.sizes[at].base = extent(longest);
        t_.sizes[slot(longest)] = {SizeRule::longest, 0, -1, 1};
        t_.size_plates[slot(longest)] = plate;
      }
      for (const model::Plate& stick : m_.plates) {
        if (stick.stick && stick.set == plate && t_.sizes[at].rule == SizeRule::fixed)
          t_.sizes[at] = {SizeRule::one_more, extent(*stick.stick), -1, 1};
      }
    }
  }

  /// Returns the slot of a run-time size.
  std::size_t slot(loops::SizeId s) const { return static_cast<std::size_t>(p_[s].slot); }

  /// Returns true if the extent can differ between data sets.
  bool changes(Extent e) const {
    if (e >= 0) return false;
    const machine::SizeRow& row = t_.sizes[static_cast<std::size_t>(-(e + 1))];
    return row.rule == SizeRule::items || row.rule == SizeRule::nested ||
           (row.rule == SizeRule::one_more && changes(row.base));
  }

  /// Writes a row for each buffer of the program.
  void write_buffers() {
    for (const loops::Buffer& b : p_.buffers) {
      machine::BufferRow row{b.element == loops::Type::i64, role_of(b), static_cast<std::int64_t>(t_.axes.size()),
                             static_cast<std::int64_t>(b.axes.size()), 0};
      for (loops::SizeId s : b.axes) {
        t_.axes.push_back(extent(s));
        if (changes(t_.axes.back())) row.on_items = 1;
      }
      t_.buffers.push_back(row);
    }
  }

  /// Writes a row for an array of data.
  void add_array(const std::string& name, machine::ArrayRow row) {
    t_.buffers[static_cast<std::size_t>(row.buffer)].role = Role::data;
    t_.arrays.push_back(row);
    t_.array_names.push_back(name);
  }

  /// Writes rows for row offsets, inputs and observed variables.
  void write_arrays() {
    for (std::size_t k = 0; k < m_.plates.size(); ++k) {
      const loops::BufferId b = l_.data.offsets[k];
      if (!b.valid() || !is_set(k)) continue;
      const Extent size = extent(model::PlateId(k));
      if (size < 0)
        t_.sizes[static_cast<std::size_t>(-(size + 1))].offsets = static_cast<std::int64_t>(t_.arrays.size());
      add_array(m_.plates[k].name + "_offsets", {index(b), Domain::offsets, 0, size, 1, extent(*m_.plates[k].parent)});
    }
    for (std::size_t k = 0; k < m_.givens.size(); ++k) {
      const model::Given& g = m_.givens[k];
      const bool definite = std::find(l_.positive_definite.begin(), l_.positive_definite.end(), model::GivenId(k)) !=
                            l_.positive_definite.end();
      const bool inverse = l_.interface.item_energies && l_.interface.item_energies->inverse == l_.data.givens[k];
      machine::ArrayRow row{index(l_.data.givens[k]),
                            inverse ? Domain::positive : domain_of(g, definite),
                            0,
                            g.value_plate ? extent(*g.value_plate) : 0,
                            g.event.empty() ? 1 : extent(g.event.back()),
                            0};
      if (g.row) {
        row.rows = extent(*m_[m_[*g.value_plate].set].parent);
        row.offsets = index(l_.data.offsets[m_[*g.value_plate].set.index()]);
        if (g.row->by) row.row = index(l_.data.givens[g.row->by->index()]);
      }
      add_array(inverse ? "inverse_temperature" : g.name, row);
    }
    for (std::size_t k = 0; k < m_.variables.size(); ++k) {
      const model::Variable& v = m_.variables[k];
      if (!has_data(v)) continue;
      add_array(v.name, {index(l_.data.observed[k]), domain_of(v.support), may_be_missing(model::VariableId(k)),
                         v.value_plate ? extent(*v.value_plate) : 0, v.event.empty() ? 1 : extent(v.event.back()), 0});
    }
  }

  /// Returns how values of a variable may be missing: 1 for whole elements whose terms are guarded by presence,
  /// kMissingEntries for single entries of a variable that is latent there, 0 for none.
  std::int64_t may_be_missing(model::VariableId v) const {
    if (m_[v].clamped) return machine::kMissingEntries;
    const auto& terms = s_.conditionals.density.terms;
    return std::any_of(terms.begin(), terms.end(), [&](const density::Term& t) {
      return std::any_of(t.guards.begin(), t.guards.end(), [&](const density::Guard& g) { return g.present == v; });
    });
  }

  /// Raises the least size of plates that the model indexes by a constant, such as `x[3]`.
  void raise_least_sizes() {
    for (const model::Expr& e : m_.exprs) {
      const auto* given = std::get_if<model::GivenRef>(&e.node);
      const auto* variable = std::get_if<model::VariableRef>(&e.node);
      if (!given && !variable) continue;
      for (const model::Index& i : given ? given->indices : variable->indices) {
        const auto* constant = std::get_if<model::Index::Constant>(&i.form);
        const Extent size = constant ? extent(i.set) : 0;
        if (size >= 0) continue;
        std::int64_t& least = t_.sizes[static_cast<std::size_t>(-(size + 1))].least;
        least = std::max(least, constant->value + 1);
      }
    }
  }

  /// Returns true if the block is a chain of categories.
  bool is_category_chain(conditionals::BlockId b) const {
    const conditionals::Block& block = s_.conditionals[b];
    return block.chain && m_[block.variable].value_plate;
  }

  /// Returns the blocks in whose priors the points are that a start repeats: what it forms from data.
  std::vector<conditionals::BlockId> seeded() const {
    std::vector<conditionals::BlockId> out;
    for (const auto& step : l_.interface.steps) {
      if (const auto* stage = std::get_if<loops::StageFunctions>(&step))
        std::ranges::copy(stage->seeded, std::back_inserter(out));
    }
    return out;
  }

  /// Returns points outside the items that local bounds let move by small steps only, and such bounds. With `among`,
  /// the points must share a term with one of these blocks, and the bounds lie outside the items.
  std::vector<conditionals::BlockId> blocks_moved_by_bounds(
      const std::optional<std::vector<conditionals::BlockId>>& among) const {
    const conditionals::Conditionals& c = s_.conditionals;
    std::vector<conditionals::BlockId> points, bounds;
    for (std::size_t k = 0; k < c.blocks.size(); ++k) {
      const conditionals::BlockId b(k);
      const bool of_items = s_.stage_of[k].has_value();
      const bool bound = model::is_tangent_point(m_[c[b].variable]);
      if (bound && (!of_items || !among)) bounds.push_back(b);
      if (bound || of_items) continue;
      if (c[b].point && (!among || conditionals::share_a_term(c, b, *among))) points.push_back(b);
    }
    std::erase_if(points, [&](auto b) { return !conditionals::share_a_term(c, b, bounds); });
    std::erase_if(bounds, [&](auto b) { return !conditionals::share_a_term(c, b, points); });
    std::ranges::copy(bounds, std::back_inserter(points));
    return points;
  }

  /// Returns the number of a function, -1 for none.
  static std::int64_t position(const std::optional<std::size_t>& f) { return f ? static_cast<std::int64_t>(*f) : -1; }
  /// Returns the estimated operations of a function outside the items.
  std::int64_t outside(std::size_t function) const {
    return std::llround(std::min(operations_per_call(m_, l_, sizes_, function), kMostOperations));
  }

  /// Writes a row for each step of a sweep.
  void write_steps() {
    const std::optional<model::PlateId> batch = batch_plate(m_, l_);
    t_.model.batch_slot = -1;
    if (batch && supports_minibatches(m_, l_, *batch)) {
      t_.model.batch_slot = -(extent(*batch) + 1);
      for (loops::BufferId b : data_sums_over(m_, s_, l_, *batch))
        t_.summed.push_back(index(b));
    }
    const std::vector<conditionals::BlockId> by_steps = blocks_moved_by_bounds(std::nullopt),
                                             repeated = blocks_moved_by_bounds(seeded());
    for (const schedule::SweepEntry& entry : l_.interface.sweep) {
      machine::StepRow row{};
      row.refresh = entry.for_elbo ? machine::kForElbo : entry.refresh;
      row.tables = row.finalise = row.seed = row.sum = row.to_priors = row.expectations = row.data = -1;
      row.block = row.gradient = row.subject = -1;
      row.first_statistic = static_cast<std::int64_t>(t_.statistics.size());
      row.first_pick = static_cast<std::int64_t>(t_.picks.size());
      if (const auto* s = std::get_if<loops::StageFunctions>(&l_.interface.steps[entry.step])) {
        row.stage = row.local = 1;
        row.items = extent(s->item);
        row.subject = subjects_.of({s->item});
        row.batched = batch && m_[*batch].set == m_[s->item].set;
        row.moments = row.batched && schedule::depends_on_moments(m_, s_.conditionals, s->item);
        row.tables = static_cast<std::int64_t>(s->tables);
        row.update = entry.refresh ? position(s->refresh) : static_cast<std::int64_t>(s->update);
        row.finalise = position(s->finalise);
        if (!entry.refresh) {
          row.seed = position(s->seed);
          row.sum = position(s->sum);
          row.to_priors = position(s->initialise);
          row.expectations = position(s->expectations);
          row.data = position(s->data);
        }
        row.statistics = write_list(s->statistics);
        row.first_data_sum = static_cast<std::int64_t>(t_.statistics.size());
        row.data_sums = write_list(s->data_sums);
        const Workload work = workload_of(m_, l_, sizes_, *s);
        row.first_scratch = static_cast<std::int64_t>(t_.statistics.size());
        row.scratch = write_list(work.scratch);
        if (work.parallel_safe) row.operations = 1 + std::llround(std::min(work.operations, kMostOperations));
        if (!entry.refresh) row.outside = outside(s->tables) + (s->finalise ? outside(*s->finalise) : 0);
        for (std::size_t k = 0; k < s->picks.size(); ++k)
          t_.picks.push_back({index(s->picks[k]), extent(s->pick_plates[k]),
                              s->observed_picks[k].valid() ? index(s->observed_picks[k]) : -1});
        const auto& blocks = std::get<schedule::ItemStage>(s_.steps[entry.step]).blocks;
        row.seed_updates = !s->seeded.empty();
        const auto all = [&](bool (*is)(const model::Variable&)) {
          return std::ranges::all_of(blocks, [&](auto b) { return is(m_[s_.conditionals[b].variable]); });
        };
        row.tangent_points = all(model::has_expectation)    ? machine::kExpectations
                             : all(model::is_tangent_point) ? 1
                                                            : 0;
        row.chains = std::any_of(blocks.begin(), blocks.end(), [&](auto b) { return is_category_chain(b); });
      } else {
        const auto& u = std::get<loops::UpdateFunction>(l_.interface.steps[entry.step]);
        row.local = s_.local[u.block.index()];
        const bool plane = model::has_expectation(m_[s_.conditionals[u.block].variable]);
        row.tangent_points = plane ? machine::kExpectations : 0;
        row.seeded = is_category_chain(u.block);
        row.moves_gradually = std::ranges::find(by_steps, u.block) != by_steps.end();
        if (std::ranges::find(repeated, u.block) != repeated.end()) row.moves_gradually = machine::kRepeated;
        row.update = static_cast<std::int64_t>(u.function);
        row.outside = outside(u.function);
        row.block = static_cast<std::int64_t>(u.block.index());
        if (u.gradient.valid()) row.gradient = index(u.gradient);
      }
      row.picks = static_cast<std::int64_t>(t_.picks.size()) - row.first_pick;
      t_.steps.push_back(row);
    }
  }

  /// Writes the cached reductions and parallel regions that run before each function.
  void write_phases() {
    for (std::size_t f = 0; f < p_.functions.size(); ++f) {
      machine::PrerequisiteRow row{};
      row.of = static_cast<std::int64_t>(f);
      for (const loops::CachedSums& cached : p_.functions[f].cached) {
        row.function = static_cast<std::int64_t>(cached.function);
        row.valid = index(cached.valid_flag);
        t_.phases.push_back(row);
      }
      row.valid = -1;
      for (const loops::ParallelRegion& phase : p_.functions[f].regions) {
        row.function = static_cast<std::int64_t>(phase.function);
        const auto* size = std::get_if<loops::Extent>(&p_[phase.trip_count].node);
        row.trip_count = size ? extent(size->size) : std::get<loops::ConstI>(p_[phase.trip_count].node).value;
        row.first_sum = static_cast<std::int64_t>(t_.statistics.size());
        row.sums = phase.sums.valid() ? write_list({phase.sums}) : 0;
        row.first_scratch = static_cast<std::int64_t>(t_.statistics.size());
        row.scratch = write_list(loops::scratch_of(p_, phase));
        const double operations = operations_per_iteration(m_, l_, sizes_, phase);
        row.operations = 1 + std::llround(std::min(operations, kMostOperations));
        t_.phases.push_back(row);
      }
    }
  }

  /// Appends buffers to the list of lists and returns their number.
  std::int64_t write_list(const std::vector<loops::BufferId>& buffers) {
    for (loops::BufferId b : buffers)
      t_.statistics.push_back(index(b));
    return static_cast<std::int64_t>(buffers.size());
  }

  /// Returns the role of a posterior parameter in its family.
  math::ParameterRole parameter_role(const loops::ParameterSlot& slot) const {
    const auto& all = s_.conditionals[slot.block].factor->parameters;
    return std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == slot.parameter; })->role;
  }

  /// Returns true for a location and the precision that belongs to it.
  static bool are_partners(math::ParameterRole a, math::ParameterRole b) {
    using Of = math::ParameterRole;
    return (a == Of::location && b == Of::precision) || (a == Of::precision && b == Of::location);
  }

  /// Returns the number of the buffer of a parameter with the role, if the block's sweeps do not form it from the
  /// transformed variables anyway; -1: it has none.
  std::int64_t global_parameter(conditionals::BlockId b, math::ParameterRole role) const {
    if (s_.stage_of[b.index()] || s_.conditionals[b].chain) return -1;
    for (const loops::ParameterSlot& slot : l_.interface.parameters) {
      if (slot.block == b && parameter_role(slot) == role) return index(slot.buffer);
    }
    return -1;
  }

  /// Writes the rows of an invariance.
  void write_invariance(const schedule::Invariance& x, const loops::InvarianceFunction& f) {
    using Role = math::ParameterRole;
    const auto buffer = [](loops::BufferId b) { return b.valid() ? index(b) : -1; };
    machine::InvarianceRow row{x.plate.valid() ? extent(x.plate) : 1,
                               x.diagonal,
                               static_cast<std::int64_t>(f.function),
                               std::ssize(t_.transformed),
                               std::ssize(x.variables),
                               std::ssize(t_.rescaled),
                               std::ssize(x.scales),
                               std::ssize(t_.forms),
                               std::ssize(x.forms),
                               std::ssize(t_.followers),
                               std::ssize(x.followers)};
    for (std::size_t k = 0; k < x.variables.size(); ++k) {
      const schedule::Transformed& v = x.variables[k];
      const loops::InvarianceFunction::Variable& b = f.variables[k];
      t_.transformed.push_back({v.inverse, v.axis ? static_cast<std::int64_t>(*v.axis) : -1,
                                global_parameter(v.block, Role::location), global_parameter(v.block, Role::precision),
                                buffer(b.count), buffer(b.first), buffer(b.second), buffer(b.linear),
                                buffer(b.quadratic)});
    }
    for (std::size_t k = 0; k < x.scales.size(); ++k) {
      const loops::InvarianceFunction::Scale& b = f.scales[k];
      t_.rescaled.push_back({global_parameter(x.scales[k].block, Role::other),
                             global_parameter(x.scales[k].block, Role::spread), buffer(b.shape), buffer(b.rest),
                             std::ssize(t_.statistics)});
      for (std::size_t v = 0; v < x.variables.size(); ++v) {
        t_.statistics.push_back(buffer(b.linear[v]));
        t_.statistics.push_back(buffer(b.quadratic[v]));
      }
    }
    for (std::size_t k = 0; k < x.forms.size(); ++k) {
      const schedule::QuadraticForm& form = x.forms[k];
      const auto variable = [&](std::size_t factor) {
        return form.variables[factor] ? static_cast<std::int64_t>(*form.variables[factor]) : -1;
      };
      const auto follower = [&](std::size_t n) {
        return n < form.followers.size() ? static_cast<std::int64_t>(form.followers[n]) : -1;
      };
      t_.forms.push_back({variable(0), variable(1), index(f.forms[k].moments), index(f.forms[k].coefficients),
                          follower(0), follower(1)});
    }
    for (std::size_t k = 0; k < x.followers.size(); ++k) {
      const conditionals::BlockId b = x.followers[k].block;
      t_.followers.push_back({global_parameter(b, Role::location), global_parameter(b, Role::precision),
                              index(f.followers[k].linear), index(f.followers[k].quadratic)});
    }
    t_.invariances.push_back(row);
  }

  /// Writes the row of a shift.
  void write_shift(const schedule::Shift& x, const loops::ShiftFunctions& f) {
    t_.shifts.push_back({x.components ? extent(*x.components) : 1, static_cast<std::int64_t>(f.measure),
                         static_cast<std::int64_t>(f.move), index(f.step), index(f.gradient), index(f.curvature),
                         x.power});
  }

  /// Writes a row for each posterior parameter.
  void write_parameters() {
    const auto& slots = l_.interface.parameters;
    for (const loops::ParameterSlot& slot : slots) {
      const model::Variable& v = m_[slot.variable];
      machine::ParameterRow row{};
      row.buffer = index(slot.buffer);
      row.block = static_cast<std::int64_t>(slot.block.index());
      row.parameter = parameter_of(parameter_role(slot));
      row.event_rank = slot.event_rank;
      const bool choice =
          v.support == math::Support::switched && slot.event_rank == 1 && row.parameter == Parameter::value;
      const bool scale = v.support == math::Support::scaled && slot.event_rank == 0;
      row.support = choice ? machine::Support::category : scale ? machine::Support::positive : support_of(v.support);
      row.by_stage = slot.local;
      row.local = s_.local[slot.block.index()];
      row.streamed = slot.fused;
      row.chain = s_.conditionals[slot.block].chain.has_value();
      row.auxiliary = v.auxiliary && !model::is_joint(v);
      row.event = v.event.empty() ? 1 : extent(v.event[0]);
      row.partner = -1;
      row.subject = subjects_.of(v.axes);
      for (std::size_t k = 0; k < slots.size(); ++k) {
        if (slots[k].variable == slot.variable && are_partners(parameter_role(slots[k]), parameter_role(slot)))
          row.partner = static_cast<std::int64_t>(k);
      }
      t_.parameters.push_back(row);
    }
  }

  const model::Model& m_;
  const schedule::Schedule& s_;
  const loops::Lowered& l_;
  const std::vector<std::int64_t>& sizes_;
  const loops::Program& p_;
  Tables t_;
  SubjectTables subjects_{m_, l_, t_};
};

}  // namespace

Extent Tables::extent(const loops::Program& p, loops::SizeId size) const {
  const loops::Size& s = p[size];
  return s.constant >= 0 ? s.constant : -(static_cast<Extent>(s.slot) + 1);
}

Tables tables_of(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered,
                 const std::vector<std::int64_t>& sizes) {
  return Writer(m, s, lowered, sizes).run();
}

std::vector<std::int64_t> sizes_for(const model::Model& m, const BoundData& data, const loops::Lowered& lowered) {
  std::vector<std::int64_t> out = lowered.size_values;
  const auto put = [&](loops::SizeId size, std::int64_t value) {
    const loops::Size& s = lowered.program[size];
    if (s.constant < 0) out[static_cast<std::size_t>(s.slot)] = value;
  };
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const model::PlateId set = m.plates[k].set;
    put(lowered.plate_sizes[k], data.sizes[set.index()]);
    if (!lowered.data.offsets[k].valid()) continue;
    const std::int64_t rows = data.sizes[m[*m[set].parent].set.index()];
    put(lowered.program[lowered.data.offsets[k]].axes[0], rows < 0 ? -1 : rows + 1);
    if (!lowered.longest[k].valid()) continue;
    std::int64_t longest = -1;
    const std::vector<std::int64_t>& offsets = data.offsets[set.index()];
    for (std::size_t row = 1; row < offsets.size(); ++row)
      longest = std::max(longest, offsets[row] - offsets[row - 1]);
    put(lowered.longest[k], longest);
  }
  return out;
}

machine::Model model_of(const Tables& t) {
  machine::Model m = t.model;
  const auto point = [](auto& to, std::int64_t& count, const auto& from) {
    to = from.data();
    count = static_cast<std::int64_t>(from.size());
  };
  point(m.sizes, m.size_count, t.sizes);
  point(m.axes, m.axis_count, t.axes);
  point(m.buffers, m.buffer_count, t.buffers);
  point(m.arrays, m.array_count, t.arrays);
  point(m.steps, m.step_count, t.steps);
  point(m.picks, m.pick_count, t.picks);
  point(m.statistics, m.statistic_count, t.statistics);
  point(m.parameters, m.parameter_count, t.parameters);
  point(m.summed, m.summed_count, t.summed);
  point(m.columns, m.column_count, t.columns);
  point(m.subjects, m.subject_count, t.subjects);
  point(m.component_arrays, m.component_array_count, t.component_arrays);
  point(m.stick_sums, m.stick_sum_count, t.stick_sums);
  point(m.allocations, m.allocation_count, t.allocations);
  point(m.components, m.components_count, t.components);
  point(m.phases, m.phase_count, t.phases);
  point(m.priors, m.prior_count, t.priors);
  point(m.transformed, m.transformed_count, t.transformed);
  point(m.rescaled, m.rescaled_count, t.rescaled);
  point(m.forms, m.form_count, t.forms);
  point(m.followers, m.follower_count, t.followers);
  point(m.invariances, m.invariance_count, t.invariances);
  point(m.shifts, m.shift_count, t.shifts);
  m.failure_count = static_cast<std::int64_t>(t.failures.size());
  return m;
}

const std::string* describe_status(const Tables& t, std::int32_t status) {
  const std::int64_t blocks = t.model.block_count;
  const std::int64_t k =
      status >= loops::kFailData ? blocks + status - loops::kFailData : std::int64_t{status} - loops::kFailBlock;
  const bool in_range = status >= loops::kFailData || k < blocks;
  return in_range && k >= 0 && k < std::ssize(t.failures) ? &t.failures[static_cast<std::size_t>(k)] : nullptr;
}

}  // namespace lehr
