// The parser of Loops: it reads the text that print_loops.h writes, so that a pass can be run on a file. docs/loops.md
// specifies the language.
#pragma once
#include "compiler/loops/loops.h"
#include "compiler/support/span.h"
#include "runtime/result.h"

namespace lehr::loops {

/// Parses the text of a program. Printing the result gives the same text, up to the numbers behind names that are
/// declared twice. Expressions are shared, and not folded. Types and names are checked here; verify() checks the rest.
/// Fails with ExitCode::model, the line and what was expected there.
Result<Program> parse(const Source& source);

}  // namespace lehr::loops
