// Rules of the architecture, checked on the source texts. Dependencies: a folder may include itself, the folders before
// it in the order of stages, and the listed parts of the runtime; LLVM and ANTLR stay inside their folders. Also: no
// locale-dependent parsing, spelling of options, and functions of at most 80 lines, files of 600, folders of 45 files.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/math/family.h"

namespace fs = std::filesystem;

namespace {

struct Include {
  std::string file;  // path relative to the root, as `target` is
  int line;
  std::string target;
};

const std::vector<std::string> kStageOrder{"support",      "math",     "ast",     "model",     "binding",   "density",
                                           "conditionals", "schedule", "loops",   "analysis",  "lower",     "passes",
                                           "native",       "evaluate", "machine", "embedding", "instance",  "posterior",
                                           "fit",          "score",    "predict", "diagnose",  "calibrate", "options",
                                           "report",       "library",  "console", "commands"};

/// The parts of the runtime that each stage may include: values and formats, but not the methods that run generated
/// code.
const std::map<std::string, std::vector<std::string>> kRuntime{
    {"support", {"runtime/terminal/printable.h"}},
    {"ast", {"runtime/terminal/printable.h"}},
    {"density", {"runtime/terminal/printable.h"}},
    {"math", {"runtime/rng.h"}},
    {"model", {"runtime/files/", "runtime/host.h", "runtime/terminal/printable.h", "runtime/result.h"}},
    {"binding", {"runtime/files/", "runtime/host.h", "runtime/terminal/printable.h", "runtime/result.h"}},
    {"loops", {"runtime/abi.h", "runtime/machine/random.h", "runtime/result.h", "runtime/threshold.h"}},
    {"analysis", {"runtime/threshold.h"}},
    {"lower", {"runtime/abi.h", "runtime/machine/random.h", "runtime/threshold.h"}},
    {"passes", {"runtime/threshold.h"}},
    {"conditionals", {"runtime/threshold.h"}},
    {"schedule", {"runtime/threshold.h"}},
    {"native",
     {"runtime/abi.h", "runtime/embedded/bitcode.h", "runtime/machine/random.h", "runtime/plugin.h",
      "runtime/threshold.h"}},
    {"evaluate", {"runtime/rng.h", "runtime/array.h", "runtime/files/", "runtime/host.h", "runtime/result.h"}},
    {"machine", {"runtime/machine/"}},
    {"embedding", {"runtime/machine/", "runtime/result.h"}},
    {"instance", {"runtime/"}},
    {"posterior", {"runtime/"}},
    {"fit", {"runtime/"}},
    {"score", {"runtime/"}},
    {"predict", {"runtime/"}},
    {"diagnose", {"runtime/"}},
    {"calibrate", {"runtime/"}},
    {"options",
     {"runtime/files/text.h", "runtime/output/", "runtime/inference/", "runtime/parallel/", "runtime/search/",
      "runtime/files/atomic_file.h", "runtime/result.h"}},
    {"report", {"runtime/files/", "runtime/output/", "runtime/terminal/printable.h", "runtime/result.h"}},
    {"library", {"runtime/"}},
    {"console", {"runtime/"}},
    {"commands", {"runtime/"}},
};

/// Calls `visit(file, line number, line)` for every line of C++ in a folder.
template <class Visit>
void each_line(const fs::path& folder, const Visit& visit) {
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(folder)) {
    const std::string extension = e.path().extension().string();
    if (extension != ".h" && extension != ".cpp") continue;
    std::ifstream file(e.path());
    std::string text;
    for (int line = 1; std::getline(file, text); ++line)
      visit(e.path().generic_string(), line, text);
  }
}

std::vector<Include> includes_of(const fs::path& folder) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  std::vector<Include> out;
  each_line(folder, [&](const std::string& file, int line, const std::string& text) {
    std::smatch found;
    if (std::regex_search(text, found, kInclude)) out.push_back({file, line, found[1]});
  });
  return out;
}

/// Returns the folder inside compiler/ of a path, as "model"; empty for files of compiler/ itself.
std::string folder_of(const std::string& path) {
  const std::size_t begin = std::string("compiler/").size(), end = path.find('/', begin);
  return end == std::string::npos ? "" : path.substr(begin, end - begin);
}

