// Every example model resolves without a diagnostic, and the command line in the comment at its head binds its data.
// Complete models quoted in docs/language.md resolve too.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/files.h"
#include "tests/model/text.h"

using namespace lehr;

namespace {

/// Returns the words of the `lehr fit` command in the comment at the head of a model, with continuation lines joined.
std::vector<std::string> command_of(const std::string& text) {
  std::vector<std::string> words;
  std::stringstream lines(text.substr(text.find("lehr fit")));
  for (std::string line; std::getline(lines, line);) {
    std::stringstream in(line);
    bool more = false;
    for (std::string word; in >> word;) {
      more = word == "\\";
      if (word != "//" && word != "\\") words.push_back(word);
    }
    if (!more) break;
  }
  return words;
}

}  // namespace

TEST_CASE("models/ resolves and binds as its comments say") {
  std::size_t seen = 0;
  for (const std::filesystem::path& path : test::files_in("models")) {
    ++seen;
    const std::string text = test::contents(path);
    INFO(path);
    const Resolved r = resolve_text(text);
    CHECK(r.diagnostics == "");
    REQUIRE(r.model);
    CHECK(r.model->name == path.stem());
    std::vector<std::string> bindings;
    Settings settings;
    const std::vector<std::string> words = command_of(text);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string& value = words[i + 1];
      const std::string name = value.substr(0, value.find('=')), rest = value.substr(value.find('=') + 1);
      if (words[i] == "--data") bindings.push_back(value);
      if (words[i] == "--set") settings.constants[name] = std::stod(rest);
      if (words[i] == "--sizes") settings.sizes[name] = std::stoll(rest);
      if (words[i] == "--labels") settings.labels[name] = *read_labels(rest);
    }
    REQUIRE_FALSE(bindings.empty());
    const auto data = read_bindings(bindings);
    REQUIRE(data);
    const auto bound = lehr::bind(*r.model, *data, settings);
    if (!bound) FAIL_CHECK(render(bound.error()));
  }
  CHECK(seen >= 13);
}

TEST_CASE("complete models of docs/language.md resolve") {
  const std::string page = test::contents("docs/language.md");
  const std::string fence = "```";
  std::size_t seen = 0;
  for (std::size_t at = page.find(fence + "lehr"); at != std::string::npos; at = page.find(fence + "lehr", at)) {
    const std::size_t begin = page.find('\n', at) + 1, end = page.find(fence, begin);
    const std::string block = page.substr(begin, end - begin);
    at = end + fence.size();
    if (block.find("model ") == std::string::npos) continue;
    ++seen;
    CHECK(resolve_text(block).diagnostics == "");
  }
  CHECK(seen >= 5);
}
