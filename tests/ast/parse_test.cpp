// The parser: every construct of the language, precedence, spans in bytes, limits of depth, and bytes that are no text.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/ast/ast_testing.h"

using namespace lehr;

namespace {

std::optional<ast::Ast> parse_well(const Source& source) {
  Diagnostics diagnostics;
  std::optional<ast::Ast> ast = parse(source, diagnostics);
  INFO(render(diagnostics, source));
  CHECK(ast.has_value());
  CHECK(diagnostics.all().empty());
  return ast;
}

std::vector<std::string> errors(const std::string& text) {
  Diagnostics diagnostics;
  const bool parsed = parse({"m.lehr", text}, diagnostics).has_value();
  CHECK(parsed == diagnostics.all().empty());
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics.all())
    out.push_back(d.text);
  return out;
}

std::string repeated(const std::string& text, int n, const std::string& front = "") {
  std::string out = front;
  for (int i = 0; i < n; ++i)
    out += text;
  return out;
}

std::string let(const std::string& value) { return "model m { let v = " + value + "; let w = 2; }"; }

}  // namespace

TEST_CASE("inputs and models parse") {
  for (const char* folder : {"tests/ast/inputs", "models"}) {
    for (const Source& source : read_sources(folder)) {
      INFO(source.name);
      CHECK(parse_well(source));
    }
  }
}

TEST_CASE("trees of the inputs") {
  for (const char* name : {"lda", "names"}) {
    const Source source = golden::read(fmt::format("tests/ast/inputs/{}.lehr", name));
    const std::optional<ast::Ast> ast = parse_well(source);
    REQUIRE(ast);
    golden::compare(print(*ast, source), std::filesystem::path(source.name).replace_extension(".ast"));
  }
}

TEST_CASE("declarations carry what was typed") {
  const Source source = golden::read("tests/ast/inputs/everything.lehr");
  const std::optional<ast::Ast> ast = parse_well(source);
  REQUIRE(ast);
  CHECK(ast->model.text == "everything");

  const auto& count = std::get<ast::ConstDecl>(ast->decls[0].node);
  CHECK_FALSE(count.value);
  CHECK(std::get<ast::ConstDecl>(ast->decls[1].node).axes.at(0).text == "topic");
  const auto& ordered = std::get<ast::PlateDecl>(ast->decls[6].node);
  CHECK(ordered.ordered);
  CHECK(ordered.parent->text == "seq");
  CHECK(ordered.size.has_value());
  CHECK(std::get<ast::PlateDecl>(ast->decls[4].node).times->text == "count");
  CHECK(source.slice(ast->decls[4].span) == "plate token in doc times count;");
}

TEST_CASE("over may stand on either side of start") {
  const auto ast = parse_well(golden::read("tests/ast/inputs/everything.lehr"));
  REQUIRE(ast);
  int seen = 0;
  for (const ast::Decl& d : ast->decls) {
    const auto* tilde = std::get_if<ast::Tilde>(&d.node);
    if (!tilde || (tilde->name.text != "h1" && tilde->name.text != "h2")) continue;
    ++seen;
    CHECK(tilde->start.has_value());
    CHECK(tilde->over.at(0).text == "dim");
  }
  CHECK(seen == 2);
}

TEST_CASE("a sum binds the rest of its product") {
  CHECK(expression_tree("sum(f) a*b + c") == expression_tree("sum(f) a * b   +c"));
  const std::string head = "model m\n  let v\n";
  CHECK(expression_tree("sum(f) a*b + c") == head +
                                                 "    binary +\n"
                                                 "      sum over f\n"
                                                 "        binary *\n"
                                                 "          name a\n"
                                                 "          name b\n"
                                                 "      name c\n");
  CHECK(expression_tree("2 * sum(f) -a / sum(g, h) b * c") == head +
                                                                  "    binary *\n"
                                                                  "      number 2\n"
                                                                  "      sum over f\n"
                                                                  "        binary /\n"
                                                                  "          negate\n"
                                                                  "            name a\n"
                                                                  "          sum over g, h\n"
                                                                  "            binary *\n"
                                                                  "              name b\n"
                                                                  "              name c\n");
  CHECK(expression_tree("-sum(f) -sum(g) x") == head +
                                                    "    negate\n"
                                                    "      sum over f\n"
                                                    "        negate\n"
                                                    "          sum over g\n"
                                                    "            name x\n");
}

TEST_CASE("operators are left associative and a minus binds closest") {
  CHECK(expression_tree("a - b - c * d / e") ==
        "model m\n  let v\n"
        "    binary -\n"
        "      binary -\n"
        "        name a\n"
        "        name b\n"
        "      binary /\n"
        "        binary *\n"
        "          name c\n"
        "          name d\n"
        "        name e\n");
  CHECK(expression_tree("-a * - -b") ==
        "model m\n  let v\n"
        "    binary *\n"
        "      negate\n"
        "        name a\n"
        "      negate\n"
        "        negate\n"
        "          name b\n");
}