std::size_t stage_index(const std::string& rung) {
  return static_cast<std::size_t>(std::find(kStageOrder.begin(), kStageOrder.end(), rung) - kStageOrder.begin());
}

bool starts_with_one_of(const std::string& s, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return s.starts_with(p); });
}

bool allowed_in_compiler(const Include& i) {
  const std::string own = folder_of(i.file);
  if (own.empty()) return true;  // main and the pipeline may include everything
  if (i.target.starts_with("compiler/")) {
    const std::string other = folder_of(i.target);
    return other.empty() ? stage_index(own) > stage_index("embedding") : stage_index(other) <= stage_index(own);
  }
  if (i.target.starts_with("runtime/")) {
    const auto it = kRuntime.find(own);
    return it != kRuntime.end() && starts_with_one_of(i.target, it->second);
  }
  return true;
}

}  // namespace

TEST_CASE("every folder of compiler/ has its place in the order of stages") {
  for (const fs::directory_entry& e : fs::directory_iterator("compiler")) {
    if (!e.is_directory()) continue;
    INFO(e.path().generic_string());
    CHECK(stage_index(e.path().filename().string()) < kStageOrder.size());
  }
}

TEST_CASE("stages include only what is before them") {
  const std::vector<Include> all = includes_of("compiler");
  REQUIRE(all.size() > 100);
  for (const Include& i : all) {
    if (allowed_in_compiler(i)) continue;
    FAIL_CHECK(i.file << ":" << i.line << ": must not include " << i.target);
  }
}

TEST_CASE("stages of the compiler run in the pipeline alone") {
  // The call of a stage, and where the name may stand: in the folder of the stage, and where it is that of another
  // function.
  struct Stage {
    std::string call;
    std::vector<std::string> own;
  };
  const std::string other = R"((^|[^\w.>:"]|\blehr::))";  // what stands before the name of a free function
  const std::vector<Stage> stages{
      {other + R"(parse\()", {"compiler/ast/", "compiler/loops/"}},
      {other + R"(resolve\()", {"compiler/model/"}},
      {other + R"((expand|expand_for_draws)\()", {"compiler/density/"}},
      {other + R"((join|derive)\()",
       {"compiler/conditionals/", "compiler/ast/layout.cpp", "compiler/native/reduction_trees.cpp"}},
      {R"(conditionals::with_sample_factors\()", {"compiler/conditionals/"}},
      {other + R"((schedule::)?plan\()",
       {"compiler/schedule/", "compiler/commands/plan.cpp", "compiler/evaluate/marginal.cpp"}},
      {R"(\btemper_items\()", {"compiler/schedule/"}},
      {other + R"(lower\()", {"compiler/lower/", "compiler/native/", "compiler/model/resolve_names.cpp"}},
      {R"((loops::|[^\w.>:])optimise\()", {"compiler/passes/", "compiler/native/"}},
      {R"(\b(llvm_text|assembly|emit_embeddable|Jit>?)\()", {"compiler/native/"}}};
  std::size_t calls = 0;
  for (const Stage& stage : stages) {
    const std::regex call(stage.call);
    each_line("compiler", [&](const std::string& file, int line, const std::string& text) {
      if (starts_with_one_of(file, stage.own)) return;
      if (!std::regex_search(text.substr(0, text.find("//")), call)) return;
      if (file == "compiler/pipeline.cpp") ++calls;
      else FAIL_CHECK(file << ":" << line << ": " << text);
    });
  }
  CHECK(calls >= stages.size());
}

TEST_CASE("the runtime knows nothing of the compiler, LLVM or ANTLR") {
  for (const Include& i : includes_of("runtime")) {
    if (!starts_with_one_of(i.target, {"compiler/", "llvm", "antlr4", "grammar/"})) continue;
    FAIL_CHECK(i.file << ":" << i.line << ": must not include " << i.target);
  }
}

