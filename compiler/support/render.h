// Diagnostics as text, whatever run they are of.
#pragma once
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// As render() of Diagnostics.
std::string render(const std::vector<Diagnostic>& diagnostics, const Source& source, std::size_t most = 20);

}  // namespace lehr
