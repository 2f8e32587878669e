// Forward sampling: what is fixed, then statement after statement, then the arrays as bind() wants them.
#include "compiler/evaluate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/footprint.h"
#include "compiler/evaluate/forward.h"
#include "compiler/evaluate/forward_order.h"
#include "compiler/model/walk.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

using namespace model;

/// "theta[3, 1]", the last index of a nested plate counted in its row.
std::string name_of(const Forward& f, const Statement& s, const At& at) {
  std::string indices;
  for (const BoundId b : s.bounds) {
    const Bound& bound = f.model()[b];
    std::int64_t k = at[b.index()];
    if (bound.parent) k -= f.data().offsets[bound.plate.index()][static_cast<std::size_t>(at[bound.parent->index()])];
    indices += fmt::format("{}{}", indices.empty() ? "" : ", ", k);
  }
  const std::string& name = f.model()[s.variable].name;
  return indices.empty() ? name : fmt::format("{}[{}]", name, indices);
}

bool constants_only(const Model& m, const Distribution& d) {
  std::vector<ExprId> roots;
  for (const Parameter& p : d.parameters)
    roots.push_back(p.value);
  const std::vector<ExprId> nodes = nodes_under(m, roots);
  return std::none_of(nodes.begin(), nodes.end(), [&](ExprId id) {
    return std::holds_alternative<VariableRef>(m[id].node) || std::holds_alternative<GivenRef>(m[id].node);
  });
}

Error improper(const Variable& v, const math::FamilyRow& family) {
  return {ExitCode::model,
          "",
          fmt::format("the prior of '{}' is improper ({}): there is nothing to draw from", v.name, family.name),
          {fmt::format("give '{0}' a proper prior, or a value: {1} {0}=FILE", v.name, option("data"))}};
}

Error out_of_domain(const Forward& f, const Statement& s, const At& at, const math::Environment& parameters) {
  const Distribution& d = f.distribution(s, at);
  std::string list;
  for (const auto& [name, q] : parameters.symbols) {
    if (q.rank == 0) list += fmt::format("{}{} = {:.6g}", list.empty() ? "" : ", ", name, q.values[0]);
  }
  const bool always = constants_only(f.model(), d);
  Error e{always ? ExitCode::model : ExitCode::numerical,
          "",
          fmt::format("{} cannot be drawn: {}{} is not a proper distribution", name_of(f, s, at), d.family->name,
                      list.empty() ? "" : "(" + list + ")"),
          {}};
  if (always)
    e.notes = {
        fmt::format("give '{0}' a proper prior, or a value: {1} {0}=FILE", f.model()[s.variable].name, option("data"))};
  else e.notes = {"what it depends on was drawn or given so; a narrower prior or another seed may do"};
  return e;
}

/// Whether the parameters are in the domain of the family.
bool proper(const math::FamilyRow& row, const math::Environment& parameters) {
  for (const auto& [name, q] : parameters.symbols) {
    if (!std::all_of(q.values.begin(), q.values.end(), [](double v) { return std::isfinite(v); })) return false;
  }
  if (const math::AtValue* p = math::looks_up(row)) {
    const std::vector<double>& weights = parameters.symbols.at(p->vector).values;
    double total = 0;
    for (const double w : weights)
      total += w < 0 ? std::nan("") : w;
    return total > 0;
  }
  if (row.factor &&
      !math::is_proper(*row.factor, {parameters.extent, math::parameters_from_density(*row.factor, parameters)}))
    return false;
  if (row.factor && !row.factor->valid.empty()) return true;
  // Elsewhere the logarithms of the density show it: at one half every support's formula has all of them.
  const int rank = math::event_rank(row.support);
  if (rank == 2) return true;
  math::Environment probe = parameters;
  probe.symbols["x"] = {rank, std::vector<double>(rank == 1 ? parameters.extent : 1, 0.5)};
  return !std::isnan(math::log_density(row, probe));
}

class Simulator {
 public:
  Simulator(Forward& forward, std::uint64_t seed) : forward_(forward), rng_(seed) {}

  /// The first problem, or nothing.
  std::optional<Error> run() {
    At at = forward_.origin();
    for (const ForwardGroup& group : forward_order(forward_.model())) {
      if (group.ordered.size() != group.statements.size()) {
        for (const StatementId s : group.statements)
          draw_all(s, at, {});
        continue;
      }
      const PlateId plate = forward_.model()[group.ordered[0]].plate;
      for (std::int64_t t = 0; t < forward_.data().sizes[plate.index()]; ++t) {
        for (std::size_t k = 0; k < group.statements.size(); ++k)
          draw_all(group.statements[k], at, std::pair(group.ordered[k], t));
      }
    }
    return problem_;
  }

 private:
  void draw_all(StatementId id, At& at, std::optional<std::pair<BoundId, std::int64_t>> fixed) {
    const Statement& s = forward_.model()[id];
    forward_.each(
        s.bounds, at,
        [&] {
          if (!problem_) draw(s, at);
        },
        fixed);
  }

  void draw(const Statement& s, const At& at) {
    const Element e = forward_.element(s, at);
    const std::span<double> x = forward_.values(e);
    if (std::none_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) return;
    const Variable& variable = forward_.model()[s.variable];
    const math::FamilyRow& family = *forward_.distribution(s, at).family;
    if (!family.draw) {
      problem_ = improper(variable, family);
      return;
    }
    math::Environment parameters = forward_.parameters(s, at);
    for (const math::Spelling& spelling : family.spellings) {
      if (spelling.optional && !parameters.symbols.contains(spelling.canonical) && !imply(spelling, e, parameters))
        return;
    }
    if (!proper(family, parameters)) {
      problem_ = out_of_domain(forward_, s, at, parameters);
      return;
    }
    const std::vector<double> drawn =
        family.draw(math::flatten_parameters(family, parameters), parameters.extent, rng_);
    if (std::all_of(drawn.begin(), drawn.end(), [](double v) { return std::isfinite(v); }))
      std::copy(drawn.begin(), drawn.end(), x.begin());
    else problem_ = out_of_domain(forward_, s, at, parameters);
  }

