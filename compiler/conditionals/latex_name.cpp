// Names of a model in LaTeX's math mode: Greek letters as such, digits at the end as a subscript, primes as such. Other
// names are set as one word in italics.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compiler/conditionals/formula.h"

namespace lehr::conditionals {
namespace {

/// The Greek letters that LaTeX has a command for.
constexpr std::array<std::string_view, 33> kGreek{
    "alpha", "beta",  "gamma", "delta",  "epsilon", "zeta",  "eta",   "theta", "iota", "kappa",   "lambda",
    "mu",    "nu",    "xi",    "pi",     "rho",     "sigma", "tau",   "phi",   "chi",  "psi",     "omega",
    "Gamma", "Delta", "Theta", "Lambda", "Xi",      "Pi",    "Sigma", "Phi",   "Psi",  "Upsilon", "Omega"};

/// Returns true for an ASCII letter.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns a UTF-8 text for pdflatex: Latin letters stay, Greek ones become commands, and other code points, for which
/// there is no glyph, become U+....
std::string beyond_ascii(const std::string& s) {
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    // The first byte of a UTF-8 sequence has its length; each further byte has six bits.
    const std::size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    std::uint32_t code = length == 1 ? c : c & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < s.size(); ++k) {
      code = code << 6 | (static_cast<unsigned char>(s[i + k]) & 0x3FU);
    }
    if (length == 1) out += s[i] == '_' ? std::string("\\_") : std::string(1, s[i]);
    else if (code >= 0xC0 && code < 0x180) out += s.substr(i, length);
    else if (code >= 0x3B1 && code <= 0x3C9 && code != 0x3BF && code != 0x3C2) {
      constexpr std::array<std::string_view, 25> kLetters{
          "alpha", "beta",   "gamma",   "delta", "epsilon", "zeta", "eta",  "theta", "iota",
          "kappa", "lambda", "mu",      "nu",    "xi",      "o",    "pi",   "rho",   "varsigma",
          "sigma", "tau",    "upsilon", "phi",   "chi",     "psi",  "omega"};
      out += fmt::format("$\\{}$", kLetters[code - 0x3B1]);
    } else {
      out += fmt::format("U+{:04X}", code);
    }
    i += length;
  }
  return out;
}

}  // namespace

std::string latex_name(const std::string& name) {
  // alpha12'' is the stem alpha, the subscript 12 and two primes.
  std::string base = name, primes;
  while (!base.empty() && base.back() == '\'') {
    base.pop_back();
    primes += '\'';
  }
  std::size_t digits = base.size();
  while (digits > 0 && base[digits - 1] >= '0' && base[digits - 1] <= '9')
    --digits;
  const std::string stem = base.substr(0, digits), number = base.substr(digits);
  const bool ascii = std::all_of(stem.begin(), stem.end(), is_letter);
  std::string out;
  if (std::find(kGreek.begin(), kGreek.end(), stem) != kGreek.end()) out = "\\" + stem;
  else if (ascii) out = stem.size() == 1 ? stem : "\\mathit{" + stem + "}";
  else out = "\\text{\\itshape " + beyond_ascii(stem) + "}";
  return (number.empty() ? out : fmt::format("{}_{{{}}}", out, number)) + primes;
}

}  // namespace lehr::conditionals
