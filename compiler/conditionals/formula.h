// Formulas for people: the tree that `lehr derive` prints as text, as LaTeX and as MathML. Nothing computes with it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/math/function.h"

namespace lehr::conditionals {

struct Formula;
using Formulas = std::vector<Formula>;

struct FormulaNumber {
  double value = 0;
};
/// A name of the model or of a family with plate indices and event indices: `theta[doc][topic]`.
struct FormulaSymbol {
  std::string name;
  Formulas axes, event;
};
/// `t`, `t-1`: a bound index, which may have been moved.
struct FormulaIndex {
  std::string bound;
  std::int64_t offset = 0;
};
struct FormulaAdd {
  Formulas parts;
};
/// A product; factors that are reciprocals stand below the line.
struct FormulaMultiply {
  Formulas factors;
};
struct FormulaApply {
  math::Function function;
  Formulas argument;
};  // one
struct FormulaSquare {
  Formulas base;
};  // one
/// Sum over `bounds` where all `conditions` hold; binds one product.
struct FormulaSum {
  std::vector<std::string> bounds;
  Formulas conditions;
  Formulas body;
};
/// `left sign right`: 1 where it holds, else 0, when it stands as a factor.
struct FormulaRelation {
  Formulas sides;
  std::string sign;
};  // two
/// present(x[n]): 1 where the value was observed.
struct FormulaPresent {
  Formulas element;
};
/// Of a product; several relations together are the probability that all of them hold.
struct FormulaExpectation {
  Formulas body;
};
struct FormulaEntropy {
  Formulas elements;
};
struct FormulaSize {
  std::string plate;
  Formulas row;
};  // row: none or one
struct FormulaInverse {
  Formulas matrix;
  Formulas indices;
};  // one, two
/// mean' * precision * mean and precision * mean of a joint block.
struct FormulaQuadratic {
  Formulas precision, mean, event;
  bool square = false;
};

struct Formula {
  std::variant<FormulaNumber, FormulaSymbol, FormulaIndex, FormulaAdd, FormulaMultiply, FormulaApply, FormulaSquare,
               FormulaSum, FormulaRelation, FormulaPresent, FormulaExpectation, FormulaEntropy, FormulaSize,
               FormulaInverse, FormulaQuadratic>
      form;
};

/// A product with its numbers multiplied in front; 1 is left out, and so is a product around a single factor.
Formula product(Formulas factors);
/// A summand as it stands behind a sign: a sum in brackets.
std::string summand_text(const Formula& f);
std::string summand_latex(const Formula& f);
std::string summand_mathml(const Formula& f);
/// `f` without its leading minus, when it has one.
bool take_minus(Formula& f);

/// In the language's own notation: `sum(doc, token) E[z[doc, token] = topic]`.
std::string text(const Formula& f);
/// Math-mode LaTeX; names that are Greek letters are set as such, others are escaped.
std::string latex(const Formula& f);
/// Presentation MathML, without its outer `math`.
std::string mathml(const Formula& f);
/// A name alone in LaTeX's math mode, and in MathML.
std::string latex_name(const std::string& name);
std::string mathml_name(const std::string& name);
/// A function in MathML, a format string with the place holders of math::FunctionRow.
std::string_view mathml_of(math::Function f);

}  // namespace lehr::conditionals
