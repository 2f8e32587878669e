// Prints the warnings and notes of a command.
#include <fmt/format.h>

#include "compiler/console/console.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

void print_diagnostics(const std::vector<Diagnostic>& diagnostics, const std::string& where) {
  for (const Diagnostic& d : diagnostics) {
    std::string out = where.empty() ? "" : where + ": ";
    out += fmt::format("{}: {}\n", name_of(d.severity), d.text);
    for (const Note& note : d.notes)
      out += fmt::format("    note: {}\n", note.text);
    print_to_stderr(with_option_prefix(std::move(out), "--"));
  }
}

}  // namespace lehr::commands
