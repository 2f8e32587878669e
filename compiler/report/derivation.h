// A derivation in mathematics: MathML, which browsers set by themselves.
#pragma once
#include <string_view>

#include "compiler/conditionals/derivation.h"
#include "compiler/report/markup.h"

namespace lehr::report {

/// Every block and the ELBO, each summand with the lines of the model that it came from.
Markup derivation(const conditionals::Derivation& d);
/// The text of a model with its lines numbered.
Markup listing(std::string_view text);
/// A page of both: `lehr derive` as HTML.
std::string derivation_page(const conditionals::Derivation& d, std::string_view text);

}  // namespace lehr::report
