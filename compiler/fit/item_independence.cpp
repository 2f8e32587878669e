// Checks statement by statement whether an item can be read and predicted without the others. A statement passes if
// every index over the items is the statement's own, without a shift.
#include "compiler/fit/item_independence.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// Returns the error for a statement that prevents it, with its line.
Error dependence_error(const Source& source, Span at, std::string why) {
  return {ExitCode::model,
          fmt::format("{}:{}", source.name, position_of(source, at.begin).line),
          std::move(why),
          {fmt::format("without {} all items are read at once", option("stream"))}};
}

/// Returns true if everything that the expression reads belongs to the item that is the value of index variable `own`.
bool is_within_item(const Model& m, const Expr& e, PlateId items, std::optional<IndexVarId> own) {
  if (lies_on_plate(m, e.shape, items)) return false;
  const auto* variable = std::get_if<VariableRef>(&e.node);
  const auto* given = std::get_if<GivenRef>(&e.node);
  if (!variable && !given) return true;
  for (const Index& index : variable ? variable->indices : given->indices) {
    if (index.set != items) continue;
    const auto* at = std::get_if<Index::Shifted>(&index.form);
    if (!at || at->offset != 0 || at->bound != own) return false;
  }
  return true;
}

}  // namespace

bool lies_on_plate(const Model& m, const std::vector<PlateId>& axes, PlateId plate) {
  return std::ranges::any_of(axes, [&](PlateId p) {
    for (std::optional<PlateId> at = m[p].set; at;
         at = m[*at].parent ? std::optional(m[*m[*at].parent].set) : std::nullopt)
      if (*at == plate) return true;
    return false;
  });
}

std::optional<PlateId> plate_of_stage(const Analysed& a) {
  for (const schedule::Step& step : a.schedule.steps)
    if (const auto* stage = std::get_if<schedule::ItemStage>(&step)) return a.model[stage->item].set;
  return std::nullopt;
}

std::optional<PlateId> plate_of_items(const Analysed& a) {
  if (const std::optional<PlateId> plate = plate_of_stage(a)) return plate;
  for (const Variable& v : a.model.variables)
    if (has_data(v) && !v.axes.empty()) return a.model[v.axes[0]].set;
  return std::nullopt;
}

std::optional<Error> needs_other_items(const Source& source, const Analysed& a, PlateId items) {
  const Model& m = a.model;
  const std::string& name = m[items].name;
  const auto of_stage = [](const schedule::Step& s) { return std::holds_alternative<schedule::ItemStage>(s); };
  const bool several = std::ranges::count_if(a.schedule.steps, of_stage) > 1;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    if (v.observed || (v.auxiliary && !is_joint(v)) || v.joint) continue;
    const conditionals::BlockId b = a.schedule.conditionals.block_of[k];
    const bool local = b.valid() && a.schedule.stage_of[b.index()].has_value();
    std::vector<PlateId> plates = v.axes;
    plates.insert(plates.end(), v.event.begin(), v.event.end());
    if (v.value_plate) plates.push_back(*v.value_plate);
    const bool on_items = lies_on_plate(m, plates, items);
    const Span at = m[v.statement].span;
    if (local && is_joint(v))
      return dependence_error(source, at, fmt::format("'{}' is one factor of several variables of an item", v.name));
    if (local && (several || !on_items))
      return dependence_error(source, at, fmt::format("'{}' is inferred from several '{}' at once", v.name, name));
    if (!local && on_items)
      return dependence_error(source, at,
                              fmt::format("'{}' has elements by '{}' that are those of the fit", v.name, name));
  }
  return std::nullopt;
}

std::optional<Error> reads_other_items(const Source& source, const Model& m, PlateId items) {
  for (const Statement& s : m.statements) {
    std::optional<IndexVarId> own;
    bool leaves = false;
    for (const IndexVarId b : s.index_vars) {
      if (m[m[b].plate].set != items) continue;
      // A statement with two index variables over the items relates different items.
      leaves = leaves || own.has_value();
      own = b;
    }
    for (const ExprId id : nodes_under(m, roots_of(s)))
      leaves = leaves || !is_within_item(m, m[id], items, own);
    if (leaves)
      return dependence_error(source, s.span,
                              fmt::format("'{}' depends on several '{}' at once", m[s.variable].name, m[items].name));
  }
  return std::nullopt;
}

}  // namespace lehr
