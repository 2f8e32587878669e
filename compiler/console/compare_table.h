// The table of `lehr compare` for more than two saved fits: one line for each fit, with the objective, the held-out
// score, the iterations and the time.
#pragma once
#include <string>
#include <vector>

#include "runtime/output/saved_fit.h"

namespace lehr {

/// The final value of a fit's objective, with its name. It is the ELBO of a variational fit, the log evidence if the
/// fit estimated it, or the log joint density of a sampler's last draw.
struct FitObjective {
  std::string name;  // name of the objective: "ELBO", "log evidence" or "log joint"
  double value = 0;  // value of the objective in nats
};
/// Returns the objective of a saved fit and its final value: the log evidence if the fit has one, else SavedFit::elbo.
FitObjective objective_of(const SavedFit& fit);

/// Returns a text table with one line for each fit: directory, method, status, objective, held-out score, iterations,
/// seconds and sizes. Columns that are empty for all fits are left out.
std::string compare_table(const std::vector<SavedFit>& fits);

}  // namespace lehr
