// Writes declarations in the notation of the language, for messages that propose a change. A test checks that proposed
// lines parse.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/model/model.h"

namespace lehr {

/// Returns a statement as the user could type it, for messages that propose a change: `observe x[n] ~ Normal(mean = mu,
/// precision = tau);`, with its limits and all parts of a mixture. If `part` points to one of the statement's
/// distributions, `text` stands in its place.
std::string statement_text(const model::Model& m, const model::Statement& s, const model::Distribution* part = nullptr,
                           const std::string& text = "");

/// Returns the declaration of a plate as the user could type it, with all its clauses: `plate year in site ordered from
/// 1851;`.
std::string plate_text(const model::Model& m, const model::Plate& plate);

/// Returns the declaration of a plate as the user could type it, but with `from` as the number of its first element:
/// `plate year from 1851;`. Messages propose it where data count from another number.
std::string plate_text_from(const model::Model& m, model::Plate plate, std::int64_t from);

}  // namespace lehr
