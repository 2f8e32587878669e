// The table of `lehr compare` for more than two saved fits: one line for each fit, with the objective, the held-out
// score, the iterations and the time.
#pragma once
#include <string>
#include <vector>

#include "runtime/output/saved_fit.h"

namespace lehr {

/// The number by which `lehr compare` lets fits be compared, with its name: the ELBO of a variational fit, the log
/// evidence if the fit estimated it, or the log joint density of a sampler's last draw.
struct FitObjective {
  std::string name;  // which number it is: "ELBO", "log evidence" or "log joint"
  double value = 0;  // its value at the end of the fit, in nats
};
/// Returns the number by which a saved fit is compared with others: the log evidence if the fit has one, else
/// SavedFit::elbo, which is the ELBO, or of a sampler the log joint density of the last draw.
FitObjective objective_of(const SavedFit& fit);

/// Returns the text table that `lehr compare` prints for more than two fits, with one line for each: directory, method,
/// status, objective, held-out score, iterations, seconds and sizes. Columns that are empty for all fits are left out.
std::string compare_table(const std::vector<SavedFit>& fits);

}  // namespace lehr
