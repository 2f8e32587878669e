// Expressions of a model as polynomials in its latent numbers.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/evaluate/forward.h"
#include "compiler/fitting/polynomial.h"

namespace lehr {

/// Entries of expressions where the bounds stand. Data and constants have their numbers, latent numbers are atoms, and
/// categories in indices have the values that `forward` has (it says which one it lacked, Forward::unknown; the result
/// is then of no use). Nothing where an expression is no polynomial, or one of too many terms.
class Symbolic {
 public:
  /// It must outlive the object.
  explicit Symbolic(const Forward& forward);

  std::optional<Polynomial> entry(model::ExprId id, const At& at, std::size_t i = 0, std::size_t j = 0) const;

  /// FamilyRow::mean and ::covariance of the element that `s` is about, over its expressions.
  std::optional<Polynomial> mean(const model::Statement& s, const At& at, std::size_t j) const;
  std::optional<Polynomial> covariance(const model::Statement& s, const At& at, std::size_t j, std::size_t l) const;

  /// A canonical parameter, at those event indices.
  std::optional<Polynomial> parameter(const model::Statement& s, const At& at, const std::string& canonical,
                                      std::size_t j = 0, std::size_t l = 0) const;

  /// Whether a latent number stands in it.
  bool is_latent(model::ExprId id) const { return latent_[id.index()]; }
  const Forward& forward() const { return forward_; }

 private:
  std::optional<Polynomial> product(model::ExprId a, model::ExprId b, const At& at, std::size_t n,
                                    std::optional<std::size_t> row) const;
  std::optional<Polynomial> sum(const model::SumOver& s, const At& at, std::size_t i, std::size_t j) const;
  std::optional<Polynomial> binary(const model::Binary& b, const At& at, std::size_t i, std::size_t j) const;
  std::optional<Polynomial> sticks(const model::StickBreaking& s, const At& at, std::size_t i) const;
  Polynomial atom(const model::VariableRef& r, const At& at, std::size_t offset) const;

  const Forward& forward_;
  const model::Model& model_;
  std::vector<bool> latent_;  // by ExprId: a latent number stands under it
};

/// 1 / p; nothing unless p is one monomial.
std::optional<Polynomial> inverse_of(const Polynomial& p);

}  // namespace lehr
