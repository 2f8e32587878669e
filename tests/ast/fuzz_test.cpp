// Fuzz test of parser and formatter: mutated models and random bytes. Nothing is thrown, a failure has a diagnostic,
// spans lie inside the file, and formatting is idempotent and keeps the syntax tree. All inputs are the same in every
// run.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/ast/format.h"
#include "tests/ast/ast_testing.h"

using namespace lehr;

namespace {

constexpr const char* kPieces[] = {";",
                                   "{",
                                   "}",
                                   "(",
                                   ")",
                                   "[",
                                   "]",
                                   "~",
                                   "=",
                                   "+",
                                   "-",
                                   "*",
                                   "/",
                                   ",",
                                   ":",
                                   "//",
                                   "/*",
                                   "*/",
                                   "\n",
                                   "\r",
                                   " ",
                                   "sum(f) ",
                                   "sum",
                                   "in ",
                                   "1",
                                   "1e3",
                                   "x",
                                   "const ",
                                   "plate ",
                                   "data ",
                                   "let ",
                                   "observe ",
                                   "guide ",
                                   "over ",
                                   "start ",
                                   "potential ",
                                   "μ",
                                   "\xFF",
                                   "model ",
                                   "order",
                                   "\xEF\xBB\xBF",
                                   "\t",
                                   "// c\n",
                                   "/* a\n b */"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::size_t at = below(text.size() + 1);
      const std::size_t length = std::min(below(12), text.size() - at);
      switch (below(5)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, kPieces[below(std::size(kPieces))]);
          break;
        case 2:
          text.replace(at, length, kPieces[below(std::size(kPieces))]);
          break;
        case 3:
          text.insert(below(text.size() + 1), text.substr(at, 3 * length));
          break;
        default:
          text.insert(at, 1, static_cast<char>(below(256)));
      }
    }
    return text;
  }

  std::string pieces() {
    std::string out = below(2) ? "model m {" : "";
    for (std::size_t n = below(60); n > 0; --n)
      out += kPieces[below(std::size(kPieces))];
    return out + (below(2) ? "}" : "");
  }

  std::string bytes() {
    std::string out;
    for (std::size_t n = below(200); n > 0; --n)
      out += static_cast<char>(below(256));
    return out;
  }

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  std::mt19937 random_;
};

bool inside(Span span, const Source& source) { return span.begin <= span.end && span.end <= source.text.size(); }

/// Returns what is wrong with the result for this text; empty if nothing is.
std::string complaint(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (ast.has_value() == diagnostics.has_errors()) return "an Ast or an error, not both";
  for (const Diagnostic& d : diagnostics.all()) {
    if (!inside(*d.span, source)) return "a diagnostic outside of the file";
  }
  render(diagnostics, source);
  if (!ast) return "";
  for (const ast::Expr& e : ast->exprs) {
    if (!inside(e.span, source) || e.span.begin == e.span.end) return "a span outside of the file";
  }
  const std::optional<std::string> once = format(source, diagnostics);
  if (!once) return "format() refuses what parse() accepts";
  const Source again{"m.lehr", *once};
  if (tree(again) != tree(source)) return "formatting changes the tree:\n" + *once;
  if (const auto twice = format(again, diagnostics); twice != once) return "not idempotent:\n" + *once;
  return "";
}

void check(const std::string& text) {
  if (const std::string found = complaint({"m.lehr", text}); !found.empty()) {
    FAIL_CHECK(found << "\n--- from ---\n" << text);
  }
}

}  // namespace

TEST_CASE("mutated models") {
  Mutator mutator(1);
  const std::vector<Source> sources = read_sources("tests/ast/inputs");
  for (int i = 0; i < 4000; ++i)
    check(mutator.mutate(sources[mutator.below(sources.size())].text));
}

TEST_CASE("comments and line ends anywhere between tokens") {
  Mutator mutator(2);
  const char* kSpaces[] = {"// c\n", "/* d */", "\n", "\n\n\n", " ", "\r\n", "/* e\n   f */", "\n  // g\n", "\t"};
  for (const Source& source : read_sources("tests/ast/inputs")) {
    for (int i = 0; i < 100; ++i) {
      std::string text = source.text;
      for (int n = 0; n < 10; ++n) {
        const std::size_t at = text.find_first_of(" \n;,()", mutator.below(text.size()));
        if (at != std::string::npos) text.insert(at, kSpaces[mutator.below(std::size(kSpaces))]);
      }
      check(text);
    }
  }
}

TEST_CASE("random pieces and bytes") {
  Mutator mutator(3);
  for (int i = 0; i < 2000; ++i)
    check(mutator.pieces());
  for (int i = 0; i < 1000; ++i)
    check(mutator.bytes());
}
