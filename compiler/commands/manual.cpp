// The manual page of all commands in the macros of man(7), for `lehr help --man`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/console/interface.h"

namespace lehr::commands {
namespace {

/// Returns a text as roff prints it literally: requests at the start of a line, backslashes and hyphens are escaped.
std::string roff(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
    begins_line = c == '\n';
  }
  return out;
}

/// Returns a block whose lines are printed unchanged.
std::string verbatim(const std::string& text) { return text.empty() ? "" : ".PP\n.nf\n" + roff(text) + "\n.fi\n"; }

/// Returns the entry of an option: names, placeholder of the value, help.
std::string option_entry(const OptionText& o) {
  std::string value = o.value.empty() || o.positional ? "" : fmt::format(" \\fI{}\\fR", roff(o.value));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(fmt::format("{}", fmt::join(o.names, ", "))), value, roff(o.help));
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  const std::vector<CommandText> commands = commands_of(app);
  std::string out = fmt::format(
      ".TH LEHR 1 \"\" \"lehr {}\" \"User Commands\"\n.ad l\n.SH NAME\nlehr \\- {}\n"
      ".SH SYNOPSIS\n\\fBlehr\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n",
      version, roff("compiler for conjugate exponential-family models"));
  for (const CommandText& c : commands) {
    out += fmt::format(".SS lehr {}\n{}\n", roff(c.name), roff(c.description));
    for (const OptionText& o : c.options)
      out += option_entry(o);
    out += verbatim(c.footer);
  }
  return out + ".SH EXIT STATUS\n" + verbatim(app.get_footer());
}

}  // namespace lehr::commands
