// Expressions of the model as polynomials in statistics: the state of one expansion.
//
// A latent index is replaced by a selector: a fresh bound k with the atom [z[..] = k]. One selector per distinct
// latent index per scope, opened in the innermost scope (statement or enclosing sum) whose bounds it mentions, so
// that f(sum_k [z = k] m_k) = sum_k [z = k] f(m_k) holds for every function applied inside the scope.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/density/poly.h"

namespace lehr::density {

class Expander {
 public:
  Expander(const model::Model& m, Density& out, const ExpandOptions& options, Diagnostics& diagnostics)
      : m_(m), out_(out), a_(out.algebra), options_(options), diagnostics_(diagnostics) {}

  void statement(model::StatementId id);
  void potential(std::size_t index);

 private:
  struct Selector {
    model::VariableId variable;
    std::vector<IndexId> axes;
    BoundId bound;
  };
  struct Scope {
    std::set<BoundId> bounds;
    std::vector<Selector> selectors;
  };
  /// A parameter of the distribution being expanded: the typed expression and the spelling it was given in.
  struct Argument {
    const math::Spelling* spelling = nullptr;
    model::ExprId value;
  };
  using Arguments = std::map<std::string, Argument>;  // by canonical name

  // expander_index.cpp: bounds, indices, scopes
  BoundId open_bound(model::BoundId b);
  IndexId index(const model::Index& i);
  std::vector<IndexId> indices(const std::vector<model::Index>& list);
  IndexId selector(model::VariableId v, std::vector<IndexId> axes);
  Poly close_scope(Poly p);

  // expander_expr.cpp: expressions of the model
  Poly scalar(model::ExprId e) { return component(e, {}); }
  Poly component(model::ExprId e, std::vector<IndexId> at);
  Poly logdet(model::ExprId e);
  Poly log_component(model::ExprId e, std::vector<IndexId> at);
  Poly matrix_inverse(model::ExprId e, IndexId row, IndexId column);
  Poly variable(model::VariableId v, std::vector<IndexId> all);
  Poly given(model::GivenId g, std::vector<IndexId> all);

  // expander_functions.cpp: log, reciprocal, ... of polynomials
  Poly log(const Poly& p);
  Poly log1m(const Poly& p);
  Poly reciprocal(const Poly& p);
  Poly apply(CoefFunction f, const char* name, const Poly& p);
  std::string text(const Poly& p) const;

  // expand_statement.cpp: log densities of the family rows
  Poly density(const math::Expr& e, const Arguments& arguments, std::map<int, IndexId>& event);
  Poly argument(const Argument& a, std::vector<IndexId> at);
  Poly argument_logdet(const Argument& a);
  Poly value(std::vector<IndexId> at);
  Poly distribution(const model::Distribution& d);
  void finish(Poly p, const Origin& origin);

  Poly fail(std::string why, std::vector<std::string> notes = {});

  const model::Model& m_;
  Density& out_;
  Algebra& a_;
  const ExpandOptions& options_;
  Diagnostics& diagnostics_;

  std::map<model::BoundId, IndexId> bound_;   // the model's bounds in the algebra
  std::vector<Scope> scopes_;
  Span span_;                                 // of the statement, for messages
  std::optional<model::StatementId> statement_;
  std::vector<IndexId> own_;                  // the statement variable's axes
};

}  // namespace lehr::density
