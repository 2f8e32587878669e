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

/// One summand of an equation or of the ELBO that `lehr derive` prints, with the lines of the model that it comes from.
struct DerivedPart {
  /// The summand as a formula.
  Formula formula;
  /// The lines of the model file that it comes from, counted from 1, ascending. None for a summand of the family's own
  /// formula, which mentions other parameters.
  std::vector<int> lines;
};

/// Returns the lines of the model that the summands come from, ascending, each once. They are printed beside an
/// equation.
std::vector<int> all_lines(const std::vector<DerivedPart>& parts);

/// An equation that `lehr derive` prints for a block: left = (sum of the parts) / divisor. The left side is a parameter
/// of the factor, or a quantity that is linear in its natural parameters: an inverse scale, precision * mean, log odds.
/// For a chain it is a log potential, or a block of the precision matrix of the whole sequence.
struct Equation {
  /// True if the left side is the inverse of the matrix `left`.
  bool inverse = false;
  /// The left side of the equation: a parameter, or a quantity that is linear in the natural parameters.
  Formula left;
  /// The summands on the right side of the equation; none means 0.
  std::vector<DerivedPart> parts;
  /// What the sum on the right side is divided by; none means 1.
  std::optional<Formula> divisor;
};

/// What `lehr derive` prints of one block of latent variables: its complete conditional and its mean-field update.
struct DerivedBlock {
  /// The element that the equations are for: theta[doc]. A joint block has two, the mean and the precision.
  Formulas elements;
  /// The name of the family of the block's factor, such as Gamma.
  std::string family;
  /// True if the factor is a single value: the update takes the mode of the family (MAP), or the tangent point of a
  /// local bound.
  bool point = false;
  /// The name of the ordered plate along which one factor covers all elements; none if each element has a factor.
  std::optional<std::string> chain;
  /// If one factor covers a whole sequence, that sequence: h[seq] where the element is h[seq, t]. Empty if each element
  /// has a factor.
  Formulas chains;
  /// If one factor covers a whole sequence, the name of the algorithm that computes it: "forward-backward" or "Kalman
  /// smoothing". Empty if each element has a factor.
  std::string algorithm;
  /// If the compiler chose a joint factor without a `guide joint`: the lines of the model whose terms have products of
  /// numbers of the factor, which are the reason; else empty.
  std::vector<int> chosen_for;
  /// The names of the plates along which elements are updated one after another, as they share terms; without the plate
  /// of a chain.
  std::vector<std::string> sequential;
  /// The equations of the complete conditional (empty for the tangent point of a bound) and of the mean-field update.
  std::vector<Equation> conditional, update;
};

/// Returns in words why the compiler chose a joint factor for the block, as a clause that begins with a small letter;
/// empty if it did not choose one.
std::string why_joint(const DerivedBlock& block);

/// The derivation of a whole model that `lehr derive` and reports print: the conditionals and updates of all blocks,
/// and the ELBO.
struct Derivation {
  /// The names of the model and of its file.
  std::string model, file;
  /// The derivations of the blocks, in order of declaration.
  std::vector<DerivedBlock> blocks;
  /// The summands of the expected log joint under q, the first part of the ELBO.
  std::vector<DerivedPart> elbo;
  /// The entropies of the blocks that are not points, the second part of the ELBO.
  std::vector<DerivedPart> entropies;
  /// Notes on how the ELBO differs from a true one (density::elbo_notes).
  std::vector<Diagnostic> elbo_notes;
  /// The transformations that leave the likelihood alone, in words (schedule::describe). The caller fills them in.
  std::vector<std::string> invariances = {};
};

/// Returns the derivation of all blocks and of the ELBO as formulas, for `lehr derive` and reports. `source` is the
/// model file, for line numbers. Derivation::invariances stays empty.
Derivation derivation_of(const model::Model& model, const Conditionals& conditionals, const Source& source);

}  // namespace lehr::conditionals
