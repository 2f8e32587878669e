// Predictions for elements that the fit does not have: later steps of a chain, new groups, new items of a global plate.
// The plates of a fit are enlarged; factors of its elements are copied, and new elements follow their priors.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// The sizes of plates that a user asks for in a prediction (`--sizes`), by name of the plate.
struct PlateSizes {
  /// `sizes`: total sizes (`time=20`). `more`: numbers of elements to add to those of the fit (`time=+5`), or to those
  /// of the data for plates that the data size.
  std::map<std::string, std::int64_t> sizes, more;
};

/// The names of the elements of a plate that the data size, such as items, where a column of ids names some that the
/// fit knows. Empty if none does.
struct ItemLabels {
  std::vector<std::string> labels;  // of the elements: those of the fit that the data have, in its order; then new ones
  std::size_t of_fit = 0;           // how many of them the fit has
  std::string absent;               // the first label of the fit that the data do not have; empty: they have all
};
/// Returns the names that these data have for the elements of a plate, in the order of the fit.
ItemLabels item_labels(const model::Model& m, const Dataset& data, const SavedFit& fit, model::PlateId plate);

/// Data and settings for a prediction of elements that the fit does not have: later steps of a chain, new groups.
struct EnlargedData {
  Dataset data;                   // the data, with missing observations added where plates became longer
  Settings settings;              // sizes and labels by which the data are bound: those of the fit, enlarged
  std::vector<Diagnostic> notes;  // messages: what is new, and what its prediction is based on
  std::map<model::PlateId, ItemLabels> named_items = {};  // plates that the data size, with names that the fit knows
};

/// Enlarges the plates of global parameters for a prediction, so that elements which the fit does not have are
/// predicted. A plate grows by `given`, by labels in the data that the fit does not have, and to the length of arrays
/// in the data. Rows and arrays on other plates, which the data size, get the elements of PlateSizes::more.
///
/// ExitCode::data if a plate would shrink, or would grow although its size is constant or its elements are values or
/// components of a latent variable. It is also an error if the data number an element beyond the end of a plate that
/// `given` does not enlarge. ExitCode::usage if PlateSizes::more names a plate that the model does not have.
Result<EnlargedData> enlarge_plates(const Analysed& analysed, Dataset data, const PlateSizes& given,
                                    const SavedFit& fit);

/// The global factors of a fit, laid out for the enlarged plates of a prediction.
struct EnlargedFactors {
  std::vector<NamedArray> arrays;  // parameters; those of new elements are placeholders of a proper factor
  /// By VariableId and element: true if the fit has it, or `data` have its values; false for placeholders. An empty
  /// list means that the fit has all elements.
  std::vector<std::vector<bool>> in_fit;
};
/// Lays out the global factors of a fit for the larger sizes of `data`, and says which elements the fit has. A variable
/// that was observed in the fit has no factor there. If its values in `data` have gaps, it gets a point factor at each
/// value that `data` have, and a placeholder at each gap.
EnlargedFactors enlarge_factors(const Analysed& analysed, const BoundData& data, const SavedFit& fit);

}  // namespace lehr
