// Walks over expressions. children_of() is the one place that knows where each kind of node has its children; a new
// kind of node fails to compile there.
#include "compiler/model/walk.h"

#include <algorithm>
#include <type_traits>

namespace lehr::model {
namespace {

/// Returns the categories that these indices look up.
std::vector<ExprId> lookups(const std::vector<Index>& indices) {
  std::vector<ExprId> out;
  for (const Index& index : indices) {
    if (const auto* lookup = std::get_if<Index::Lookup>(&index.form)) out.push_back(lookup->category);
  }
  return out;
}

}  // namespace

std::vector<ExprId> children_of(const Expr& expr) {
  return std::visit(
      [](const auto& node) -> std::vector<ExprId> {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, GivenRef> || std::is_same_v<T, VariableRef>) {
          return lookups(node.indices);
        } else if constexpr (std::is_same_v<T, Negate>) {
          return {node.operand};
        } else if constexpr (std::is_same_v<T, Binary> || std::is_same_v<T, Dot>) {
          return {node.left, node.right};
        } else if constexpr (std::is_same_v<T, MatrixVector>) {
          return {node.matrix, node.vector};
        } else if constexpr (std::is_same_v<T, SumOver>) {
          return {node.body};
        } else if constexpr (std::is_same_v<T, Diag> || std::is_same_v<T, Component>) {
          return {node.vector};
        } else if constexpr (std::is_same_v<T, StickBreaking>) {
          return {node.fractions};
        } else if constexpr (std::is_same_v<T, Softmax>) {
          return {node.scores};
        } else if constexpr (std::is_same_v<T, OrderedLogistic>) {
          return {node.location, node.cuts};
        } else if constexpr (std::is_same_v<T, Cumulative>) {
          return {node.steps};
        } else if constexpr (std::is_same_v<T, Apply>) {
          return {node.argument};
        } else {
          static_assert(std::is_same_v<T, Number> || std::is_same_v<T, ConstantRef> || std::is_same_v<T, SizeOf>);
          return {};
        }
      },
      expr.node);
}

std::vector<ExprId> nodes_under(const Model& model, const std::vector<ExprId>& roots) {
  std::vector<ExprId> out, stack(roots.rbegin(), roots.rend());
  // An expression may be shared, so visited ones are marked.
  std::vector<bool> seen(model.exprs.size(), false);
  while (!stack.empty()) {
    const ExprId id = stack.back();
    stack.pop_back();
    if (!id.valid() || seen[id.index()]) continue;
    seen[id.index()] = true;
    out.push_back(id);
    const std::vector<ExprId> children = children_of(model[id]);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return out;
}

std::vector<const VariableRef*> references_under(const Model& model, const std::vector<ExprId>& roots) {
  std::vector<const VariableRef*> out;
  for (const ExprId id : nodes_under(model, roots))
    if (const auto* ref = std::get_if<VariableRef>(&model[id].node)) out.push_back(ref);
  return out;
}

std::vector<const Distribution*> distributions_of(const Statement& statement) {
  std::vector<const Distribution*> out{&statement.main};
  if (statement.start) out.push_back(&*statement.start);
  for (const Distribution& other : statement.others)
    out.push_back(&other);
  return out;
}

std::vector<ExprId> roots_of(const Statement& statement) {
  std::vector<ExprId> out;
  for (const Distribution* d : distributions_of(statement)) {
    for (const Parameter& p : d->parameters)
      out.push_back(p.value);
  }
  for (const std::optional<ExprId>& root : {statement.part, statement.limits.above, statement.limits.below}) {
    if (root) out.push_back(*root);
  }
  return out;
}

bool is_lagged(const VariableRef& ref) {
  return std::any_of(ref.indices.begin(), ref.indices.end(), [](const Index& index) {
    const auto* shifted = std::get_if<Index::Shifted>(&index.form);
    return shifted && shifted->offset < 0;
  });
}

std::vector<PlateId> coordinate_plates(const Model& model, const Member& member) {
  const Variable& v = model[member.variable];
  std::vector<PlateId> out;
  for (const std::size_t axis : member.own) {
    const PlateId set = model[v.axes[axis]].set;
    if (model[set].parent && !out.empty()) out.pop_back();
    out.push_back(set);
  }
  for (const PlateId p : v.event)
    out.push_back(model[p].set);
  return out;
}

}  // namespace lehr::model
