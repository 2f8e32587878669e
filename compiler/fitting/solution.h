// A saved fit beside the data that it was made from: everything that a check of it reads.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "compiler/fitting/fitting.h"
#include "compiler/fitting/item_solution.h"

namespace lehr {

struct Solution {
  std::unique_ptr<BoundModel> bound;  // told from references, where the data are far from zero
  std::unique_ptr<Instance> instance;
  std::vector<NamedArray> factors;                 // all of them, local ones too, about the references
  std::map<std::string, SavedVariable> variables;  // the same by variable
  double elbo = 0;
  ItemSolution items;  // how the local factors were found

  const Analysed& analysed() const { return bound->analysed; }
  const model::Model& model() const { return bound->analysed.model; }
  const BoundData& data() const { return bound->data; }
};

/// Sizes, labels and constants of a fit; what the data say of sizes must agree.
Settings settings_of(const SavedFit& fit, const model::Model& resolved, const Analysed& complete);

/// Global factors are the fit's, local ones are inferred from them (solve_items). ExitCode::data where the fit is one
/// of a sampler, or the data are not of the sizes that it was made from.
Result<Solution> solution_of(const Source& source, const model::Model& resolved, const Analysed& complete,
                             Dataset dataset, const SavedFit& fit, const SweepOptions& local);

}  // namespace lehr
