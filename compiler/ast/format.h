// Formats a model file: the work of `lehr format`. There is one formatting and no options; the result depends on the
// tokens, the comments and the empty lines.
#pragma once
#include <optional>
#include <string>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// Returns the source in the standard formatting. Comments stay where they are. Formatting the result again changes
/// nothing, and the result parses to the same Ast. Returns nothing if the source does not parse; the errors are then in
/// `diagnostics`.
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

}  // namespace lehr
