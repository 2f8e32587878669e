// Names and functions in MathML: Greek letters as such, digits at the end of a name as a subscript, primes as such.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/conditionals/formula.h"

namespace lehr::conditionals {
namespace {

/// The Greek letters, by their names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 33> kGreekLetters{{
    {"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"},   {"epsilon", "ε"}, {"zeta", "ζ"}, {"eta", "η"},
    {"theta", "θ"}, {"iota", "ι"},  {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},      {"nu", "ν"},   {"xi", "ξ"},
    {"pi", "π"},    {"rho", "ρ"},   {"sigma", "σ"}, {"tau", "τ"},     {"phi", "φ"},     {"chi", "χ"},  {"psi", "ψ"},
    {"omega", "ω"}, {"Gamma", "Γ"}, {"Delta", "Δ"}, {"Theta", "Θ"},   {"Lambda", "Λ"},  {"Xi", "Ξ"},   {"Pi", "Π"},
    {"Sigma", "Σ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},   {"Upsilon", "Υ"}, {"Omega", "Ω"},
}};

}  // namespace

std::string mathml_name(const std::string& name) {
  // alpha12'' is the stem alpha, the subscript 12 and two primes.
  const std::size_t primes = name.size() - std::min(name.find_last_not_of('\'') + 1, name.size());
  const std::string base = name.substr(0, name.size() - primes);
  const std::size_t digits = std::min(base.find_last_not_of("0123456789") + 1, base.size());
  const std::string stem = base.substr(0, digits), number = base.substr(digits);
  const auto greek = std::ranges::find(kGreekLetters, stem, [](const auto& letter) { return letter.first; });
  std::string out = fmt::format("<mi>{}</mi>", greek == kGreekLetters.end() ? std::string_view(stem) : greek->second);
  if (!number.empty()) out = fmt::format("<msub>{}<mn>{}</mn></msub>", out, number);
  for (std::size_t k = 0; k < primes; ++k)
    out = fmt::format("<mrow>{}<mtext>′</mtext></mrow>", out);  // full size: a superscript would be too small to read
  return out;
}

std::string_view mathml_of(math::Function f) {
  using enum math::Function;
  switch (f) {
    case log:
      return "<mi>log</mi><mo>&#8289;</mo>{4}";
    case log1m:
      return "<mi>log</mi><mo>&#8289;</mo><mrow><mo>(</mo><mn>1</mn><mo>−</mo>{2}<mo>)</mo></mrow>";
    case exp:
      return "<mi>exp</mi><mo>&#8289;</mo>{1}";
    case sqrt:
      return "<msqrt>{0}</msqrt>";
    case reciprocal:
      return "<mfrac><mn>1</mn><mrow>{0}</mrow></mfrac>";
    case lgamma:
      return "<mi>log</mi><mo>&#8289;</mo><mi>Γ</mi>{1}";
    case digamma:
      return "<mi>ψ</mi>{1}";
    case trigamma:
      return "<msub><mi>ψ</mi><mn>1</mn></msub>{1}";
    case tanh:
      return "<mi>tanh</mi><mo>&#8289;</mo>{1}";
    case logit_curvature:
      return "<mi>λ</mi>{1}";
    case log_cosh:
      return "<mi>log</mi><mo>&#8289;</mo><mi>cosh</mi><mo>&#8289;</mo>{1}";
    case xlogx:
      return "{1}<mi>log</mi><mo>&#8289;</mo>{1}";
    case step:
      return "<msub><mn>𝟙</mn><mrow><mo>&gt;</mo><mn>0</mn></mrow></msub>{1}";
    case abs:
      return "<mrow><mo>|</mo>{0}<mo>|</mo></mrow>";
    case logistic:
      return "<mi>logistic</mi><mo>&#8289;</mo>{1}";
    case curvature:
      return "<mi>λ</mi>{1}";
    case offset:
      return "<mi>c</mi>{1}";
    case logdet:
      return "<mi>log</mi><mo>&#8289;</mo><mrow><mo>|</mo>{0}<mo>|</mo></mrow>";
    case probit:
      return "<mi>Φ</mi>{1}";
    case log_tail:
      return "<mi>log</mi><mo>&#8289;</mo><mi>Φ</mi><mrow><mo>(</mo><mo>-</mo>{0}<mo>)</mo></mrow>";
    case above:
      return "<mi>above</mi><mo>&#8289;</mo>{1}";
    case below:
      return "<mi>below</mi><mo>&#8289;</mo>{1}";
    case lower:
      return "<mi>lower</mi><mo>&#8289;</mo>{1}";
    case upper:
      return "<mi>upper</mi><mo>&#8289;</mo>{1}";
    case slope:
      return "<mi>slope</mi><mo>&#8289;</mo>{1}";
  }
  return "";
}

}  // namespace lehr::conditionals
