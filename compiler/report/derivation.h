// The derivation of a model's updates as HTML with formulas in MathML, which browsers typeset without a script.
#pragma once
#include <string_view>

#include "compiler/conditionals/derivation.h"
#include "compiler/report/markup.h"

namespace lehr::report {

/// Returns the derivation of a model's updates as a piece of HTML: for each block of variables its complete conditional
/// and its variational update, and the ELBO. Each summand has the numbers of the model lines that it comes from.
Markup derivation(const conditionals::Derivation& d);
/// Returns the text of a model as HTML with numbered lines, to which the derivation refers.
Markup listing(std::string_view text);
/// Returns a complete HTML page with the model listing and the derivation: the output of `lehr derive --format html`.
std::string derivation_page(const conditionals::Derivation& d, std::string_view text);

}  // namespace lehr::report
