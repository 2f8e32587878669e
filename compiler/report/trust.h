// The section of a report on whether the fit can be trusted, from the files in the directory of the fit.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "compiler/report/markup.h"
#include "compiler/report/posterior_summary.h"
#include "runtime/output/saved_fit.h"

namespace lehr::report {

/// Returns in a phrase how the fit ended, for the head of a report: "converged after 30 sweeps", and in how many of
/// them the ELBO fell, if it did. `summary` is fit.json.
std::string verdict(const SavedFit& fit, const nlohmann::json& summary);

/// Returns the section of a report on whether the fit can be trusted: the warnings of the fit, and notes on how the
/// ELBO differs from the exact one. For samplers it adds R-hat and effective sample sizes, for variational fits the
/// results of `lehr diagnose`. `summary` is fit.json; `diagnosis` is diagnosis.json, or null if there is none for this
/// fit: the section then names that command.
Markup trust(const SavedFit& fit, const nlohmann::json& summary, const nlohmann::json& diagnosis);

}  // namespace lehr::report
