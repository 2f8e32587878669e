// See text.h.
#include "tests/model/text.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "compiler/ast/parse.h"

namespace lehr {

Resolved resolve_text(const std::string& text) {
  const Source source{"test.lehr", text};
  Diagnostics diagnostics;
  Resolved out;
  if (const auto ast = parse(source, diagnostics)) out.model = resolve(*ast, diagnostics);
  out.diagnostics = render(diagnostics, source);
  return out;
}

model::Model model_of(const std::string& body) {
  Resolved r = resolve_text("model m {\n" + body + "\n}\n");
  INFO(r.diagnostics);
  REQUIRE(r.diagnostics.empty());
  REQUIRE(r.model);
  return *r.model;
}

DataArray array_of(const std::string& name, std::vector<std::int64_t> shape, std::vector<double> values) {
  DataArray a;
  a.name = name;
  a.shape = std::move(shape);
  a.values = std::move(values);
  a.source = name + ".npy";
  return a;
}

DataArray ragged_of(const std::string& name, const std::vector<std::vector<double>>& rows) {
  DataArray a;
  a.name = name;
  a.source = name + ".json";
  a.row_offsets = {0};
  std::int64_t longest = 0;
  for (const auto& row : rows) {
    a.values.insert(a.values.end(), row.begin(), row.end());
    a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    longest = std::max(longest, static_cast<std::int64_t>(row.size()));
  }
  a.shape = {static_cast<std::int64_t>(rows.size()), longest};
  return a;
}

Dataset dataset_of(const std::vector<DataArray>& arrays) {
  Dataset out;
  for (const DataArray& a : arrays)
    out[a.name] = a;
  return out;
}

}  // namespace lehr
