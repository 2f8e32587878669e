// The three forms of `lehr derive`.
#pragma once
#include <string>

#include "compiler/conditionals/derivation.h"

namespace lehr::conditionals {

/// For the terminal: one equation a line, long sums one summand a line, each with its lines of the model.
std::string print_text(const Derivation& d);
/// A document of its own that pdflatex compiles (article, amsmath, amssymb).
std::string print_latex(const Derivation& d);
/// {"model", "file", "blocks": [{"variable", "family", "point", "chain", "algorithm", "sequential", "conditional":
/// [equation], "update": [equation]}], "elbo": [{"expression", "lines"}], "entropies": [...]}; an equation is
/// {"parameter", "expression", "lines"}.
std::string print_json(const Derivation& d);

}  // namespace lehr::conditionals
