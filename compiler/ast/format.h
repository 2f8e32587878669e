// The one formatting of a model file: what `lehr format` writes.
#pragma once
#include <optional>
#include <string>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// The source in the one formatting, comments kept where they stood; idempotent, and it parses to the same Ast.
/// Nothing when the source does not parse (the errors are in `diagnostics`).
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

}  // namespace lehr
