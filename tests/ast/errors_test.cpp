// Syntax errors as the user sees them: errors/NAME.lehr gives the messages in errors/NAME.diag. LEHR_UPDATE_GOLDENS=1
// rewrites the latter.
#include "tests/ast/ast_testing.h"

using namespace lehr;

TEST_CASE("syntax errors in the user's words") {
  for (const Source& source : read_sources("tests/ast/errors")) {
    INFO(source.name);
    Diagnostics diagnostics;
    CHECK_FALSE(parse(source, diagnostics));
    golden::compare(render(diagnostics, source, 100), std::filesystem::path(source.name).replace_extension(".diag"));
  }
}

TEST_CASE("one slip, one error") {
  const Source whole = golden::read("tests/ast/inputs/lda.lehr");
  for (std::size_t i = whole.text.find("const"); i < whole.text.size(); ++i) {
    if (std::string_view(";=~()[],{}:").find(whole.text[i]) == std::string_view::npos) continue;
    const std::size_t line = whole.text.rfind('\n', i);
    if (whole.text.substr(line, i - line).find("//") != std::string::npos) continue;
    Source broken = whole;
    broken.text[i] = ' ';
    INFO(broken.text);
    Diagnostics diagnostics;
    if (!parse(broken, diagnostics)) CHECK(diagnostics.all().size() == 1);
  }
}

TEST_CASE("earlier diagnostics do not matter") {
  Diagnostics diagnostics;
  diagnostics.add(DiagnosticKind::syntax, Span{0, 0}, std::string("of another file"));
  CHECK(parse({"m.lehr", "model m {}"}, diagnostics));
  CHECK(diagnostics.all().size() == 1);
}
