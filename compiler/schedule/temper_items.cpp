// Multiplies the tempered terms by 1 / T of their item. Each such term must be summed over exactly one index variable
// of the item plate, which then indexes the array 1 / T.
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
    if (items.size() != 1) return fmt::format("its data couple elements of '{}'", model[out.item].name);
    t.coef = a.multiply(t.coef, a.coef(density::CoefData{out.inverse, {a.index(items[0])}}));
  }
  return out;
}

}  // namespace lehr::schedule
