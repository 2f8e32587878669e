// Translates terms of the density to formulas for people.
#pragma once
#include "compiler/conditionals/formula.h"
#include "compiler/conditionals/gather.h"
#include "compiler/density/print_density.h"

namespace lehr::conditionals {

/// How a formula shows the other variables: as their values in a complete conditional, or as expectations under q in a
/// mean-field update.
enum class FormulaMode { conditional, expected };

/// Translates the terms, coefficients and index expressions of a density to formula trees, which are then printed as
/// text, LaTeX or MathML. All formulas of one writer share its names of index variables.
class FormulaWriter {
 public:
  /// Starts with no names given. The arguments must outlive the writer; `a` is the density's algebra or a copy that was
  /// extended.
  FormulaWriter(const model::Model& m, const Conditionals& c, density::Algebra& a, FormulaMode mode)
      : m_(m), c_(c), a_(a), mode_(mode), names_(m, a) {}

  /// Returns the formula of an index variable. The first call for it chooses its name.
  FormulaIndex bound(density::IndexVarId b) { return {names_(b), 0}; }
  /// Translates an index expression, such as t-1 or user[e], to a formula.
  Formula index(density::IndexId i);
  /// Translates a coefficient (a number that depends on data and sizes) to a formula.
  Formula coef(density::CoefId c);
  /// Translates a statistic of one element to a formula; with FormulaMode::expected it is an expectation.
  Formula atom(const density::Atom& x);
  /// Translates a condition of a sum, such as t >= 1, to a formula.
  Formula guard(const density::Guard& g);
  /// Returns a whole term: number * sum(index variables | conditions) product. The names of its own index variables are
  /// free again afterwards.
  Formula term(const density::Term& t);
  /// Returns a summand of a natural parameter, with the condition that a shifted index stays inside its plate.
  Formula summand(const Summand& s);

 private:
  /// Translates several index expressions to formulas.
  Formulas indices(const std::vector<density::IndexId>& list);
  /// Returns the indices over the given plates. Constant elements are shown with the numbers that the model gives them.
  Formulas elements(const std::vector<model::PlateId>& plates, const std::vector<density::IndexId>& list);
  /// Returns the indices of the statistic itself, such as k of [z = k].
  Formulas event_of(const density::Atom& x);
  /// Adds the number of the plate's first element to `to`, the formula of `i`, if `i` is a constant.
  void add_first_number(model::PlateId plate, density::IndexId i, Formula& to);
  /// Returns the plate whose elements the index ranges over, or nothing for a constant or coordinate.
  std::optional<model::PlateId> plate_of(density::IndexId i) const;
  /// Returns the number of a member variable that a coordinate of the joint variable stands for. `axes` is the element
  /// of the joint variable; if it is empty, only the indices within the element are shown.
  FormulaSymbol entry(const Formulas& axes, const density::IndexCoordinate& c);
  /// Returns a statistic of a category with the number that it switches, as [z = k] * x.
  Formula switched(const density::Atom& x);
  /// Returns a statistic of a vector with the precision that scales it, as a product of the members.
  Formula scaled(const density::Atom& x);
  /// Returns precision * mean or mean' * precision * mean of a joint block.
  Formula weighted(const density::Atom& x, const FormulaSymbol& precision, const Formulas& event);
  /// Translates an entry of a data array to a formula.
  Formula source(const density::DataSource& s, const std::vector<density::IndexId>& list);
  /// Returns the number of elements of a plate, or of one row of a nested plate.
  Formula extent(model::PlateId plate, std::optional<density::IndexId> row);
  /// Translates a whole term to a formula, with further factors inside its sum.
  Formula term_with_factors(const density::Term& t, Formulas extra);

  /// The model, from which names are read.
  const model::Model& m_;
  /// The blocks, which say what is joint and what is a chain.
  const Conditionals& c_;
  /// The algebra that stores the expressions.
  density::Algebra& a_;
  /// Whether other variables are shown as values or as expectations.
  FormulaMode mode_;
  /// The names of index variables that were chosen so far.
  density::Names names_;
};

}  // namespace lehr::conditionals
