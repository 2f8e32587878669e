// Predictions for elements of plates that a fit has not seen: later steps of a chain, new groups.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

/// Sizes of plates as the user gives them; `more`: elements beyond those of the fit, or of the data where the plate is
/// theirs.
struct PlateSizes {
  std::map<std::string, std::int64_t> sizes, more;
};

/// What to bind: sizes and labels of the fit, grown to those that are asked for, and data with observations missing
/// where plates are longer than they are.
struct Grown {
  Dataset data;
  Settings settings;
  std::vector<std::string> notes;  // what the fit has not seen, and what it is predicted from
};

/// A plate of global parameters grows by `sizes`, by labels in the data that the fit does not have, and with arrays
/// that are longer than the fit's. ExitCode::data where it would shrink, or where its elements are the values of a
/// latent variable or the components of one; ExitCode::usage for a plate that the model does not have.
Result<Grown> grow(const Analysed& analysed, Dataset data, const PlateSizes& given, const SavedFit& fit);

/// The fit's arrays of global factors laid out for the sizes of `data`, with some proper parameters where the fit has
/// none, and which elements it has (by VariableId; empty: all of them). A variable that was data in the fit and has
/// gaps now has its values in `data`.
struct GrownFactors {
  std::vector<NamedArray> arrays;
  std::vector<std::vector<bool>> seen;
};
GrownFactors grown_factors(const Analysed& analysed, const BoundData& data, const SavedFit& fit);

}  // namespace lehr
