// Translates terms of the density to formulas for people.
#pragma once
#include "compiler/conditionals/formula.h"
#include "compiler/conditionals/gather.h"
#include "compiler/density/print_density.h"

namespace lehr::conditionals {

/// How a formula shows the other variables: as their values in a complete conditional, or as expectations under q in a
/// mean-field update.
enum class FormulaMode { conditional, expected };

/// Translates the terms, coefficients and index expressions of a density to formula trees for `lehr derive`, which are
/// then printed as text, LaTeX or MathML. All formulas of one writer share its names of index variables.
class FormulaWriter {
 public:
  /// Makes a writer that has named no index variable yet. The arguments must outlive it; `a` is the density's algebra
  /// or a copy that was extended. `mode`: whether statistics stand as values or as expectations.
  FormulaWriter(const model::Model& m, const Conditionals& c, density::Algebra& a, FormulaMode mode)
      : m_(m), c_(c), a_(a), mode_(mode), names_(m, a) {}

  /// Returns an index variable as a formula, by its printed name. The first call for it chooses the name: that of its
  /// plate, with a prime if another variable has it.
  FormulaIndex bound(density::IndexVarId b) { return {names_(b), 0}; }
  /// Translates an index expression, such as t-1 or user[e], to a formula.
  Formula index(density::IndexId i);
  /// Translates a coefficient (a number that depends on data and sizes) to a formula.
  Formula coef(density::CoefId c);
  /// Translates a statistic of one element to a formula; with FormulaMode::expected it is an expectation.
  Formula atom(const density::Atom& x);
  /// Translates a condition of a sum, such as t >= 1, to a formula.
  Formula guard(const density::Guard& g);
  /// Translates a whole term to the formula number * sum(index variables | conditions) product. The names of the index
  /// variables that it sums over are free again afterwards.
  Formula term(const density::Term& t);
  /// Translates a summand of a natural parameter to a formula. A shifted index t+1 adds the factor [t+1 < size(t)],
  /// which is 0 behind the end of the plate.
  Formula summand(const Summand& s);

 private:
  /// Translates several index expressions to formulas.
  Formulas indices(const std::vector<density::IndexId>& list);
  /// Translates the indices `list` over `plates`. Constant elements are shown with the numbers that the user gives
  /// them, from Plate::from on.
  Formulas elements(const std::vector<model::PlateId>& plates, const std::vector<density::IndexId>& list);
  /// Returns the indices of the statistic itself, such as k of [z = k].
  Formulas event_of(const density::Atom& x);
  /// If `i` is a constant element, adds Plate::from to its formula `to`, since users number elements from there.
  void add_first_number(model::PlateId plate, density::IndexId i, Formula& to);
  /// Returns the plate whose elements the index ranges over, or nothing for a constant or coordinate.
  std::optional<model::PlateId> plate_of(density::IndexId i) const;
  /// Returns the scalar of a member variable, such as b[k, j], that the coordinate `c` of a joint variable stands for.
  /// `axes` is the element of the joint variable; if it is empty, only the indices within the element are shown.
  FormulaSymbol entry(const Formulas& axes, const density::IndexCoordinate& c);
  /// Translates a statistic of a joint variable of a category z and the number x that it switches, as [z = k] * x.
  Formula switched(const density::Atom& x);
  /// Translates a statistic of a joint variable of a vector and the precision that scales it, as a product of members:
  /// tau * b[j].
  Formula scaled(const density::Atom& x);
  /// Translates a statistic of a mean and its precision in one factor: precision * mean (entry `event`), or
  /// mean' * precision * mean.
  Formula weighted(const density::Atom& x, const FormulaSymbol& precision, const Formulas& event);
  /// Translates an entry of a data array to a formula, with the indices `list`: x[n, j].
  Formula source(const density::DataSource& s, const std::vector<density::IndexId>& list);
  /// Returns the formula size(plate) of the number of elements of a plate, or of one row of a nested plate.
  Formula extent(model::PlateId plate, std::optional<density::IndexId> row);
  /// Translates a whole term to a formula; the factors `extra` are put inside its sum, behind its own.
  Formula term_with_factors(const density::Term& t, Formulas extra);

  /// The model, from which names are read.
  const model::Model& m_;
  /// The conditionals, whose blocks say what is joint and what is a chain.
  const Conditionals& c_;
  /// The algebra that stores the expressions.
  density::Algebra& a_;
  /// Whether other variables are shown as values or as expectations.
  FormulaMode mode_;
  /// The names of index variables that were chosen so far.
  density::Names names_;
};

}  // namespace lehr::conditionals