TEST_CASE("folders of the runtime include only those that are listed") {
  const std::map<std::string, std::set<std::string>> known{
      {"", {"terminal"}},
      {"terminal", {}},
      {"machine", {}},
      {"files", {"terminal"}},
      {"output", {"files", "terminal"}},
      {"parallel", {"machine"}},
      {"inference", {"machine", "parallel"}},
      {"search", {"machine", "parallel", "inference"}},
      {"cluster", {"parallel", "terminal"}},
      {"embedded", {"machine"}},
      {"archive", {"embedded", "machine", "parallel", "inference", "search"}}};
  const auto folder_in_runtime = [](const std::string& path) {
    const fs::path p = fs::path(path).lexically_relative("runtime");
    return p.has_parent_path() ? p.begin()->string() : std::string();
  };
  for (const fs::directory_entry& e : fs::directory_iterator("runtime")) {
    INFO(e.path().generic_string());
    if (e.is_directory()) CHECK(known.contains(e.path().filename().string()));
  }
  for (const Include& i : includes_of("runtime")) {
    if (!i.target.starts_with("runtime/")) continue;
    const std::string own = folder_in_runtime(i.file), other = folder_in_runtime(i.target);
    if (own.empty() || other.empty() || own == other || (known.contains(own) && known.at(own).contains(other)))
      continue;
    FAIL_CHECK(i.file << ":" << i.line << ": must not include " << i.target);
  }
}

TEST_CASE("numbers are read without the locale of the host") {
  static const std::regex kReads(
      R"(\b(strto(f|d|ld)|sto(f|d|ld)|atof|[fs]?scanf|setlocale)\s*\(|\b[io]?stringstream\b)");
  for (const char* folder : {"compiler", "runtime"}) {
    each_line(folder, [](const std::string& file, int line, const std::string& text) {
      if (std::regex_search(text, kReads)) FAIL_CHECK(file << ":" << line << ": " << text);
    });
  }
}

TEST_CASE("what goes into built objects stands alone") {
  std::vector<Include> all = includes_of("runtime/embedded");
  for (const Include& i : includes_of("runtime/machine"))
    all.push_back(i);
  REQUIRE(all.size() > 20);
  for (const Include& i : all) {
    if (!i.target.ends_with(".h") ||
        starts_with_one_of(i.target, {"runtime/embedded/", "runtime/machine/", "runtime/abi.h", "runtime/rng.h"}))
      continue;
    FAIL_CHECK(i.file << ":" << i.line << ": must not include " << i.target);
  }
}

TEST_CASE("LLVM only in compiler/native/*.cpp") {
  for (const Include& i : includes_of("compiler")) {
    if (!i.target.starts_with("llvm")) continue;
    INFO(i.file << ":" << i.line << ": " << i.target);
    CHECK((i.file.starts_with("compiler/native/") && i.file.ends_with(".cpp")));
  }
}

TEST_CASE("ANTLR only in compiler/ast, and in no header that others include") {
  const std::vector<Include> all = includes_of("compiler");
  for (const Include& i : all) {
    if (!starts_with_one_of(i.target, {"antlr4", "grammar/"})) continue;
    INFO(i.file << ":" << i.line << ": " << i.target);
    CHECK(i.file.starts_with("compiler/ast/"));
    for (const Include& user : all) {
      if (user.target != i.file) continue;
      INFO("included by " << user.file);
      CHECK(user.file.starts_with("compiler/ast/"));
    }
  }
}

TEST_CASE("the headers that are installed need the standard library and each other alone") {
  const std::set<std::string> installed{"compiler/library/lehr.h", "compiler/library/lehr_c.h",
                                        "compiler/options/fit_options.h", "runtime/result.h"};
  std::vector<Include> all = includes_of("compiler");
  std::ranges::copy(includes_of("runtime"), std::back_inserter(all));
  for (const Include& i : all) {
    if (!installed.contains(i.file)) continue;
    INFO(i.file << ":" << i.line << ": " << i.target);
    CHECK(
        (installed.contains(i.target) || i.target == "stdint.h" || i.target.find_first_of("./") == std::string::npos));
  }
}

