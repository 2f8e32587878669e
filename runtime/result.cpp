// How a runtime error is printed.
#include "runtime/result.h"

#include "runtime/terminal/printable.h"

namespace lehr {

std::string render(const Error& error) {
  std::string out = error.where.empty() ? "error: " : error.where + ": error: ";
  out += error.text;
  for (const std::string& note : error.notes)
    out += "\n  note: " + note;
  return printable_lines(out);
}

}  // namespace lehr
