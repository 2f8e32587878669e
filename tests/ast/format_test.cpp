// The formatter: its output is a fixed point, it keeps the syntax tree, and lines are at most 100 columns long where
// they can be broken. All models of the repository must be formatted.
#include "compiler/ast/format.h"

#include "tests/ast/ast_testing.h"

using namespace lehr;

namespace {

std::string formatted(const std::string& text) {
  Diagnostics diagnostics;
  const Source source{"m.lehr", text};
  const std::optional<std::string> out = format(source, diagnostics);
  INFO(render(diagnostics, source));
  REQUIRE(out);
  return *out;
}

}  // namespace

TEST_CASE("formatting is idempotent and keeps the tree") {
  for (const char* folder : {"tests/ast/inputs", "models", "tests/golden"}) {
    for (const Source& source : read_sources(folder)) {
      INFO(source.name);
      Diagnostics diagnostics;
      const std::optional<std::string> once = format(source, diagnostics);
      if (!once) {
        CHECK(diagnostics.has_errors());
        continue;
      }
      CHECK(formatted(*once) == *once);
      CHECK(tree({"m.lehr", *once}) == tree({"m.lehr", source.text}));
    }
  }
}

TEST_CASE("the models of the repository are formatted") {
  for (const Source& source : read_sources("models")) {
    INFO(source.name);
    CHECK(formatted(source.text) == source.text);
  }
}

TEST_CASE("formatted inputs") {
  for (const char* name : {"lda", "comments", "everything"}) {
    const std::string base = fmt::format("tests/ast/inputs/{}", name);
    golden::compare(formatted(test::contents(base + ".lehr")), base + ".formatted");
  }
}

TEST_CASE("spaces") {
  CHECK(formatted("model m{}") == "model m {\n}\n");
  CHECK(formatted("\xEF\xBB\xBFmodel m\r\n{\r\nconst K=1;\r\n\r\n\r\nconst L;\r\n\r\n}") ==
        "model m {\n  const K = 1;\n\n  const L;\n}\n");
  const auto let = [](const std::string& value) {
    const std::string text = formatted("model m { let v=" + value + "; }");
    return text.substr(20, text.size() - 24);
  };
  CHECK(let("a*b+c/-d") == "a * b + c / -d");
  CHECK(let("s[ t - 1,2*n ]") == "s[t-1, 2*n]");
  CHECK(let("x[f(a+b)]") == "x[f(a + b)]");
  CHECK(let("sum( f,g )-a*(b)") == "sum(f, g) -a * (b)");
  CHECK(let("sum(f)(a+b)*c") == "sum(f) (a + b) * c");
  CHECK(let("Normal( mean=-1 ,sd=( 2 ))") == "Normal(mean = -1, sd = (2))");
  CHECK(formatted("model m { potential [e]-J*x[e];potential(a)*b; }") ==
        "model m {\n  potential[e] -J * x[e];\n  potential (a) * b;\n}\n");
}

TEST_CASE("lines are at most 100 columns where there is a place to break") {
  const std::string text =
      formatted(test::contents("tests/ast/inputs/comments.lehr") + "// " + std::string(200, '-') + "\n");
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.find("---") == std::string::npos) CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
    begin = end + 1;
  }
}

TEST_CASE("what does not parse is not formatted") {
  Diagnostics diagnostics;
  CHECK_FALSE(format({"m.lehr", "model m { const K = ; }"}, diagnostics));
  CHECK(diagnostics.has_errors());
}
