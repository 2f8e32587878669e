// Quotes a command line so that a shell reads the same words again.
#include <algorithm>
#include <string_view>

#include "compiler/console/console.h"

namespace lehr::commands {
namespace {

/// Returns true for characters that a POSIX shell takes literally without quotes.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "_-./,:=+@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.find(c) != kPlain.npos;
}

}  // namespace

std::string command_line(int argc, char const* const* argv) {
  std::string out;
  for (int k = 0; k < argc; ++k) {
    const std::string_view word = argv[k];
    if (k > 0) out += ' ';
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
      out += word;
      continue;
    }
    // Inside single quotes a POSIX shell changes nothing; a quote itself stands outside of them.
    out += '\'';
    for (const char c : word) {
      if (c == '\'') out += "'\\''";
      else out += c;
    }
    out += '\'';
  }
  return out;
}

}  // namespace lehr::commands
