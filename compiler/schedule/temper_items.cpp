// Multiplies the tempered terms by 1 / T of their item. Each such term must be summed over exactly one index variable
// of the item plate, which then indexes the array 1 / T, or be that of the first element of a chain.
#include "compiler/schedule/temper_items.h"

#include <fmt/format.h>

namespace lehr::schedule {
namespace {

using namespace model;

/// Returns the plate of the items, the first axis of all tempered statements, or why there is none.
std::variant<PlateId, std::string> item_of(const Model& m, const density::Density& d,
                                           const std::vector<bool>& tempered) {
  std::optional<PlateId> item;
  for (std::size_t k = 0; k < d.origins.size(); ++k) {
    if (!tempered[k]) continue;
    if (!d.origins[k].statement) return "its potentials belong to no item";
    const Variable& v = m[m[*d.origins[k].statement].variable];
    if (v.axes.empty()) return fmt::format("'{}' is not on a plate of items", v.name);
    if (item && *item != m[v.axes[0]].set) return "its data are on more than one plate of items";
    item = m[v.axes[0]].set;
  }
  if (!item) return "it has no data";
  return *item;
}

/// Returns a discrete variable of which the term reads elements of other items than the one at `own`, if there is one.
std::optional<VariableId> reads_others(const Model& m, const density::Density& d, const density::Term& t,
                                       density::IndexVarId own) {
  for (const density::Atom& x : t.atoms) {
    if (!is_discrete(m[x.variable].support)) continue;
    const auto* at = x.axes.empty() ? nullptr : std::get_if<density::IndexVarRef>(&d.algebra[x.axes[0]]);
    if (!at || at->bound != own || at->offset != 0) return x.variable;
  }
  return std::nullopt;
}

/// Returns true if a term that is not summed over the items is that of the first element of a chain of them.
bool starts_chain(const Model& m, const density::Origin& o, PlateId item) {
  const Statement& s = m[*o.statement];
  return s.start && s.lagged && m[m[*s.lagged].plate].set == item && !m[*s.lagged].parent;
}

}  // namespace

std::variant<TemperedItems, std::string> temper_items(const Model& model,
                                                      const conditionals::Conditionals& conditionals,
                                                      const std::vector<bool>& tempered) {
  const auto item = item_of(model, conditionals.density, tempered);
  if (const auto* why = std::get_if<std::string>(&item)) return *why;
  TemperedItems out{model, conditionals, GivenId(model.givens.size()), std::get<PlateId>(item)};
  // The name cannot occur in a model.
  out.model.givens.push_back({"1/T", {}, {out.item}, {}, GivenType::real, std::nullopt, false});
  density::Algebra& a = out.conditionals.density.algebra;
  for (density::Term& t : out.conditionals.density.terms) {
    if (!tempered[t.origin]) continue;
    std::vector<density::IndexVarId> items;
    for (density::IndexVarId b : t.index_vars) {
      if (model[a[b].plate].set == out.item && !a[b].parent) items.push_back(b);
    }
    const bool first = items.empty() && starts_chain(model, conditionals.density.origins[t.origin], out.item);
    if (items.size() != 1 && !first) return fmt::format("its data couple elements of '{}'", model[out.item].name);
    if (const auto v = first ? std::nullopt : reads_others(model, out.conditionals.density, t, items[0]))
      return fmt::format("'{}' connects elements of '{}'", model[*v].name, model[out.item].name);
    const density::IndexId at = first ? a.index(density::IndexConstant{0}) : a.index(items[0]);
    t.coef = a.multiply(t.coef, a.coef(density::CoefData{out.inverse, {at}}));
  }
  return out;
}

}  // namespace lehr::schedule