  /// A total that the model leaves out because the observation shows it.
  bool imply(const math::Spelling& spelling, Element e, math::Environment& parameters) {
    const Variable& v = forward_.model()[e.variable];
    const std::vector<double>& bound = forward_.data().observed[e.variable.index()].values;
    if (bound.empty()) {
      problem_ = Error{
          ExitCode::data,
          option("data"),
          fmt::format("nothing gives '{}' of '{}'", spelling.name, v.name),
          {fmt::format("write it in the model, or bind data to '{}': each row is drawn with the total it has there",
                       v.name)}};
      return false;
    }
    const std::size_t width = forward_.width(e.variable);
    double total = 0;
    for (std::size_t i = 0; i < width; ++i)
      total += bound[e.position * width + i];
    parameters.symbols[spelling.canonical] = {0, {total}};
    return true;
  }

  Forward& forward_;
  Rng rng_;
  std::optional<Error> problem_;
};

/// Extents of the axes as bind() takes them: nested plates with their parents in one.
std::vector<std::int64_t> packed_shape(const Model& m, const BoundData& d, const std::vector<PlateId>& axes,
                                       const std::vector<PlateId>& event) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i > 0 && m[axes[i]].parent) out.pop_back();
    out.push_back(d.sizes[axes[i].index()]);
  }
  for (const PlateId p : event)
    out.push_back(d.sizes[p.index()]);
  return out;
}

bool is_integer(math::Support s) { return is_discrete(s) || s == math::Support::count || s == math::Support::counts; }

std::vector<NamedArray> arrays_of(const Forward& f) {
  const Model& m = f.model();
  const BoundData& d = f.data();
  std::vector<NamedArray> out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const std::span<const double> x = f.values(VariableId(k));
    out.push_back({v.name, packed_shape(m, d, v.axes, v.event), {x.begin(), x.end()}, is_integer(v.support)});
  }
  for (std::size_t k = 0; k < m.givens.size(); ++k) {
    const Given& g = m.givens[k];
    const bool integer = g.type == GivenType::count || g.type == GivenType::category;
    out.push_back({g.name, packed_shape(m, d, g.axes, g.event), d.givens[k].values, integer});
  }
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (!m.plates[k].parent || m.plates[k].set != PlateId(k)) continue;
    const std::vector<std::int64_t>& offsets = d.offsets[k];
    NamedArray lengths{m.plates[k].name, {static_cast<std::int64_t>(offsets.size()) - 1}, {}, true};
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      lengths.values.push_back(static_cast<double>(offsets[row + 1] - offsets[row]));
    out.push_back(std::move(lengths));
  }
  for (std::size_t k = 0; k < m.constants.size(); ++k) {
    if (!m.constants[k].value) out.push_back({m.constants[k].name, {}, {d.constants[k]}, false});
  }
  return out;
}

/// Copies have latent variables of their own, so that each must be an element.
std::optional<Error> copies(const Model& m, const BoundData& d) {
  for (const Plate& p : m.plates) {
    if (!p.times) continue;
    const std::vector<double>& counts = d.givens[p.times->index()].values;
    if (std::all_of(counts.begin(), counts.end(), [](double c) { return c == 1; })) continue;
    return Error{
        ExitCode::data,
        option("data"),
        fmt::format("'{}' must be 1 everywhere: every copy is drawn by itself", m[*p.times].name),
        {fmt::format("leave '{}' out, and give '{}' the size with the copies counted", m[*p.times].name, p.name)}};
  }
  return std::nullopt;
}

/// The values of every variable, and again as they are written.
std::vector<SizedArray> footprint(const Model& m, const BoundData& d) {
  std::vector<SizedArray> out;
  for (const Variable& v : m.variables) {
    SizedArray array{v.name, 2};
    for (std::size_t i = 0; i < v.axes.size(); ++i) {
      const bool inside_next = i + 1 < v.axes.size() && m[v.axes[i + 1]].parent;
      if (!inside_next) array.length *= static_cast<double>(d.sizes[v.axes[i].index()]);
    }
    for (const PlateId p : v.event)
      array.length *= static_cast<double>(d.sizes[p.index()]);
    out.push_back(std::move(array));
  }
  return out;
}

}  // namespace

Result<std::vector<NamedArray>> simulate(const Model& model, const Dataset& dataset, const Settings& settings,
                                         std::uint64_t seed) {
  if (!model.potentials.empty()) {
    return Error{ExitCode::model,
                 "",
                 "a model with potentials cannot be simulated: its density has no known normaliser",
                 {"without `potential` the other statements can be drawn"}};
  }
  // What the data give of latent variables is read like observations.
  Model fixed = model;
  for (Variable& v : fixed.variables)
    v.observed = v.observed || dataset.contains(v.name);
  const Result<BoundData> data = bind_givens(fixed, dataset, settings);
  if (!data) return data.error();
  if (std::optional<Error> e = copies(fixed, *data)) return *e;
  if (std::optional<Error> e = too_large(footprint(fixed, *data))) return *e;
  Forward forward(fixed, *data);
  for (std::size_t k = 0; k < model.variables.size(); ++k) {
    const std::span<double> x = forward.values(VariableId(k));
    if (model.variables[k].observed) std::fill(x.begin(), x.end(), std::nan(""));
  }
  if (std::optional<Error> e = Simulator(forward, seed).run()) return *e;
  return arrays_of(forward);
}

}  // namespace lehr
