// A saved fit as one HTML file (`lehr report`): how it ended, its posterior in plots, its diagnostics, its data, and
// the derivation of its updates.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "compiler/conditionals/derivation.h"
#include "compiler/report/choose_plot.h"
#include "runtime/output/saved_fit.h"

namespace lehr::report {

/// Everything that the report of a fit (`lehr report`) is made from. Parts that are no longer available are empty;
/// `model_missing_reason` and `data_missing_reason` then have a sentence for the reader.
struct Contents {
  SavedFit fit;                       // the saved fit
  nlohmann::json summary;             // content of fit.json: how the fit was made and how it went
  nlohmann::json diagnosis;           // content of diagnosis.json; null if there is none or it is older than the fit
  std::string model_text;             // text of the model; empty if not available
  std::optional<model::Model> model;  // the model, if available
  std::optional<conditionals::Derivation> derivation;     // derivation of the model's updates, if available
  std::optional<BoundData> data;                          // data of the fit, if available; only together with the model
  std::string model_missing_reason, data_missing_reason;  // why the model or the data are not shown
  std::string locals_note;                                // sentence on how to make a fit save the factors of its items
};

/// Returns the report of a fit as one complete HTML page; the caller writes it to a file.
std::string write(const Contents& contents, const PlotOptions& options);

}  // namespace lehr::report
