// See every_model.h.
#include "tests/posterior/every_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/files.h"
#include "tests/results.h"

namespace lehr::test {
namespace {

struct Command {
  std::vector<std::string> data;
  Settings settings;
};

/// Returns the options of the `lehr fit` line in the comment at the head of a model.
Command documented_command(const std::string& text) {
  std::istringstream lines(text);
  std::string line, joined;
  bool inside = false;
  while (std::getline(lines, line) && line.starts_with("//")) {
    inside = inside || line.find("lehr fit") != std::string::npos;
    if (!inside) continue;
    joined += line.substr(2);
    if (!line.ends_with("\\")) break;
    joined.back() = ' ';
  }
  Command out;
  std::istringstream words(joined);
  std::string word, option;
  while (words >> word) {
    if (word.starts_with("--")) {
      option = word;
      continue;
    }
    const std::size_t at = word.find('=');
    if (option == "--data") out.data.push_back(word);
    if (option == "--set") out.settings.constants[word.substr(0, at)] = std::stod(word.substr(at + 1));
  }
  return out;
}

/// Cuts ragged data to the first `rows` rows, as the interpreter is slow.
void shorten(Dataset& data, std::size_t rows) {
  for (auto& [name, a] : data) {
    if (!a.ragged() || a.row_offsets.size() <= rows + 1) continue;
    a.row_offsets.resize(rows + 1);
    a.shape[0] = static_cast<std::int64_t>(rows);
    a.values.resize(static_cast<std::size_t>(a.row_offsets.back()));
    if (!a.multiplicity.empty()) a.multiplicity.resize(a.values.size());
  }
}

}  // namespace

std::unique_ptr<Prepared> prepare(const std::filesystem::path& path, const Thresholds& thresholds) {
  const Source source{path.string(), contents(path)};
  Diagnostics diagnostics;
  std::optional<Analysed> front = analyse(source, {}, diagnostics);
  INFO(render(diagnostics, source));
  REQUIRE(front);
  const Command command = documented_command(source.text);
  Dataset dataset = require_ok(read_bindings(command.data));
  shorten(dataset, 25);
  BoundData data = require_ok(lehr::bind(front->model, dataset, command.settings));
  front = analyse(source, expand_options(data), diagnostics, {.thresholds = thresholds});
  REQUIRE(front);
  data.observed.resize(front->model.variables.size());
  return std::make_unique<Prepared>(Prepared{std::move(*front), std::move(data)});
}

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> out = files_in("models");
  for (std::filesystem::path& path : files_in("tests/posterior/models"))
    out.push_back(std::move(path));
  return out;
}

double difference(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double worst = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    REQUIRE(a[k].size() == b[k].size());
    double size = 1e-300;
    for (double x : b[k])
      size = std::max(size, std::abs(x));
    for (std::size_t i = 0; i < a[k].size(); ++i)
      worst = std::max(worst, std::abs(a[k][i] - b[k][i]) / size);
  }
  return worst;
}

}  // namespace lehr::test
