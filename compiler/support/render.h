// Renders a list of diagnostics as text. The list may come from one stage or from several runs of the compiler;
// diagnostic.h has the function for one run.
#pragma once
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// Formats diagnostics about a model file, all of which must have a span, as render(const Diagnostics&, ...) does:
/// sorted by span, duplicates once, at most `most` of each severity.
std::string render(const std::vector<Diagnostic>& diagnostics, const Source& source, std::size_t most = 20);

}  // namespace lehr