TEST_CASE("numbers") {
  const std::pair<const char*, double> cases[] = {{"0", 0},  {"100", 100}, {"1e-3", 1e-3}, {"1.5E+2", 150}, {".5", 0.5},
                                                  {"2.", 2}, {"2.e1", 20}, {"007", 7},     {"1e308", 1e308}};
  for (const auto& [spelling, value] : cases) {
    const auto ast = parse_well({"m.lehr", let(spelling)});
    REQUIRE(ast);
    const auto& number = std::get<ast::Number>((*ast)[std::get<ast::LetDecl>(ast->decls[0].node).value].node);
    CHECK(number.spelling == spelling);
    CHECK(number.value == value);
  }
  CHECK(errors(let("1e999")) == std::vector<std::string>{"the number 1e999 is out of range"});
}

TEST_CASE("spans are bytes of the file, whatever its characters") {
  for (const std::string& start : {std::string(), std::string("\xEF\xBB\xBF"), std::string("/* 学習 😀 */\r\n")}) {
    const Source source{"m.lehr", start + "model μodel {\r\n  let é = α₀[ñ-1] + f(ß = ж);\r\n}"};
    const auto ast = parse_well(source);
    REQUIRE(ast);
    CHECK(source.slice(ast->model.span) == "μodel");
    CHECK(source.slice(ast->decls[0].span) == "let é = α₀[ñ-1] + f(ß = ж);");
    std::vector<std::string> seen;
    for (const ast::Expr& e : ast->exprs)
      seen.emplace_back(source.slice(e.span));
    CHECK(seen == std::vector<std::string>{"ñ", "1", "ñ-1", "α₀[ñ-1]", "ж", "f(ß = ж)", "α₀[ñ-1] + f(ß = ж)"});
  }
}

TEST_CASE("children precede parents") {
  const auto ast = parse_well(golden::read("tests/ast/inputs/everything.lehr"));
  REQUIRE(ast);
  for (std::size_t i = 0; i < ast->exprs.size(); ++i) {
    const auto before = [&](ast::ExprId child) { CHECK(child.index() < i); };
    const auto& node = ast->exprs[i].node;
    if (const auto* n = std::get_if<ast::Negate>(&node)) before(n->operand);
    if (const auto* n = std::get_if<ast::Binary>(&node)) before(n->left), before(n->right);
    if (const auto* n = std::get_if<ast::Sum>(&node)) before(n->body);
    if (const auto* n = std::get_if<ast::Parenthesised>(&node)) before(n->inner);
    if (const auto* n = std::get_if<ast::Reference>(&node)) std::for_each(n->indices.begin(), n->indices.end(), before);
    if (const auto* n = std::get_if<ast::Call>(&node)) {
      for (const ast::Argument& a : n->arguments)
        before(a.value);
    }
  }
}

TEST_CASE("depth is bounded, and said once") {
  const std::string nested = "expressions are nested more than 200 deep";
  const std::string long_chain = "this expression has more than 1000 operations in a row";
  const int n = 100000;
  CHECK(errors(let(repeated("(", n) + "1" + repeated(")", n))) == std::vector<std::string>{nested});
  CHECK(errors(let(repeated("f(", n) + "1" + repeated(")", n))) == std::vector<std::string>{nested});
  CHECK(errors(let(repeated("a[", n) + "1" + repeated("]", n))) == std::vector<std::string>{nested});
  CHECK(errors(let(repeated("(", n))) == std::vector<std::string>{nested});
  CHECK(errors(let(repeated("-", n / 5) + "1")) == std::vector<std::string>{long_chain});
  CHECK(errors(let(repeated(" + 1", n / 5, "1"))) == std::vector<std::string>{long_chain});
  CHECK(errors(let(repeated(" * a", n / 5, "1"))) == std::vector<std::string>{long_chain});
  CHECK(errors(let(repeated("sum(f) ", n / 5) + "1")) == std::vector<std::string>{long_chain});
  CHECK(errors(let(repeated("a * sum(f) ", n / 5) + "1")) == std::vector<std::string>{long_chain});
  CHECK(errors(let(repeated("(", 150) + "1" + repeated(")", 150))).empty());
  CHECK(errors(let(repeated(" + 1", 900, "1"))).empty());
}

TEST_CASE("bytes that are no text") {
  const auto message = [](const char* byte) {
    return std::vector<std::string>{fmt::format("the byte {} does not belong in a text; a model file is UTF-8", byte)};
  };
  CHECK(errors("model m { \xFF }") == message("0xFF"));
  CHECK(errors("model \xC0\xAF {}") == message("0xC0"));
  CHECK(errors("model \xED\xA0\x80 {}") == message("0xED"));
  CHECK(errors("model \xF4\x90\x80\x80 {}") == message("0xF4"));
  CHECK(errors("model m {} \xE2\x82") == message("0xE2"));
  CHECK(errors(std::string("model m { \0 }", 13)) == message("0x00"));
  CHECK(errors(std::string(5u << 20, ' ')).at(0) == "this file has 5242880 bytes; a model file has at most 4194304");
}
