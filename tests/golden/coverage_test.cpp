// Every kind of diagnostic appears in a golden file. A kind that can no longer be produced, or was never tested, fails
// here.
#include <set>

#include "compiler/pipeline.h"
#include "tests/golden/goldens.h"

using namespace lehr;
using namespace lehr::golden;

TEST_CASE("every kind of diagnostic has a golden") {
  std::set<DiagnosticKind> seen;
  for (const char* folder : {"tests/golden", "tests/ast/errors"}) {
    for (const fs::path& path : test::files_in(folder)) {
      Diagnostics diagnostics;
      analyse(read(path), {}, diagnostics);
      for (const Diagnostic& d : diagnostics.all())
        seen.insert(*d.kind);
    }
  }
#define LEHR_DIAGNOSTIC(name, severity, text)   \
  {                                             \
    INFO("no golden shows " #name);             \
    CHECK(seen.contains(DiagnosticKind::name)); \
  }
#include "compiler/support/diagnostics.def"
#undef LEHR_DIAGNOSTIC
}

TEST_CASE("goldens are short") {
  for (const fs::path& path : test::files_in("tests/golden")) {
    const std::string text = read(path).text;
    INFO(path.generic_string());
    CHECK(std::count(text.begin(), text.end(), '\n') <= 20);
  }
}
