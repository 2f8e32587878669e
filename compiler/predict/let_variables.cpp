// Adds each `let` as a statement to the syntax tree, and resolves the model again. The added variables are then moved
// behind all others, so that existing ids stay valid.
#include "compiler/predict/let_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "compiler/evaluate/packed.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"
#include "compiler/pipeline.h"

namespace lehr {
namespace {

/// The prefix of the names of added variables while the model is resolved. It has a space, so it collides with no name.
constexpr const char* kPrefix = "let ";
/// A `let` with more elements is not predicted.
constexpr double kMaxLetElements = 1e6;

/// Returns the tree with `observe NAME[axes] ~ Normal(mean = value, variance = kNoVariance)` added.
ast::Ast with_statement(ast::Ast ast, const ast::LetDecl& let, Span span) {
  const auto add = [&](auto node) {
    ast.exprs.push_back({span, std::move(node)});
    return ast::ExprId(ast.exprs.size() - 1);
  };
  const ast::ExprId variance = add(ast::Number{kNoVariance, "1e-300"});
  ast::Call normal{{"Normal", span}, {}};
  normal.arguments.push_back({ast::Name{"mean", span}, let.value});
  normal.arguments.push_back({ast::Name{"variance", span}, variance});
  ast::Tilde tilde;
  tilde.observed = true;
  tilde.name = {kPrefix + let.name.text, let.name.span};
  tilde.axes = let.axes;
  tilde.distribution = add(std::move(normal));
  ast.decls.push_back({span, std::move(tilde)});
  return ast;
}

/// Returns true if two indices always select the same element.
bool is_same(const model::Index& a, const model::Index& b) {
  using model::Index;
  if (const auto* x = std::get_if<Index::Shifted>(&a.form), *y = std::get_if<Index::Shifted>(&b.form); x && y)
    return x->bound == y->bound && x->offset == y->offset;
  const auto *x = std::get_if<Index::Constant>(&a.form), *y = std::get_if<Index::Constant>(&b.form);
  return x && y && x->value == y->value;
}

/// Moves a variable and its statement to the ends of their lists, and renumbers all references.
void move_last(model::Model& m, model::VariableId variable) {
  const model::StatementId statement = m[variable].statement;
  const auto moved = [](auto& id, auto from, std::size_t count) {
    using Id = std::remove_reference_t<decltype(id)>;
    if (id == from) id = Id(count - 1);
    else if (id.valid() && id.index() > from.index()) id = Id(id.index() - 1);
  };
  const auto to_end = [](auto& all, std::size_t k) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(k);
    std::rotate(at, at + 1, all.end());
  };
  const auto renumber = [&](model::VariableId& v) { moved(v, variable, m.variables.size()); };
  for (model::Variable& v : m.variables) {
    moved(v.statement, statement, m.statements.size());
    if (v.auxiliary) renumber(v.auxiliary->host);
    if (v.joint) renumber(*v.joint);
  }
  for (model::Statement& s : m.statements)
    renumber(s.variable);
  for (model::Expr& e : m.exprs)
    if (auto* ref = std::get_if<model::VariableRef>(&e.node)) renumber(ref->variable);
  for (model::JointGuide& joint : m.guide.joint)
    std::ranges::for_each(joint.members, renumber);
  for (std::vector<model::VariableId>* all : {&m.guide.point, &m.guide.independent, &m.guide.order})
    std::ranges::for_each(*all, renumber);
  to_end(m.variables, variable.index());
  to_end(m.statements, statement.index());
}

/// Resolves the tree, with the variables of `let`s last. Resolving adds auxiliary variables for compounds and mixtures,
/// which keep their numbers.
std::optional<model::Model> resolve_with_lets(const ast::Ast& ast) {
  Diagnostics ignored;
  std::optional<model::Model> m = read_tree(ast, ignored);
  if (!m) return m;
  const auto is_let = [](const model::Variable& v) { return v.name.starts_with(kPrefix); };
  for (auto left = std::ranges::count_if(m->variables, is_let); left > 0; --left)
    move_last(*m, model::VariableId(
                      static_cast<std::size_t>(std::ranges::find_if(m->variables, is_let) - m->variables.begin())));
  return m;
}

/// Returns true if the last statement, that of a `let`, reads a latent variable and nothing that is missing.
bool is_predicted(const model::Model& m, const model::Model& of, const BoundData& data) {
  bool latent = false;
  for (const model::VariableRef* ref : model::references_under(m, model::roots_of(m.statements.back()))) {
    const bool observed = of[ref->variable].observed;
    if (observed && data.observed[ref->variable.index()].has_missing) return false;
    const bool states = m[ref->variable].value_plate || has_integers(m[ref->variable].support);
    const bool chain = !observed && states && m[m[ref->variable].statement].lagged.has_value();
    if (chain && !reads_one_element(m, m.statements.back(), ref->variable)) return false;
    latent = latent || !observed;
  }
  return latent;
}

/// Describes a constant index in the last statement that exceeds its plate; returns an empty string if there is none.
std::string read_beyond(const model::Model& m, const BoundData& data) {
  const auto beyond = [&](const auto& of, const std::vector<model::Index>& indices) -> std::string {
    for (const model::Index& index : indices) {
      const auto* constant = std::get_if<model::Index::Constant>(&index.form);
      if (!constant || constant->value < shortest_row(data, index.set)) continue;
      return fmt::format("{}[{}], and plate '{}' has {} elements", of.name, print(m, index), m[index.set].name,
                         shortest_row(data, index.set));
    }
    return "";
  };
  std::string out;
  for (const model::ExprId id : model::nodes_under(m, model::roots_of(m.statements.back()))) {
    if (!out.empty()) return out;
    if (const auto* v = std::get_if<model::VariableRef>(&m[id].node)) out = beyond(m[v->variable], v->indices);
    if (const auto* g = std::get_if<model::GivenRef>(&m[id].node)) out = beyond(m[g->given], g->indices);
  }
  return out;
}

/// Returns the number of elements of a variable.
double elements_of(const model::Model& m, const BoundData& data, const model::Variable& v) {
  double n = 1;
  for (const std::int64_t extent : stored_shape(m, data, v.axes, {}))
    n *= static_cast<double>(extent);
  return n;
}

}  // namespace

