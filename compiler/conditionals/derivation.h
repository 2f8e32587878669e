// The derivation written out: for every block its complete conditional and its mean-field update in the
// ordinary parameters of its family, and the terms of the ELBO, each with the lines of the model it came
// from.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/conditionals/formula.h"

namespace lehr::conditionals {

/// One summand and the 1-based lines of the statements it came from, ascending.
struct DerivedPart {
  Formula formula;
  std::vector<int> lines;
};

/// The lines of all parts, ascending, each once.
std::vector<int> all_lines(const std::vector<DerivedPart>& parts);

/// left = (sum of the parts) / divisor. `left` is a parameter, or what of it is linear in the natural
/// parameters: inverse scale, (precision * mean), log odds.
struct Equation {
  bool inverse = false;  // the left side is the inverse of the matrix `left`
  Formula left;
  std::vector<DerivedPart> parts;  // none: 0
  std::optional<Formula> divisor;
};

struct DerivedBlock {
  Formulas elements;  // theta[doc]; of a joint block the mean and the precision
  std::string family;
  bool point = false;                         // the update takes the mode
  std::optional<std::string> chain;           // the ordered plate along which one factor holds all elements
  Formulas chains;                            // what that factor is of: h[seq] where the element is h[seq, t]
  std::string algorithm;                      // that finds it
  std::vector<std::string> sequential;        // plates whose elements are updated one after another
  std::vector<Equation> conditional, update;  // conditional: empty for a variable that is a parameter of a bound
};

struct Derivation {
  std::string model, file;
  std::vector<DerivedBlock> blocks;
  std::vector<DerivedPart> elbo;       // expected terms of the log joint
  std::vector<DerivedPart> entropies;  // of the blocks that are not points
  std::vector<std::string> caveats;    // density::caveats
};

Derivation write_out(const model::Model& model, const Conditionals& conditionals, const Source& source);

}  // namespace lehr::conditionals
