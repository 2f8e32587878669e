// Numbers that are names. Elements of a plate may be named by numbers, such as postcodes or the ids of customers. Data
// that refer to the elements then have these numbers, which are no positions.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr::model {

/// An array of data, as far as its name in the model says what it refers to.
struct DataReference {
  std::string name;               // the name in the model
  std::vector<PlateId> axes;      // its plates, event axes last
  std::optional<PlateId> values;  // the plate whose elements its values are; nothing for other values
  bool category = false;          // true: a variable, whose number of values matters to its distribution
};

/// The names of the elements of plates that an option or an earlier fit gives, by the name of the plate.
using LabelsOfPlates = std::map<std::string, std::vector<std::string>>;

/// Converts arrays of whole numbers below 2^53 that refer to elements of a plate, and columns of ids of its elements,
/// to text, where their numbers are names. They are names if one of these holds:
///
/// * The plate has labels, and half of them or more are whole numbers, or all numbers of the arrays are among them.
/// * Another of these arrays is text.
/// * A table has a column of ids beside arrays over the plate, other data refer to its elements, the ids are not 0, 1,
///   ... in any order, and nothing else says how many elements the plate has.
/// * A number is larger than a plate may become by numbers in data (kLargestImplied), and nothing else gives its size.
///
/// The last two do not hold for values of variables, whose distribution depends on how many values there are.
///
/// A number becomes the label of the same value, or its digits. Nested plates, plates that count from a number other
/// than 0, and ordered plates without labels are left alone. `pieces`: the arrays are pieces of longer ones, of which
/// only labels can decide.
void name_numbers(const Model& m, const std::vector<DataReference>& references, const LabelsOfPlates& labels,
                  const std::map<std::string, std::int64_t>& sizes, bool pieces, Dataset& data);

}  // namespace lehr::model
