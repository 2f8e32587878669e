// Walks over the formula of a row, and replaces each symbol by the expression that the model writes for the parameter.
// A parameter written in another form, as a variance instead of a precision, is converted by the formula of its
// spelling.
#include "compiler/posterior/row_formula.h"

#include <Eigen/Dense>
#include <algorithm>

#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using Maybe = MaybePolynomial;
using Matrix = Eigen::MatrixXd;

}  // namespace

RowFormula::RowFormula(const Symbolic& symbolic, const model::Statement& s, const IndexValues& at)
    : symbolic_(symbolic),
      distribution_(symbolic.forward().distribution(s, at)),
      at_(at),
      extent_(symbolic.forward().extent(s.variable)) {}

const model::Parameter* RowFormula::spelled(const std::string& canonical) const {
  const auto found = std::ranges::find_if(
      distribution_.parameters, [&](const model::Parameter& p) { return p.spelling->canonical == canonical; });
  return found == distribution_.parameters.end() ? nullptr : &*found;
}

/// A number stands for all entries of a vector, and for a multiple of the identity matrix.
Maybe RowFormula::written(const std::string& name, std::size_t j, std::size_t l) const {
  for (const model::Parameter& p : distribution_.parameters) {
    if (p.spelling->name != name) continue;
    const bool number = symbolic_.forward().model()[p.value].shape.empty();
    if (number && p.spelling->event_rank == 2 && j != l) return Polynomial();
    return number ? symbolic_.entry(p.value, at_) : symbolic_.entry(p.value, at_, j, l);
  }
  return std::nullopt;
}

Maybe RowFormula::parameter(const std::string& name, std::size_t j, std::size_t l) {
  const model::Parameter* p = spelled(name);
  return p && p->spelling->convert ? value(*p->spelling->convert, j, l) : written(name, j, l);
}

Maybe RowFormula::value(const math::Expr& e, std::size_t j, std::size_t l) {
  return value(e, SumIndices{{math::kFirst.id, j}, {math::kSecond.id, l}});
}

Maybe RowFormula::sum(const math::Sum& s, const SumIndices& at) {
  Maybe out = s.largest ? Maybe() : Polynomial();
  SumIndices inner = at;
  for (std::size_t k = 0; k < extent_ && out; ++k) {
    inner[s.index.id] = k;
    out += value(s.body, inner);
  }
  return out;
}

Maybe RowFormula::value(const math::Expr& e, const SumIndices& at) {
  const auto index_value = [&](const std::vector<math::Index>& indices, std::size_t k) {
    return k < indices.size() ? at.at(indices[k].id) : 0;
  };
  return std::visit(
      Overloaded{[](const math::Number& n) -> Maybe { return constant(n.value); },
                 [&](const math::Symbol& s) -> Maybe {
                   return parameter(s.name, index_value(s.indices, 0), index_value(s.indices, 1));
                 },
                 [&](const math::Add& a) -> Maybe {
                   const Maybe x = value(a.left, at), y = value(a.right, at);
                   return x + y;
                 },
                 [&](const math::Multiply& m) -> Maybe {
                   const Maybe x = value(m.left, at), y = value(m.right, at);
                   return x * y;
                 },
                 [&](const math::Apply& a) -> Maybe {
                   const Maybe x = value(a.argument, at);
                   if (x && a.function == math::Function::reciprocal) return inverse_of(*x);
                   return x && is_constant(*x) ? Maybe(constant(math::value_of(a.function, constant_value(*x))))
                                               : std::nullopt;
                 },
                 [&](const math::Sum& s) -> Maybe { return sum(s, at); },
                 [&](const math::Delta& d) -> Maybe { return constant(at.at(d.left.id) == at.at(d.right.id) ? 1 : 0); },
                 [&](const math::ExtentValue&) -> Maybe { return constant(static_cast<double>(extent_)); },
                 [&](const math::IndexValue& i) -> Maybe { return constant(static_cast<double>(at.at(i.index.id))); },
                 [&](const math::InverseEntry& i) -> Maybe {
                   return i.root ? std::nullopt : inverse_entry(i.matrix, at.at(i.row.id), at.at(i.column.id));
                 },
                 [](const auto&) -> Maybe { return std::nullopt; }},
      e->form);
}

/// The matrix may be written as an inverse, constant, diagonal, or a latent matrix times a common monomial.
Maybe RowFormula::inverse_entry(const std::string& name, std::size_t j, std::size_t l) {
  const model::Parameter* p = spelled(name);
  if (p && p->spelling->convert) {
    const auto* own = std::get_if<math::InverseEntry>(&(*p->spelling->convert)->form);
    return own && own->matrix == p->spelling->name ? written(p->spelling->name, j, l) : std::nullopt;
  }
  const auto n = static_cast<Eigen::Index>(extent_);
  Matrix constants(n, n);
  bool diagonal = true, all_constant = true;
  for (std::size_t a = 0; a < extent_; ++a) {
    for (std::size_t b = 0; b < extent_; ++b) {
      const Maybe x = written(name, a, b);
      if (!x) return std::nullopt;
      diagonal = diagonal && (a == b || x->empty());
      all_constant = all_constant && is_constant(*x);
      if (all_constant) constants(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) = constant_value(*x);
    }
  }
  if (diagonal) return j == l ? inverse_of(*written(name, j, j)) : Maybe(Polynomial());
  if (!all_constant) return inverse_of_atoms(name, j, l);
  const Eigen::LLT<Matrix> factor(constants);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const Matrix inverse = factor.solve(Matrix::Identity(n, n));
  return constant(inverse(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(l)));
}

/// Each entry must be the corresponding number of one latent matrix, times the same monomial.
Maybe RowFormula::inverse_of_atoms(const std::string& name, std::size_t j, std::size_t l) const {
  std::optional<Atom> first;
  Monomial rest;
  for (std::size_t a = 0; a < extent_; ++a) {
    for (std::size_t b = 0; b < extent_; ++b) {
      const Maybe x = written(name, a, b);
      if (!x || x->size() != 1) return std::nullopt;
      Monomial m = (*x)[0];
      const auto is_entry = [&](const Atom& atom) {
        const model::Variable& v = symbolic_.forward().model()[atom.variable];
        return v.event.size() == 2 && atom.kind == Atom::Kind::value &&
               (!first || (atom.variable == first->variable && atom.number == first->number + a * extent_ + b));
      };
      const auto found = std::ranges::find_if(m.atoms, is_entry);
      if (found == m.atoms.end()) return std::nullopt;
      if (!first) first = *found;
      m.atoms.erase(found);
      if (a == 0 && b == 0) rest = m;
      if (m.atoms != rest.atoms || m.coefficient != rest.coefficient) return std::nullopt;
    }
  }
  const Atom entry{first->variable, first->number + j * extent_ + l, Atom::Kind::matrix_inverse};
  return inverse_of(Polynomial{rest}) * Maybe(Polynomial{{1.0, {entry}}});
}

}  // namespace lehr