/// A sum over an index variable reads several elements.
bool reads_one_element(const model::Model& m, const model::Statement& s, model::VariableId v) {
  std::vector<const model::VariableRef*> found;
  for (const model::VariableRef* ref : model::references_under(m, model::roots_of(s))) {
    if (ref->variable == v) found.push_back(ref);
  }
  return std::ranges::all_of(found, [&](const model::VariableRef* ref) {
    const auto is_summed = [&](const model::Index& index) {
      const auto* x = std::get_if<model::Index::Shifted>(&index.form);
      return x && std::ranges::find(s.index_vars, x->bound) == s.index_vars.end();
    };
    return std::ranges::equal(ref->indices, found[0]->indices, is_same) &&
           std::ranges::none_of(ref->indices, is_summed);
  });
}

model::Model with_lets(const Source& source, const model::Model& resolved, const model::Model& of,
                       const BoundData& data, std::vector<Diagnostic>& notes) {
  model::Model out = resolved;
  Diagnostics ignored;
  std::optional<ast::Ast> ast = read_syntax(source, ignored);
  const std::vector<ast::Decl> decls = ast ? ast->decls : std::vector<ast::Decl>();
  for (const ast::Decl& d : decls) {
    const auto* let = std::get_if<ast::LetDecl>(&d.node);
    if (!let) continue;
    ast::Ast more = with_statement(*ast, *let, d.span);
    std::optional<model::Model> m = resolve_with_lets(more);
    if (!m || m->plates.size() != resolved.plates.size() || !is_predicted(*m, of, data)) continue;
    if (const double n = elements_of(*m, data, m->variables.back()); n > kMaxLetElements) {
      notes.push_back(make_note(fmt::format("'{}' has {:.0f} elements: too many to predict", let->name.text, n)));
      continue;
    }
    if (const std::string read = read_beyond(*m, data); !read.empty()) {
      notes.push_back(make_note(fmt::format("'{}' is not predicted: it reads {}", let->name.text, read)));
      continue;
    }
    ast = std::move(more);
    out = std::move(*m);
  }
  for (std::size_t k = 0; k < out.plates.size(); ++k)
    out.plates[k].from = resolved.plates[k].from;
  for (std::size_t k = 0; k < out.variables.size(); ++k) {
    model::Variable& v = out.variables[k];
    if (k >= resolved.variables.size()) {
      v.name.erase(0, std::string(kPrefix).size());
      continue;
    }
    v.observed = of.variables[k].observed;
    v.clamped = of.variables[k].clamped;
    v.joint = of.variables[k].joint;
  }
  return out;
}

BoundData with_missing_lets(const model::Model& resolved, const model::Model& with_lets, BoundData data) {
  data.observed.resize(resolved.variables.size());
  for (std::size_t k = resolved.variables.size(); k < with_lets.variables.size(); ++k) {
    const auto n = static_cast<std::size_t>(elements_of(with_lets, data, with_lets.variables[k]));
    data.observed.push_back({std::vector<double>(n, std::nan("")), true});
  }
  data.clamped.resize(with_lets.variables.size(), false);
  return data;
}

}  // namespace lehr
