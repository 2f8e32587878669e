// Models and data from text, for the tests of the Model rung.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr {

/// A resolved model and all diagnostics of the way, rendered.
struct Resolved {
  std::optional<model::Model> model;
  std::string diagnostics;
};

Resolved resolve_text(const std::string& text);
/// `model m { BODY }`, which must resolve without any diagnostic.
model::Model model_of(const std::string& body);

/// A rectangular array; its source is "NAME.npy".
DataArray array_of(const std::string& name, std::vector<std::int64_t> shape, std::vector<double> values);
DataArray ragged_of(const std::string& name, const std::vector<std::vector<double>>& rows);
Dataset dataset_of(const std::vector<DataArray>& arrays);

}  // namespace lehr
