// Expressions of the model, expanded one component at a time.
//
// A vector or matrix is never formed. Its component at an index is expanded where it is needed, so `A * h` at i is the
// polynomial sum(j) A[i, j] * h[j].
#include "compiler/density/expander.h"
#include "compiler/model/print_model.h"
#include "compiler/support/overloaded.h"

namespace lehr::density {
namespace {

/// Returns the condition l = r.
Guard equal(IndexId l, IndexId r) { return {Relation::equal, l, r, std::nullopt, {}}; }

}  // namespace

bool Expander::is_censored(model::VariableId v) const {
  return m_[v].observed && std::ranges::any_of(m_.statements, [&](const model::Statement& s) {
           return s.variable == v && s.limits.any();
         });
}

Poly Expander::fail_of_limits(model::VariableId v) {
  const std::string& name = m_[v].name;
  return fail(
      "'" + name + "' is censored: where it is at its limit, its value is not known, and nothing else can depend on it",
      {"a latent variable between limits can be used anywhere: `" + name +
       " ~ Normal(...) above low[...] below high[...]`, low and high data that are close together where the value is "
       "known, and far apart where it is not"});
}

Poly Expander::variable(model::VariableId v, std::vector<IndexId> all) {
  const model::Variable& var = m_[v];
  if (var.observed) return constant(a_.coef(CoefData{v, std::move(all)}));
  if (const auto it = fixed_bits_.find({v, all}); it != fixed_bits_.end()) return constant(a_, it->second);
  // The first indices name the element, the others the entry within it.
  const auto n = static_cast<std::ptrdiff_t>(var.axes.size());
  Atom atom{v, {all.begin(), all.begin() + n}, math::Stat::value, {all.begin() + n, all.end()}, {}};
  switch (var.support) {
    case math::Support::vector:
    case math::Support::simplex:
    case math::Support::counts:
      atom.stat = math::Stat::comp;
      break;
    case math::Support::spd_matrix:
      atom.stat = math::Stat::entry;
      break;
    case math::Support::category:
      return fail("'" + var.name + "' is a latent category and cannot be used as a number");
    case math::Support::switched:
    case math::Support::scaled:
    case math::Support::sparse:
    case math::Support::real:
    case math::Support::positive:
    case math::Support::unit:
    case math::Support::count:
    case math::Support::bit:
    case math::Support::spin:
      break;
  }
  Poly p = constant(a_, 1);
  p[0].atoms.push_back(std::move(atom));
  return p;
}

Poly Expander::given(model::GivenId g, std::vector<IndexId> all) {
  return constant(a_.coef(CoefData{g, std::move(all)}));
}

Poly Expander::binary(model::ExprId id, const std::vector<IndexId>& at) {
  const auto& b = std::get<model::Binary>(m_[id].node);
  switch (b.op) {
    case model::BinaryOp::add:
      return add(component(b.left, at), component(b.right, at));
    case model::BinaryOp::subtract:
      return add(component(b.left, at), scale(a_, a_.number(-1), component(b.right, at)));
    case model::BinaryOp::multiply: {
      // One factor is a scalar, which has no components.
      const auto side = [&](model::ExprId s) {
        return component(s, m_[s].shape.empty() ? std::vector<IndexId>{} : at);
      };
      return product(side(b.left), side(b.right), id);
    }
    case model::BinaryOp::divide:
      return product(component(b.left, at), reciprocal(scalar(b.right)), id);
  }
  return Poly{};
}

Poly Expander::component(model::ExprId id, std::vector<IndexId> at) {
  const model::Expr& e = m_[id];
  // A scalar stands for every component of a vector, or for a multiple of the identity matrix.
  if (e.shape.empty() && !at.empty()) {
    Poly p = component(id, {});
    return at.size() == 2 ? with_guard(std::move(p), equal(at[0], at[1])) : p;
  }
  const auto append = [&](std::vector<IndexId> lead) {
    lead.insert(lead.end(), at.begin(), at.end());
    return lead;
  };
  return std::visit(
      Overloaded{
          [&](const model::Number& n) { return constant(a_, n.value); },
          [&](const model::ConstantRef& c) { return constant(a_.coef(CoefConstant{c.constant})); },
          [&](const model::GivenRef& g) { return given(g.given, append(indices(g.indices))); },
          [&](const model::VariableRef& v) {
            if (is_censored(v.variable)) return fail_of_limits(v.variable);
            return variable(v.variable, append(indices(v.indices)));
          },
          [&](const model::SizeOf& s) {
            std::optional<IndexId> row;
            if (!s.row.empty()) row = bound_.at(s.row.back());
            return constant(a_.coef(CoefExtent{m_[s.plate].set, row}));
          },
          [&](const model::Negate& n) { return scale(a_, a_.number(-1), component(n.operand, at)); },
          [&](const model::Binary&) { return binary(id, at); },
          [&](const model::MatrixVector& mv) {
            return sum_over(m_[mv.vector].shape[0], [&](IndexId j) {
              return product(component(mv.matrix, {at[0], j}), component(mv.vector, {j}), id);
            });
          },
          [&](const model::Dot& d) {
            return sum_over(m_[d.left].shape[0],
                            [&](IndexId j) { return product(component(d.left, {j}), component(d.right, {j}), id); });
          },
          [&](const model::SumOver& s) {
            // A sum is a scope: selectors that mention its index variables are summed inside it.
            scopes_.emplace_back();
            std::vector<IndexVarId> opened;
            for (model::IndexVarId b : s.index_vars)
              opened.push_back(open_index_var(b));
            Poly p = close_scope(component(s.body, at));
            for (IndexVarId b : opened)
              p = with_index_var(std::move(p), b);
            return p;
          },
          [&](const model::Diag& d) { return with_guard(component(d.vector, {at[0]}), equal(at[0], at[1])); },
          [&](const model::Component& c) { return component(c.vector, {bound_.at(c.at)}); },
          [&](const model::StickBreaking&) {
            return fail("a component of stick_breaking(...) can only be used as the probabilities of a Categorical");
          },
          [&](const model::Softmax&) {
            return fail(
                "a component of softmax(...) can only be used as the probabilities of a Categorical or Multinomial");
          },
          [&](const model::OrderedLogistic&) {
            return fail(
                "a component of ordered_logistic(...) can only be used as the probabilities of a Categorical or "
                "Multinomial");
          },
          [&](const model::Cumulative& c) {
            // The sum of the steps before this element.
            return sum_over(m_[c.steps].shape[0], [&](IndexId i) {
              return with_guard(component(c.steps, {i}), {Relation::less, i, at[0], std::nullopt, {}});
            });
          },
          [&](const model::Apply& f) {
            const Poly p = component(f.argument, at);
            if (f.function == Function::exp && statement_ && !as_coefficient(a_, m_, p) && is_normal(p))
              return exponential(id, p);
            if (f.function != Function::logistic) return apply(f.function, p);
            return fail("logistic(...) of random variables has no closed form here",
                        {"it can be the whole probability of a Bernoulli, Binomial or Geometric: y ~ "
                         "Bernoulli(logistic(e))"});
          }},
      e.node);
}

Poly Expander::log_component(model::ExprId id, std::vector<IndexId> at) {
  if (const auto* softmax = std::get_if<model::Softmax>(&m_[id].node)) return log_softmax(softmax->scores, at[0]);
  if (const auto* ordered = std::get_if<model::OrderedLogistic>(&m_[id].node))
    return log_ordered(model::OrderedLogistic(*ordered), at[0]);
  const auto* stick = std::get_if<model::StickBreaking>(&m_[id].node);
  if (!stick) return family_log(component(id, std::move(at)));
  // With fractions v of a stick of length 1: log p[k] = log v[k] + sum_s [s < k] log(1 - v[s]). The last k has no v[k],
  // which the guard s = k leaves out.
  const model::PlateId plate = m_[stick->fractions].shape[0];
  Poly last =
      sum_over(plate, [&](IndexId k) { return with_guard(log(component(stick->fractions, {k})), equal(k, at[0])); });
  Poly rest = sum_over(plate, [&](IndexId s) {
    return with_guard(log1m(component(stick->fractions, {s})), {Relation::less, s, at[0], std::nullopt, {}});
  });
  return add(std::move(last), std::move(rest));
}

Poly Expander::logdet(model::ExprId id) {
  const model::Expr& e = m_[id];
  // The determinant of c times a D x D matrix has the factor c^D.
  const auto times_extent = [&](const Poly& log_scale, model::PlateId plate) {
    return scale(a_, a_.coef(CoefExtent{plate, std::nullopt}), log_scale);
  };
  if (e.shape.empty()) {
    const model::Variable& own = m_[m_[*statement_].variable];
    return times_extent(prior_log(scalar(id)), m_[own.event.at(0)].set);
  }
  if (const auto* d = std::get_if<model::Diag>(&e.node)) {
    return sum_over(m_[d->vector].shape[0], [&](IndexId j) { return log(component(d->vector, {j})); });
  }
  if (const auto* v = std::get_if<model::VariableRef>(&e.node); v && e.shape.size() == 2) {
    const model::Variable& var = m_[v->variable];
    std::vector<IndexId> lead = indices(v->indices);
    if (var.support != math::Support::spd_matrix)
      return fail("the log determinant of '" + var.name + "' has no closed form");
    if (var.observed) return constant(a_.coef(CoefLogDet{v->variable, std::move(lead)}));
    Poly p = constant(a_, 1);
    p[0].atoms.push_back({v->variable, std::move(lead), math::Stat::logdet, {}, {}});
    return p;
  }
  if (const auto* g = std::get_if<model::GivenRef>(&e.node); g && e.shape.size() == 2) {
    return constant(a_.coef(CoefLogDet{g->given, indices(g->indices)}));
  }
  if (const auto* b = std::get_if<model::Binary>(&e.node); b && e.shape.size() == 2) {
    const bool left_scalar = m_[b->left].shape.empty(), right_scalar = m_[b->right].shape.empty();
    if (b->op == model::BinaryOp::multiply && left_scalar) {
      return add(times_extent(log(scalar(b->left)), e.shape[0]), logdet(b->right));
    }
    if ((b->op == model::BinaryOp::multiply || b->op == model::BinaryOp::divide) && right_scalar) {
      const Poly l = times_extent(log(scalar(b->right)), e.shape[0]);
      return add(logdet(b->left), b->op == model::BinaryOp::divide ? scale(a_, a_.number(-1), l) : l);
    }
  }
  return fail("the log determinant of `" + print(m_, id) + "` has no closed form",
              {"a precision can be a scalar, diag(v), a Wishart variable, a data matrix, or a scalar times "
               "one of these"});
}

Poly Expander::inverse_entry(model::VariableId v, std::vector<IndexId> lead, IndexId row, IndexId column) {
  if (m_[v].observed) return constant(a_.coef(CoefInverse{v, std::move(lead), row, column}));
  Poly p = constant(a_, 1);
  p[0].atoms.push_back({v, std::move(lead), math::Stat::inverse_entry, {row, column}, {}});
  return p;
}

Poly Expander::matrix_inverse(model::ExprId id, IndexId row, IndexId column) {
  const model::Expr& e = m_[id];
  if (const auto* d = std::get_if<model::Diag>(&e.node)) {
    return with_guard(reciprocal(component(d->vector, {row})), equal(row, column));
  }
  if (e.shape.empty()) return with_guard(reciprocal(scalar(id)), equal(row, column));
  if (const auto* g = std::get_if<model::GivenRef>(&e.node)) {
    return constant(a_.coef(CoefInverse{g->given, indices(g->indices), row, column}));
  }
  if (const auto* v = std::get_if<model::VariableRef>(&e.node)) {
    return inverse_entry(v->variable, indices(v->indices), row, column);
  }
  if (const auto* b = std::get_if<model::Binary>(&e.node)) {
    // The inverse of c * M is M's inverse divided by c.
    if (b->op == model::BinaryOp::multiply && m_[b->left].shape.empty()) {
      return product(reciprocal(scalar(b->left)), matrix_inverse(b->right, row, column), id);
    }
    if (b->op == model::BinaryOp::multiply && m_[b->right].shape.empty()) {
      return product(reciprocal(scalar(b->right)), matrix_inverse(b->left, row, column), id);
    }
    if (b->op == model::BinaryOp::divide && m_[b->right].shape.empty()) {
      return product(scalar(b->right), matrix_inverse(b->left, row, column), id);
    }
  }
  return fail(
      "the inverse of `" + print(m_, id) + "` has no closed form",
      {"a covariance can be data, a scalar, diag(v), an InverseWishart variable, or a multiple of one of these"});
}

}  // namespace lehr::density
