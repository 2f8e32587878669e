// The meeting of a Model with the user's data: sizes of plates, arrays in the model's order of axes.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// What the command line gives besides data.
struct Settings {
  std::map<std::string, double> constants;                 // --set K=50
  std::map<std::string, std::int64_t> sizes;               // --sizes topic=100
  std::map<std::string, std::vector<std::int64_t>> rows;   // lengths of those of nested plates, as a fit had them
  std::map<std::string, std::vector<std::string>> labels;  // --labels term=vocab.txt, already read
  std::map<std::string, std::vector<std::string>> words =
      {};                                      // that are 0 and 1, by Bernoulli variable, as a fit had them
  std::optional<model::PlateId> part_of = {};  // the data are those of some of its elements
  std::int64_t first = 0;                      // the number of the first one, for messages
};

/// What a concentration of 0 is bound as. It is no multiple of anything that is written, and keeps every formula
/// finite.
inline constexpr double kNoMass = 1.0000000001e-4;

/// An array of the model, packed: row-major over its axes in the model's order (plates, then event axes).
/// A nested plate (`token in doc`) and its parent are one packed axis, row after row (BoundData::offsets).
struct BoundArray {
  std::vector<double> values;
  bool has_missing = false;  // some value is NaN (variables only)
  bool has_zeros = false;    // concentrations of a simplex, some of which are 0 and bound as kNoMass
};

struct BoundData {
  std::vector<double> constants;    // by ConstantId
  std::vector<std::int64_t> sizes;  // by PlateId: elements; nested plates: elements of all rows together
  std::vector<bool> sized_by_data;  // by PlateId: the size came from data, labels or --sizes, not from `= K`
  std::vector<std::vector<std::int64_t>> offsets;         // by PlateId: nested plates, size(parent) + 1 positions
  std::vector<BoundArray> givens;                         // by GivenId
  std::vector<BoundArray> observed;                       // by VariableId; empty for latents without values
  std::vector<bool> clamped;                              // by VariableId: latent where its values are missing
  std::vector<std::vector<std::string>> labels;           // by PlateId; empty when the elements have no names
  std::map<std::string, std::vector<std::string>> words;  // that are 0 and 1, by Bernoulli variable
  std::vector<std::string> remarks;                       // what was done to the data that the user should know
  std::string elsewhere;                                  // digest of the data that are read when they are needed
};

/// Elements of a set; of a nested one, of the shortest of its rows. -1 where that is not known.
std::int64_t shortest_row(const BoundData& data, model::PlateId plate);

/// Matches names, infers and cross-checks sizes (two sources that disagree: an error that names the plate,
/// both sizes and where each came from), expands or keeps multiplicities (`times`, LDA-C), checks supports (a
/// category outside its plate, a negative count, a value outside (0, 1), NaN where no missing value is
/// allowed, a simplex that does not sum to 1) and reports unset constants and unbound data. All problems
/// found are reported together: the first is the Error, the others are its notes. An array named like a
/// nested plate gives the lengths of its rows; data over that plate may then be joined end to end (frames of
/// sequences). Names that the model does not have are ignored: files by name carry more than one model needs;
/// they are mentioned when something is unbound. A number named like `const K;` gives its value. Call it as
/// lehr::bind: a Dataset is a std::map, so that the bare name finds std::bind as well. Arrays are moved from `data`.
/// An observed variable with gaps that cannot be left out of the likelihood (others depend on it, or single entries of
/// a vector are missing), and a latent one of which the data have some values, are BoundData::clamped; a latent one of
/// which they have all values is an error where it was bound by its own name or as a column of a table, and not used
/// otherwise.
Result<BoundData> bind(const model::Model& model, Dataset data, const Settings& settings);

/// As bind, for drawing from the model: observed variables need not be bound (those bound still give sizes),
/// a multiplicity that is not bound is 1, copies of an LDA-C file are elements of their own, and every plate must have
/// a size.
Result<BoundData> bind_givens(const model::Model& model, Dataset data, const Settings& settings);

/// Sizes and constants without data (`emit`, `build`): plates that nothing sizes keep -1, constants without a
/// value are NaN, `givens` and `observed` are empty arrays. Constants, limits and constant indices are checked as by
/// bind.
Result<BoundData> bind_sizes(const model::Model& model, const Settings& settings);

/// Lengths of the rows of nested plates whose elements data name: new data name elements of the same.
std::map<std::string, std::vector<std::int64_t>> named_rows(const model::Model& model, const BoundData& data);

}  // namespace lehr
