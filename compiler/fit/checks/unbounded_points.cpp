// Examines the priors of points that are zero but for rounding. The formulas `interior` of a family are negative where
// its density has no maximum inside its support.
#include "compiler/fit/checks/unbounded_points.h"

#include <algorithm>

#include "compiler/evaluate/forward.h"
#include "compiler/fit/checks/cancellation.h"
#include "compiler/math/evaluate.h"

namespace lehr {
namespace {

/// Points below this count as 0.
constexpr double kNothing = 1e-10;

/// Returns true if the element's prior has no maximum inside its support. False if its parameters depend on latent
/// variables, which have no values here.
bool has_no_maximum(const ModelEvaluator& f, Element e) {
  const model::Statement& s = f.model()[f.model()[e.variable].statement];
  const IndexValues at = f.at(e);
  const math::FamilyRow& row = *f.distribution(s, at).family;
  if (!row.factor || row.factor->interior.empty()) return false;
  const math::Environment parameters = f.parameters(s, at);
  return std::ranges::any_of(row.factor->interior, [&](const math::Expr& inside) {
    const std::vector<double> x = math::evaluate_all(inside, parameters, 0).values;
    return std::ranges::any_of(x, [](double number) { return number < 0; });
  });
}

}  // namespace

std::optional<UnboundedPoint> unbounded_point(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                              const std::vector<NamedArray>& posterior) {
  std::optional<ModelEvaluator> forward;  // of all data: seldom needed
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    const conditionals::BlockId b = s.conditionals.block_of[k];
    if (v.observed || v.auxiliary || !b.valid() || !s.conditionals[b].point || v.support != math::Support::positive)
      continue;
    const auto values = std::ranges::find(posterior, v.name + ".value", &NamedArray::name);
    if (values == posterior.end()) continue;
    for (std::size_t e = 0; e < values->values.size(); ++e) {
      if (values->values[e] >= kNothing) continue;  // it may have ended as no number
      if (!forward) forward.emplace(m, data);
      if (has_no_maximum(*forward, {model::VariableId(k), e}))
        return UnboundedPoint{v.name + subscripts(values->shape, e), m[v.statement].main.family->name};
    }
  }
  return std::nullopt;
}

}  // namespace lehr
