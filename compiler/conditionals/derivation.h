// The derivation of a model as formulas for people (`lehr derive`).
//
// For every block it has the complete conditional and the mean-field update, in the ordinary parameters of its family.
// The terms of the ELBO follow. Every summand has the lines of the model that it comes from.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/conditionals/formula.h"

namespace lehr::conditionals {

/// One summand of an equation or of the ELBO.
struct DerivedPart {
  /// The summand.
  Formula formula;
  /// The lines of the model file that it comes from, counted from 1, ascending.
  std::vector<int> lines;
};

/// Returns the lines of all parts, ascending, each once.
std::vector<int> all_lines(const std::vector<DerivedPart>& parts);

/// The equation left = (sum of the parts) / divisor. The left side is a parameter of the factor, or a quantity that is
/// linear in its natural parameters: an inverse scale, precision * mean, log odds.
struct Equation {
  /// True if the left side is the inverse of the matrix `left`.
  bool inverse = false;
  /// The left side of the equation.
  Formula left;
  /// The summands of the right side; none means 0.
  std::vector<DerivedPart> parts;
  /// What the sum on the right side is divided by; none means 1.
  std::optional<Formula> divisor;
};

/// The derivation of one block.
struct DerivedBlock {
  /// The element that the equations are for: theta[doc]. A joint block has two, the mean and the precision.
  Formulas elements;
  /// The name of the family.
  std::string family;
  /// True if the update takes the mode of the family (MAP).
  bool point = false;
  /// The name of the ordered plate along which one factor covers all elements; none if each element has a factor.
  std::optional<std::string> chain;
  /// The sequence that such a factor covers: h[seq] where the element is h[seq, t].
  Formulas chains;
  /// The name of the algorithm that computes it: "forward-backward" or "Kalman smoothing".
  std::string algorithm;
  /// The plates whose elements are updated one after another.
  std::vector<std::string> sequential;
  /// The equations of the complete conditional (empty for the tangent point of a bound) and of the mean-field update.
  std::vector<Equation> conditional, update;
};

/// The derivation of a model.
struct Derivation {
  /// The names of the model and of its file.
  std::string model, file;
  /// The blocks, in order of declaration.
  std::vector<DerivedBlock> blocks;
  /// The summands of E_q[log joint].
  std::vector<DerivedPart> elbo;
  /// The entropies of the blocks that are not points; with `elbo` they make the ELBO.
  std::vector<DerivedPart> entropies;
  /// The remarks of density::caveats.
  std::vector<std::string> caveats;
};

/// Writes out the derivation of all blocks and of the ELBO. `source` is the model file, for line numbers.
Derivation write_out(const model::Model& model, const Conditionals& conditionals, const Source& source);

}  // namespace lehr::conditionals
