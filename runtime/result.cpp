// Errors as text: option names are written as the caller spells them, and control characters are escaped.
#include "runtime/result.h"

#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr char kOption = '\1';  // the marker before an option's name; text from users has no control characters

}  // namespace

Error usage_error(std::string where, std::string text, std::vector<std::string> notes) {
  return {ExitCode::usage, std::move(where), std::move(text), std::move(notes)};
}

std::string option(std::string_view name) { return kOption + std::string(name); }

std::string with_option_prefix(std::string text, std::string_view prefix) {
  for (std::size_t at = text.find(kOption); at != text.npos; at = text.find(kOption, at))
    text.replace(at, 1, prefix);
  return text;
}

Error with_option_prefix(Error e, std::string_view prefix) {
  e.where = with_option_prefix(std::move(e.where), prefix);
  e.text = with_option_prefix(std::move(e.text), prefix);
  for (std::string& note : e.notes)
    note = with_option_prefix(std::move(note), prefix);
  return e;
}

std::string render(const Error& error, std::string_view prefix) {
  const Error e = with_option_prefix(error, prefix);
  std::string out = e.where.empty() ? "error: " : e.where + ": error: ";
  out += e.text;
  for (const std::string& note : e.notes)
    out += "\n  note: " + note;
  return printable_lines(out);
}

}  // namespace lehr
