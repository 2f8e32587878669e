// Whether a fit can be trusted, as far as its directory says.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "compiler/report/markup.h"
#include "compiler/report/numbers.h"
#include "runtime/files/saved_fit.h"

namespace lehr::report {

/// How it ended, in a sentence.
std::string verdict(const SavedFit& fit, const nlohmann::json& summary);

/// Warnings of the fit, what the ELBO is besides the log joint, effective sizes and R-hat of what was sampled.
/// `diagnosis`: diagnosis.json, or null where there is none of this fit.
Markup trust(const SavedFit& fit, const nlohmann::json& summary, const nlohmann::json& diagnosis);

}  // namespace lehr::report
