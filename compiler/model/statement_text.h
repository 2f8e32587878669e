// Declarations as the language writes them, for messages that propose others.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/model/model.h"

namespace lehr {

/// `observe x[n] ~ Normal(mean = mu, precision = tau);`, with its limits and all parts of a mixture. `text` stands in
/// the place of `part`, one of the statement's distributions, where that is given.
std::string statement_text(const model::Model& m, const model::Statement& s, const model::Distribution* part = nullptr,
                           const std::string& text = "");

/// `plate year in site ordered from 1851;`, all that the plate is declared with.
std::string plate_text(const model::Model& m, const model::Plate& plate);

/// The same with elements that are numbered from another number.
std::string plate_text_from(const model::Model& m, model::Plate plate, std::int64_t from);

}  // namespace lehr
