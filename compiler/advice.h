// Notes of diagnostics that propose model text, and a filter that drops proposals which do not work.
//
// A note proposes a declaration by writing it between backticks with a semicolon at its end: `tau ~ Gamma(shape = 1,
// rate = 1);`. The proposal replaces the declaration of the same name, or is added where there is none. The words "in
// the place of 'x'" in a note also remove the declaration of x. Text between backticks without a semicolon proposes
// nothing. A proposal is tested by compiling the changed model up to its schedule before the user sees it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// Returns the declarations that a note proposes, in the order of the text: every part between backticks that ends with
/// a semicolon.
std::vector<std::string> proposed_lines(std::string_view note);

/// Returns the model text after all proposals of `note` are applied to `source`. Returns nothing if `source` or a
/// proposed line does not parse, or if `source` has no declarations.
std::optional<Source> apply_proposals(const Source& source, std::string_view note);

/// Returns the diagnostics without the notes whose proposals fail when they are tried on `source`. A proposal succeeds
/// if the analysis of `source` gives the diagnostic and that of the changed model does not. The changed model must also
/// give no new error, and no new warning of an unused name or of a latent variable that no data reach. Each distinct
/// changed model costs one analysis; notes with changed models beyond the first fifty are dropped untested.
std::vector<Diagnostic> with_tested_proposals(const Diagnostics& diagnostics, const Source& source);

/// Returns the text of the diagnostics for a terminal, with places in `source`, after with_tested_proposals() has
/// dropped the notes whose proposals fail.
std::string render_tested(const Diagnostics& diagnostics, const Source& source);

}  // namespace lehr
