// Compares each model below tests/golden with what is expected of it: tests/golden/FORM/NAME.FORM, where that exists,
// for each intermediate representation (ast ... conditionals) and form of the derivation (derive, json, tex), and the
// diagnostics in NAME.diag beside it. A name starts with bad_ if and only if there is an error, with warn_ if and only
// if there are only warnings.
#include <sstream>

#include "compiler/advice.h"
#include "compiler/conditionals/print_derivation.h"
#include "compiler/pipeline.h"
#include "tests/golden/goldens.h"

using namespace lehr;
using namespace lehr::golden;

namespace {

std::string derived(const Source& source, const std::string& form) {
  Diagnostics diagnostics;
  const std::optional<Analysed> front = analyse(source, {}, diagnostics);
  if (!front) return render(diagnostics, source);
  const conditionals::Derivation d = conditionals::derivation_of(front->model, front->schedule.conditionals, source);
  if (form == "json") return conditionals::print_json(d);
  return form == "tex" ? conditionals::print_latex(d) : conditionals::print_text(d);
}

/// Returns where the form of a model of tests/golden is expected, as tests/golden/density/coin.density.
fs::path expected(const fs::path& path, const std::string& form) {
  return fs::path("tests/golden") / form / path.filename().replace_extension(form);
}

bool starts_with(const fs::path& path, const char* prefix) { return path.filename().string().starts_with(prefix); }

}  // namespace

TEST_CASE("diagnostics of goldens, and the meaning of their names") {
  for (const fs::path& path : test::files_in("tests/golden")) {
    DYNAMIC_SECTION(path.generic_string()) {
      const Source source = read(path);
      Diagnostics diagnostics;
      analyse(source, {}, diagnostics);
      CHECK(starts_with(path, "bad_") == diagnostics.has_errors());
      CHECK(starts_with(path, "warn_") == (!diagnostics.has_errors() && !diagnostics.all().empty()));
      const fs::path diag = fs::path(path).replace_extension(".diag");
      if (diagnostics.all().empty()) CHECK_FALSE(fs::exists(diag));
      else compare(render_tested(diagnostics, source), diag);
    }
  }
}

TEST_CASE("rungs of goldens") {
  for (const fs::path& path : test::files_in("tests/golden")) {
    for (std::string_view ir_name : ir_names()) {
      const fs::path file = expected(path, std::string(ir_name));
      if (!fs::exists(file)) continue;
      if (ir_name == "loops" && std::getenv("LEHR_NO_OPT")) continue;  // the golden files were printed after all passes
      DYNAMIC_SECTION(file.generic_string()) {
        Diagnostics diagnostics;
        const Source source = read(path);
        const Result<std::optional<std::string>> text = emit(source, ir_name, Settings{}, diagnostics);
        REQUIRE(text);
        compare(text->value_or(render(diagnostics, source)), file);
      }
    }
  }
}

TEST_CASE("derivations of goldens") {
  for (const fs::path& path : test::files_in("tests/golden")) {
    for (const char* form : {"derive", "json", "tex"}) {
      const fs::path file = expected(path, form);
      if (!fs::exists(file)) continue;
      DYNAMIC_SECTION(file.generic_string()) { compare(derived(read(path), form), file); }
    }
  }
}

TEST_CASE("derivations of models/") {
  for (const fs::path& path : test::files_in("models")) {
    DYNAMIC_SECTION(path.generic_string()) {
      const fs::path file = "tests/golden" / fs::path(path).replace_extension(".derive");
      compare(derived(read(path), "derive"), file);
    }
  }
}

TEST_CASE("equations quoted in the documentation are those of lehr derive") {
  const std::string now = derived(read("models/topics/lda.lehr"), "derive");
  for (const char* page : {"README.md", "docs/derivation.md"}) {
    std::istringstream lines(read(page).text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.ends_with(")") || line.find("    (line") == std::string::npos) continue;
      INFO(page << ": " << line);
      CHECK(now.find(line.substr(line.find_first_not_of(' '))) != std::string::npos);
    }
  }
}
