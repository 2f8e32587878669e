// From terms of the density to formulas for people. One writer serves one scope of names.
#pragma once
#include "compiler/conditionals/formula.h"
#include "compiler/conditionals/gather.h"
#include "compiler/density/print_density.h"

namespace lehr::conditionals {

/// Whether other variables stand as their values (a complete conditional) or as expectations under q.
enum class Mode { conditional, expected };

class FormulaWriter {
 public:
  /// `joint_mean[v]`: the mean that shares a block with the precision v (Block::mean).
  FormulaWriter(const model::Model& m, const Conditionals& c, density::Algebra& a, Mode mode)
      : m_(m), c_(c), a_(a), mode_(mode), names_(m, a) {}

  FormulaIndex bound(density::BoundId b) { return {names_(b), 0}; }
  Formula index(density::IndexId i);
  Formula coef(density::CoefId c);
  Formula atom(const density::Atom& x);
  Formula guard(const density::Guard& g);
  /// number * sum(bounds | conditions) product; bounds of the term get names that are free in this scope.
  Formula term(const density::Term& t);
  Formula summand(const Summand& s);

 private:
  Formulas indices(const std::vector<density::IndexId>& list);
  /// Elements of these plates; numbers are those that the model has for them.
  Formulas elements(const std::vector<model::PlateId>& plates, const std::vector<density::IndexId>& list);
  Formulas event_of(const density::Atom& x);
  void count_from(model::PlateId plate, density::IndexId i, Formula& to);
  /// Whose elements the index ranges over; nothing where that is not known.
  std::optional<model::PlateId> plate_of(density::IndexId i) const;
  /// The number of a member that a coordinate of the joint element at `axes` is; without them its place in an element.
  FormulaSymbol entry(const Formulas& axes, const density::IndexCoordinate& c);
  /// A statistic of a category and the number that it switches.
  Formula switched(const density::Atom& x);
  Formula scaled(const density::Atom& x);
  Formula weighted(const density::Atom& x, const FormulaSymbol& precision, const Formulas& event);
  Formula source(const density::DataSource& s, const std::vector<density::IndexId>& list);
  Formula extent(model::PlateId plate, std::optional<density::IndexId> row);
  Formula term_with(const density::Term& t, Formulas extra);

  const model::Model& m_;
  const Conditionals& c_;
  density::Algebra& a_;
  Mode mode_;
  density::Names names_;
};

}  // namespace lehr::conditionals
