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

/// Returns the declarations of model text that a note of a diagnostic proposes to the user, in the order of the text:
/// every part between backticks that ends with a semicolon. Empty if the note proposes none.
std::vector<std::string> proposed_lines(std::string_view note);

/// Returns the model text as it would be if the user followed a note of a diagnostic, to try the note before it is
/// shown. Each declaration that the note proposes (proposed_lines) replaces the one of the same name, or is added at
/// the end. The words "in the place of 'x'" also remove the declaration of x. Returns nothing if `source` or a proposed
/// line does not parse, if such a line is not exactly one declaration, or if `source` has no declarations.
std::optional<Source> apply_proposals(const Source& source, std::string_view note);

/// Returns the diagnostics of the model text `source` without the notes that propose a change of it which does not
/// help; notes that propose nothing stay. Each change is tried: the analysis of `source` must give the diagnostic, and
/// that of the changed model must not. The changed model must also give no new error, and no new warning of an unused
/// name or of a latent variable that no data reach. Notes with changed models beyond the first fifty distinct ones are
/// dropped untested.
std::vector<Diagnostic> with_tested_proposals(const Diagnostics& diagnostics, const Source& source);

/// Returns the diagnostics of a model as text for the terminal or an error message, each with its place in `source`.
/// Notes that propose a change of the model which does not remove the diagnostic are left out (with_tested_proposals).
std::string render_tested(const Diagnostics& diagnostics, const Source& source);

}  // namespace lehr
