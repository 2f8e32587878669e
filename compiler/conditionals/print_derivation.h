// Prints a derivation in the formats of `lehr derive`: text, LaTeX and JSON.
#pragma once
#include <string>

#include "compiler/conditionals/derivation.h"

namespace lehr::conditionals {

/// Returns the derivation as text for the terminal. An equation takes one line, or a line for each summand if it is
/// long. The lines of the model stand in a column beside it.
std::string print_text(const Derivation& d);
/// Returns the derivation as a complete LaTeX document, which pdflatex compiles (article, amsmath, amssymb).
std::string print_latex(const Derivation& d);
/// Returns the derivation as JSON: {"model", "file", "blocks": [{"variable", "family", "point", "chain", "algorithm",
/// "sequential", "conditional": [equation], "update": [equation]}], "elbo": [{"expression", "lines"}], "entropies":
/// [...], "caveats": [text]}. An equation is {"parameter", "expression", "lines"}.
std::string print_json(const Derivation& d);

}  // namespace lehr::conditionals
