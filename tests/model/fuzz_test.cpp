// Fuzz test of the front end: model texts with random mutations are parsed and resolved. Each must give either a model
// or errors, never both or neither, and never crash. The mutations are the same in every run.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/ast/parse.h"
#include "compiler/model/print_model.h"
#include "tests/files.h"
#include "tests/model/text.h"

using namespace lehr;

namespace {

std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    if (word(text[i])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text[i]));
      const auto sign = [&] { return number && (text[end] == '-' || text[end] == '+') && text[end - 1] == 'e'; };
      while (end < text.size() && (word(text[end]) || sign()))
        ++end;
    } else if (text.compare(i, 2, "//") == 0) {
      while (end < text.size() && text[end] != '\n')
        ++end;
      i = end;
      continue;
    }
    if (!std::isspace(static_cast<unsigned char>(text[i]))) out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

void try_text(const std::string& text) {
  const Source source{"fuzz.lehr", text};
  Diagnostics diagnostics;
  const auto ast = parse(source, diagnostics);
  if (!ast) {
    CHECK(diagnostics.has_errors());
    return;
  }
  const auto model = resolve(*ast, diagnostics);
  INFO(text);
  CHECK(model.has_value() != diagnostics.has_errors());
  render(diagnostics, source);
  if (!model) return;
  print(*model);
  Settings settings;
  for (const auto& p : model->plates)
    settings.sizes[p.name] = 2;
  bind_sizes(*model, settings);
}

}  // namespace

TEST_CASE("mutated models never crash the front end") {
  std::vector<std::vector<std::string>> seeds;
  for (const char* folder : {"models", "tests/golden"}) {
    for (const std::filesystem::path& path : test::files_in(folder)) {
      const std::string text = test::contents(path);
      if (text.size() <= 4096 && text.find("e + e + e") == std::string::npos) seeds.push_back(tokens_of(text));
    }
  }
  REQUIRE(seeds.size() > 20);
  std::mt19937 rng(20240607);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> t = seeds[below(seeds.size())];
    const std::vector<std::string>& other = seeds[below(seeds.size())];
    for (std::size_t edits = 1 + below(3); edits > 0 && t.size() > 4; --edits) {
      const std::size_t at = 3 + below(t.size() - 4);
      switch (below(5)) {
        case 0:
          t.erase(t.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          t[at] = t[below(t.size())];
          break;
        case 2:
          t[at] = other[below(other.size())];
          break;
        case 3:
          std::swap(t[at], t[3 + below(t.size() - 4)]);
          break;
        default:
          t.insert(t.begin() + static_cast<std::ptrdiff_t>(at), other[below(other.size())]);
          break;
      }
    }
    std::string text;
    for (const std::string& token : t)
      text += token + " ";
    try_text(text);
  }
}
