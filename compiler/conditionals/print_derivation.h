// Prints a derivation in the formats of `lehr derive`: text, LaTeX and JSON.
#pragma once
#include <string>

#include "compiler/conditionals/derivation.h"

namespace lehr::conditionals {

/// Returns the derivation of a model as text for the terminal, the default of `lehr derive`. An equation takes one
/// line, or a line for each summand if it is long. The numbers of the model's lines stand in a column beside it.
std::string print_text(const Derivation& d);
/// Returns the derivation of a model as a complete LaTeX document for `lehr derive --format latex`, which pdflatex
/// compiles (article, amsmath, amssymb).
std::string print_latex(const Derivation& d);
/// Returns the derivation of a model as one JSON object for `lehr derive --format json`, indented by two blanks, with a
/// newline at the end:
///
///    {"model": name, "file": name, "blocks": [block], "elbo": [summand], "entropies": [summand],
///     "elbo_notes": [text], "invariances": [text]}
///    block     {"variable": text, "family": name, "point": bool, "chain": plate or null, "algorithm": name or null,
///               "sequential": [plate], "why": text, "conditional": [equation], "update": [equation]}
///    equation  {"parameter": text, "expression": text, "lines": [number]}
///    summand   {"expression": text, "lines": [number]}
///
/// There is one block for each variable or joint factor. `point` is true if the update takes the mode. `chain` and
/// `algorithm` are null unless one factor covers a whole sequence. `why` says why the compiler chose a joint factor,
/// and is empty if it did not. `elbo` has the summands of the expected log joint, `elbo_notes` how the ELBO differs
/// from a true one, and `invariances` what leaves the likelihood alone. Expressions are written as in
/// print_text(); `lines` are lines of the model file, from 1.
std::string print_json(const Derivation& d);

}  // namespace lehr::conditionals
