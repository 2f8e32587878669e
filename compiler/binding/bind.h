// Binding: matches a Model with the user's data. It finds the array of each name, the size of each plate, and stores
// arrays with their axes in the model's order.
//
// Every check that needs data happens here, so that later stages may rely on sizes and supports. The parts of the pass
// are in bind_*.cpp and share binder.h.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "compiler/support/diagnostic.h"
#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// What binding takes besides the model and the data: values from options of the command line, and what an earlier fit
/// recorded, so that new data are read as the data of that fit were.
struct Settings {
  std::map<std::string, double> constants;    // values of constants, by name: `--set K=50`
  std::map<std::string, std::int64_t> sizes;  // numbers of elements, by plate: `--sizes topic=100`
  /// By nested plate: the lengths of its rows in an earlier fit, so that new data refer to the same elements.
  std::map<std::string, std::vector<std::int64_t>> rows;
  std::map<std::string, std::vector<std::string>> labels;  // by plate: `--labels term=vocab.txt`, one name per element
  std::set<std::string> unnamed = {};  // plates whose elements an earlier fit numbers: words in data name none of them
  /// By Bernoulli variable: the two words that stood for 0 and 1 in an earlier fit.
  std::map<std::string, std::vector<std::string>> words = {};
  /// The plate of which the data have only some consecutive elements: a slice of out-of-core data, or data to predict.
  /// Empty if the data are complete.
  std::optional<model::PlateId> subset_plate = {};
  std::int64_t first = 0;  // index in the whole data of the subset's first element; messages add it to element numbers
};

/// The small value that stands for 0 in a data array of Dirichlet concentrations, so that every formula stays finite.
/// Later stages recognise it, and treat the entry as one that never occurs (density/zeros.h). Its digits are such that
/// nothing a user writes is a multiple of it.
inline constexpr double kZeroConcentration = 1.0000000001e-4;

/// The data of one array that a `data` declaration names, or of one variable, in the layout that later stages read:
/// row-major over the declared plates, then over the event axes. A nested plate (`token in doc`) and its parent form
/// one packed axis, row after row without padding; BoundData::offsets has the starts of the rows.
struct BoundArray {
  std::vector<double> values;  // as many as the sizes say; NaN where a value is missing; empty if there are no data
  bool has_missing = false;    // some value is NaN; only variables may have missing values
  /// Some row holds concentrations of a simplex of which some, but not all, were 0 and were replaced by
  /// kZeroConcentration.
  bool has_zeros = false;
};

/// The result of binding: sizes, constants and arrays of one model with one set of data. Fits, prediction and scoring
/// read data only in this form.
struct BoundData {
  std::vector<double> constants;  // values of the model's constants, by ConstantId; NaN without a value
  /// Numbers of elements, by PlateId. A nested plate has those of all its rows together. -1 if nothing gives the size.
  std::vector<std::int64_t> sizes;
  /// By PlateId: true if the size comes from data, labels or `--sizes` instead of `= K` in the model. Of a nested plate
  /// with `= K` it is true if it is so of its parent.
  std::vector<bool> sized_by_data;
  /// By PlateId: the starts of the rows of a nested plate and the end of the last row, size(parent) + 1 numbers. Empty
  /// for other plates.
  std::vector<std::vector<std::int64_t>> offsets;
  std::vector<BoundArray> givens;    // by GivenId: the arrays that `data` declarations name
  std::vector<BoundArray> observed;  // by VariableId: values from the data; empty for a variable without any
  std::vector<bool> clamped;         // by VariableId: the data give some values, and the others are inferred as latent
  std::vector<std::vector<std::string>> labels;  // names of elements, by PlateId; empty if they have none
  /// By Bernoulli variable: the words that stand for 0 and 1. They are those of an earlier fit if there was one, and
  /// "0" and "1" for numbers.
  std::map<std::string, std::vector<std::string>> words;
  std::vector<Diagnostic> warnings;  // what was done to the data that the user may not expect
  std::string external_digest;  // of out-of-core data: a digest of their files, by which a resumed fit sees changes
};

/// Returns the number of elements that a constant index such as `mu[3]` must stay below: the size of the plate, or of a
/// nested plate the length of its shortest row. -1 if nothing gives the size.
std::int64_t shortest_row(const BoundData& data, model::PlateId plate);

/// Returns the size of `plate`, which the compiler added to number the coordinates of a joint Gaussian factor. It is
/// the number of scalars in all members of the factor, computed from the `sizes` of the other plates, by PlateId.
std::int64_t coordinate_count(const model::Model& model, model::PlateId plate, const std::vector<std::int64_t>& sizes);

/// Completes `data` after analysis has added plates to the model: computes the sizes of the plates that `model` has
/// beyond those of the model that was bound. They number the coordinates of joint factors. They have no labels or rows.
void add_sizes(const model::Model& model, BoundData& data);

/// Binds a model to data and returns the result, or an Error that reports all problems that were found. The first
/// problem is its text, up to 19 others are its notes. Values are checked only if all names and sizes are right, and
/// each later check only if the ones before found nothing.
///
/// * Sizes of plates are inferred from shapes and values. Two sources that disagree are an error that names the plate,
///   both sizes and their sources.
/// * Multiplicities (`times`, LDA-C files) are stored, or expanded to single copies if the model has no `times`.
/// * Values are checked against their supports. Errors are for example a category outside its plate, a negative count,
///   or a missing value where none is allowed.
/// * Constants without a value and names without data are errors. Names that the model does not have are ignored,
///   because a file may serve several models.
/// * A single number named like `const K;` gives its value. An array named like a nested plate gives the lengths of its
///   rows; data over that plate may then be concatenated (frames of sequences).
///
/// An observed variable becomes BoundData::clamped if its missing values cannot be left out of the likelihood. That is
/// so if others depend on it, or if only some entries of a vector are missing. A latent variable of which the data have
/// some values is clamped too. If they have all values of it, that is an error where the user bound it by name or as a
/// column of a table; otherwise they are not used.
///
/// Write lehr::bind in calls: a Dataset is a std::map, so argument-dependent look-up of the bare name finds std::bind
/// too. `data` is consumed.
Result<BoundData> bind(const model::Model& model, Dataset data, const Settings& settings);

/// Binds a model to data from which observed variables may be absent, for simulation and calibration. Data for observed
/// variables are optional, but give sizes if they are there; covariates and constants are needed, and every plate must
/// have a size. A multiplicity without data is 1, and copies in an LDA-C file become single elements. Errors and checks
/// are those of bind().
Result<BoundData> bind_givens(const model::Model& model, Dataset data, const Settings& settings);

/// Binds sizes and constants without data, for `emit` and `build`. Plates that nothing sizes have size -1, constants
/// without a value are NaN, and the arrays are empty. Parameters that constants determine, limits and constant indices
/// are checked as in bind().
Result<BoundData> bind_sizes(const model::Model& model, const Settings& settings);

/// Returns the lengths of the rows of nested plates as a fit saves them, so that prediction and scoring give these
/// plates the same elements (Settings::rows). A row has the elements of the nested plate in one element of its parent.
/// The map has an entry, by plate name, for each nested plate to whose elements some data array refers by number.
std::map<std::string, std::vector<std::int64_t>> referenced_rows(const model::Model& model, const BoundData& data);

}  // namespace lehr