TEST_CASE("options are spelled as on a command line by commands and the console alone") {
  static const std::regex kSpelled("\"[^\"]*--[a-z]"), kComment("^\\s*//");
  for (const char* folder : {"compiler", "runtime"}) {
    each_line(folder, [](const std::string& file, int line, const std::string& text) {
      if (file.starts_with("compiler/commands/") || file.starts_with("compiler/console/") ||
          file == "compiler/main.cpp" || file == "compiler/options/fit_settings.cpp")  // the table has texts of --help
        return;
      if (std::regex_search(text, kSpelled) && !std::regex_search(text, kComment))
        FAIL_CHECK(file << ":" << line << ": " << text);
    });
  }
}

TEST_CASE("what a family or a parameter is called is known to its row alone") {
  std::set<std::string> names;
  for (const lehr::math::FamilyRow& row : lehr::math::families()) {
    names.insert(row.name);
    for (const lehr::math::Spelling& s : row.spellings)
      names.insert(s.name);
    for (const lehr::math::Factor* f : {row.factor ? &*row.factor : nullptr, lehr::math::point_factor(row)}) {
      for (std::size_t k = 0; f && k < f->parameters.size(); ++k)
        names.insert(f->parameters[k].name);
    }
  }
  // Matches comparisons, look-ups and tables by a name, but not texts that are only printed.
  const std::string name = fmt::format("\"({})\"", fmt::join(names, "|"));
  const std::regex decides("([=!]= *|\\b(find|find_family|contains|count|at|get)\\((\\{[^\"}]*)?)" + name + "|\\{" +
                           name + ", *[A-Z]\\w*::");
  // The shape of a cooling schedule is an option of the command line.
  const std::vector<std::string> others{"compiler/math/", "compiler/options/anneal_spec.cpp"};
  for (const char* folder : {"compiler", "runtime"}) {
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(folder)) {
      const std::string path = e.path().generic_string();
      if (!e.is_regular_file() || starts_with_one_of(path, others)) continue;
      std::ifstream file(path);
      std::string text;
      for (int line = 1; std::getline(file, text); ++line) {
        if (std::regex_search(text, decides)) FAIL_CHECK(path << ":" << line << ": " << text);
      }
    }
  }
}

TEST_CASE("files and folders are small") {
  constexpr int kLinesOfFile = 600, kLinesOfFolder = 6000, kFiles = 45;
  std::map<std::string, int> files, lines;  // by folder
  for (const char* root : {"compiler", "runtime", "tests", "models", "docs"}) {
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(root)) {
      if (e.is_regular_file() && e.path().extension() != ".pyc") ++files[e.path().parent_path().generic_string()];
    }
  }
  for (const char* root : {"compiler", "runtime"}) {
    std::map<std::string, int> by_file;
    each_line(root, [&](const std::string& file, int line, const std::string&) { by_file[file] = line; });
    for (const auto& [file, n] : by_file) {
      if (n > kLinesOfFile) FAIL_CHECK(file << ": " << n << " lines");
      lines[fs::path(file).parent_path().generic_string()] += n;
    }
  }
  for (const auto& [folder, n] : files)
    if (n > kFiles) FAIL_CHECK(folder << ": " << n << " files");
  for (const auto& [folder, n] : lines)
    if (n > kLinesOfFolder) FAIL_CHECK(folder << ": " << n << " lines");
}

TEST_CASE("functions fit on a page") {
  constexpr int kLines = 80;
  static const std::regex kScope(R"(^\s*(template.*>\s*)?(namespace|extern|struct|class|enum|union)\b)");
  for (const char* folder : {"compiler", "runtime"}) {
    int first = 0;
    std::string head, close;  // first line of a definition, and the line that ends its body
    std::size_t count = 0;
    each_line(folder, [&](const std::string& file, int line, const std::string& text) {
      if (line == 1) close.clear();
      if (!close.empty()) {
        if (!text.starts_with(close)) return;
        close.clear();
        ++count;
        if (line - first >= kLines) FAIL_CHECK(file << ":" << first << ": " << line - first + 1 << " lines: " << head);
        return;
      }
      const std::size_t indent = text.find_first_not_of(' ');
      if (indent == 0 || indent == 2) {
        head = text;
        first = line;
      }
      if (text.ends_with('{') && !std::regex_search(head, kScope))
        close = std::string(head.find_first_not_of(' '), ' ') + "}";
    });
    CHECK(count > 100);
  }
}
