// Notes that propose model text, tried before they are said.
//
// What stands between backticks in a note and ends with a semicolon is a declaration that the note proposes. It takes
// the place of the declaration of the same name; where there is none, it is added. A note that says "in the place of
// 'x'" removes the declaration of x, too. Text between backticks without the semicolon is a pattern or a word.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// The declarations that a note proposes, in their order.
std::vector<std::string> proposed_lines(std::string_view note);

/// The source with everything that the note proposes. None: the source or a line of the note is not in the language.
std::optional<Source> with_proposal(const Source& source, std::string_view note);

/// The diagnostics without the notes whose proposal fails. A proposal holds if the changed model no longer has the
/// diagnostic, and has no error and no useless name that it did not have before. One derivation for each proposal; of
/// many, those behind the fiftieth are left out untried.
std::vector<Diagnostic> advised(const Diagnostics& diagnostics, const Source& source);

/// render() of what is left.
std::string render_advised(const Diagnostics& diagnostics, const Source& source);

}  // namespace lehr
