// A formula of a family's row over the expressions that a model writes for its parameters.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/fitting/symbolic.h"
#include "compiler/math/expr.h"

namespace lehr {

/// As Symbolic: nothing where there is no polynomial.
class RowFormula {
 public:
  /// Of the element that `s` is about at `at`; all must outlive the object.
  RowFormula(const Symbolic& symbolic, const model::Statement& s, const At& at);

  /// With the event indices kFirst and kSecond at j and l.
  std::optional<Polynomial> value(const math::Expr& e, std::size_t j, std::size_t l);
  std::optional<Polynomial> parameter(const std::string& canonical, std::size_t j, std::size_t l);

 private:
  using IndexValues = std::map<int, std::size_t>;  // where the indices stand

  std::optional<Polynomial> value(const math::Expr& e, const IndexValues& at);
  std::optional<Polynomial> sum(const math::Sum& s, const IndexValues& at);
  std::optional<Polynomial> written(const std::string& name, std::size_t j, std::size_t l) const;
  std::optional<Polynomial> inverse_entry(const std::string& name, std::size_t j, std::size_t l);
  std::optional<Polynomial> inverse_of_atoms(const std::string& name, std::size_t j, std::size_t l) const;
  const model::Parameter* spelled(const std::string& canonical) const;

  const Symbolic& symbolic_;
  const model::Distribution& distribution_;
  const At& at_;
  std::size_t extent_;
};

}  // namespace lehr
