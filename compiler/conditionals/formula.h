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
/// A list of printed formulas (Formula), such as the children of a node.
using Formulas = std::vector<Formula>;

/// A node of a printed formula that is a number, such as 0.5.
struct FormulaNumber {
  double value = 0;  // the number, which may be negative
};
/// A node of a printed formula that is a name with indices, of the model or of a family: `theta[doc][topic]`.
struct FormulaSymbol {
  /// The name of a variable, data array, constant or parameter.
  std::string name;
  /// The indices over plates, then those over the axes of a vector or matrix value.
  Formulas axes, event;
};
/// A node of a printed formula that is an index variable plus an offset: `t`, `t-1`.
struct FormulaIndex {
  /// The name of the index variable, such as t.
  std::string bound;
  /// The number that is added to the index variable, -1 in t-1.
  std::int64_t offset = 0;
};
/// A node of a printed formula that is a sum of any number of parts; without parts it is 0.
struct FormulaAdd {
  Formulas parts;  // the summands
};
/// A node of a printed formula that is a product. Factors that are reciprocals are printed in the denominator.
struct FormulaMultiply {
  Formulas factors;  // what is multiplied, in the order of printing; product() puts the number first
};
/// A node of a printed formula that is a function of one argument, such as log x.
struct FormulaApply {
  /// The function that is applied.
  math::Function function;
  /// The argument of the function: one formula.
  Formulas argument;
};
/// A node of a printed formula that is the square of a formula.
struct FormulaSquare {
  Formulas base;  // what is squared: one formula
};
/// A node of a printed formula that is the sum of the body over all values of the index variables for which all
/// conditions are true.
struct FormulaSum {
  /// The names of the index variables that are summed over.
  std::vector<std::string> index_vars;
  /// The conditions that limit the values of the index variables.
  Formulas conditions;
  /// What is added up: one formula. A sum of several parts is printed in brackets.
  Formulas body;
};
/// A node of a printed formula that relates two formulas, as in z[n] = k. As a factor it is 1 where it is true and 0
/// elsewhere (an Iverson bracket).
struct FormulaRelation {
  /// The left and the right side of the relation: two formulas.
  Formulas sides;
  /// The sign between the two sides: "=", "!=", "<" or ">=".
  std::string sign;
};
/// A node of a printed formula: the condition present(x[n]) that the data have a value of x[n]. As a factor it is 1
/// where they do and 0 elsewhere.
struct FormulaPresent {
  Formulas element;  // the element x[n]: one formula
};
/// A node of a printed formula: the expectation of a product under the variational posterior q. Several relations in it
/// are the probability that all of them are true.
struct FormulaExpectation {
  Formulas body;  // the factors of the product
};
/// A node of a printed formula that is the entropy of a variational factor, H[q(...)].
struct FormulaEntropy {
  Formulas elements;  // the elements that the factor covers
};
/// A node of a printed formula that is the number of elements of a plate.
struct FormulaSize {
  /// The name of the plate whose elements are counted.
  std::string plate;
  /// For a nested plate the element of its parent, one formula; else empty.
  Formulas row;
};
/// A node of a printed formula that is one entry of the inverse of a matrix.
struct FormulaInverse {
  /// The matrix that is inverted: one formula.
  Formulas matrix;
  /// The row and the column of the entry: two formulas.
  Formulas indices;
};
/// A node of a printed formula that is a product of a precision and a mean that share a variational factor: mean' *
/// precision * mean, or (precision * mean)[event].
struct FormulaQuadratic {
  /// The precision and the mean, one formula each, and the indices of the entry of their product.
  Formulas precision, mean, event;
  /// True for mean' * precision * mean, false for an entry of precision * mean.
  bool square = false;
};

/// A formula as `lehr derive` and reports print it, in plain text, LaTeX or MathML: a node of a tree, with its
/// children.
struct Formula {
  /// The kind of the node, with its children.
  std::variant<FormulaNumber, FormulaSymbol, FormulaIndex, FormulaAdd, FormulaMultiply, FormulaApply, FormulaSquare,
               FormulaSum, FormulaRelation, FormulaPresent, FormulaExpectation, FormulaEntropy, FormulaSize,
               FormulaInverse, FormulaQuadratic>
      form;
};

/// Returns the product of the factors as a formula for printing: nested products are flattened, and all numbers
/// multiplied into one number in front. A 1 is left out, and one remaining factor is returned as it is. The product is
/// 0 if a number is 0, and 1 without factors.
Formula product(Formulas factors);
/// Returns the plain text of a formula that follows a plus or minus sign. An addition (FormulaAdd) is put in brackets.
/// A sum over index variables (FormulaSum) is not.
std::string summand_text(const Formula& f);
/// Returns the LaTeX of a formula that follows a plus or minus sign. An addition (FormulaAdd) is put in brackets.
std::string summand_latex(const Formula& f);
/// Returns the MathML of a formula that follows a plus or minus sign. An addition (FormulaAdd) is put in brackets.
std::string summand_mathml(const Formula& f);
/// Removes the leading minus sign from `f`, and returns true if there was one, so that a sum prints `a - b` for `a +
/// -b`. It is the sign of a negative number, or of one in front of a product.
bool take_minus(Formula& f);

/// Returns a formula in the notation of the model language: `sum(doc, token) E[z[doc, token] = topic]`.
std::string text(const Formula& f);
/// Returns a formula as LaTeX for math mode. Names of Greek letters become letters; other names are escaped.
std::string latex(const Formula& f);
/// Returns a formula as presentation MathML, without the enclosing `math` element.
std::string mathml(const Formula& f);
/// Returns a name of the model as LaTeX for math mode: Greek letters as such, digits at the end as a subscript.
std::string latex_name(const std::string& name);
/// Returns a name of the model as MathML: Greek letters as such, digits at the end as a subscript.
std::string mathml_name(const std::string& name);
/// Returns how a call of a function such as log is written in MathML: a format string in which {0} stands for the
/// argument, {1} for the argument in brackets, and {2} to {4} for it in brackets where needed (math::FunctionRow).
std::string_view mathml_of(math::Function f);

}  // namespace lehr::conditionals
