// Formulas for people: the tree that `lehr derive` prints as text, as LaTeX and as MathML.
//
// Nothing computes with these trees. A node holds its children in vectors, because the type is recursive; the comments
// say how many children there are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/math/function.h"

namespace lehr::conditionals {

struct Formula;
/// A list of formulas.
using Formulas = std::vector<Formula>;

/// A number.
struct FormulaNumber {
  double value = 0;  // the number
};
/// A name of the model or of a family with indices: `theta[doc][topic]`.
struct FormulaSymbol {
  /// The name.
  std::string name;
  /// The indices over plates, and the indices over the axes of a vector or matrix value.
  Formulas axes, event;
};
/// An index variable plus an offset: `t`, `t-1`.
struct FormulaIndex {
  /// The name of the index variable.
  std::string bound;
  /// The number that is added to it.
  std::int64_t offset = 0;
};
/// A sum of any number of parts; without parts it is 0.
struct FormulaAdd {
  Formulas parts;  // the summands
};
/// A product. Factors that are reciprocals are printed in the denominator.
struct FormulaMultiply {
  Formulas factors;  // the factors
};
/// A function of one argument.
struct FormulaApply {
  /// The function.
  math::Function function;
  /// Its argument: one formula.
  Formulas argument;
};
/// A square.
struct FormulaSquare {
  Formulas base;  // what is squared: one formula
};
/// The sum of the body over all values of the index variables for which all conditions are true.
struct FormulaSum {
  /// The names of the index variables.
  std::vector<std::string> bounds;
  /// The conditions.
  Formulas conditions;
  /// What is added up: one formula. A sum of several parts is printed in brackets.
  Formulas body;
};
/// A relation of two formulas. As a factor it is 1 where it is true and 0 elsewhere (an Iverson bracket).
struct FormulaRelation {
  /// The left and the right side: two formulas.
  Formulas sides;
  /// The sign between them: "=", "!=", "<" or ">=".
  std::string sign;
};
/// The condition present(x[n]). As a factor it is 1 where the value was observed and 0 elsewhere.
struct FormulaPresent {
  Formulas element;  // the element: one formula
};
/// The expectation under q of a product. Several relations in it are the probability that all of them are true.
struct FormulaExpectation {
  Formulas body;  // the factors
};
/// The entropy of a factor, H[q(...)].
struct FormulaEntropy {
  Formulas elements;  // the elements that the factor covers
};
/// The number of elements of a plate.
struct FormulaSize {
  /// The name of the plate.
  std::string plate;
  /// For a nested plate the element of its parent, one formula; else empty.
  Formulas row;
};
/// An entry of the inverse of a matrix.
struct FormulaInverse {
  /// The matrix: one formula.
  Formulas matrix;
  /// The row and the column: two formulas.
  Formulas indices;
};
/// A product of a joint block's precision and mean: mean' * precision * mean, or (precision * mean)[event].
struct FormulaQuadratic {
  /// The precision and the mean, one formula each, and the indices of the entry.
  Formulas precision, mean, event;
  /// True for mean' * precision * mean.
  bool square = false;
};

/// A node of the tree.
struct Formula {
  /// What the node is, with its children.
  std::variant<FormulaNumber, FormulaSymbol, FormulaIndex, FormulaAdd, FormulaMultiply, FormulaApply, FormulaSquare,
               FormulaSum, FormulaRelation, FormulaPresent, FormulaExpectation, FormulaEntropy, FormulaSize,
               FormulaInverse, FormulaQuadratic>
      form;
};

/// Returns the product of the factors, with all numbers multiplied into one number in front. A 1 is left out, and one
/// remaining factor is returned as it is.
Formula product(Formulas factors);
/// Returns the plain text of a summand as it follows a plus or minus sign: a sum gets brackets.
std::string summand_text(const Formula& f);
/// Returns the LaTeX of a summand as it follows a plus or minus sign: a sum gets brackets.
std::string summand_latex(const Formula& f);
/// Returns the MathML of a summand as it follows a plus or minus sign: a sum gets brackets.
std::string summand_mathml(const Formula& f);
/// Removes a leading minus sign from `f`, and returns true if there was one.
bool take_minus(Formula& f);

/// Returns a formula in the notation of the model language: `sum(doc, token) E[z[doc, token] = topic]`.
std::string text(const Formula& f);
/// Returns a formula as LaTeX for math mode. Names of Greek letters become letters; other names are escaped.
std::string latex(const Formula& f);
/// Returns a formula as presentation MathML, without the enclosing `math` element.
std::string mathml(const Formula& f);
/// Returns a name as LaTeX for math mode.
std::string latex_name(const std::string& name);
/// Returns a name as MathML.
std::string mathml_name(const std::string& name);
/// Returns a function in MathML, as a format string with the place holders of math::FunctionRow.
std::string_view mathml_of(math::Function f);

}  // namespace lehr::conditionals
