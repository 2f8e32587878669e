// A fit as one HTML file: how it went, what it found, whether that can be trusted, and how it was derived.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "compiler/conditionals/derivation.h"
#include "compiler/report/choose.h"
#include "runtime/files/saved_fit.h"

namespace lehr::report {

/// What a report is made from. What is no longer there is left out, and `no_model`, `no_data` say why.
struct Contents {
  SavedFit fit;
  nlohmann::json summary;    // fit.json
  nlohmann::json diagnosis;  // diagnosis.json, or null
  std::string model_text;
  std::optional<model::Model> model;
  std::optional<conditionals::Derivation> derivation;
  std::optional<BoundData> data;
  std::string no_model, no_data;
  std::string locals_cure;  // how a fit is told to write the factors of items
};

std::string write(const Contents& contents, const PictureOptions& options);

}  // namespace lehr::report
