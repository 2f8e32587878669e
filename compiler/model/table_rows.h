// Matches the lines of tables with the elements of a plate, by a column that is named like the plate (an id column).
// Used where a table has one line per element (bind_lines.cpp), or a group of lines (a row) per element of an outer
// plate (bind_rows.cpp).
//
//   site,y                                     plate site;  data y[site] : real;
//   north,3                                    the elements of `site` are named north and south
//   south,4
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/binder.h"

namespace lehr::model {

/// The rows of a table: groups of consecutive lines that belong to one element.
struct Rows {
  std::vector<std::string> names;           // the id of each row, as text
  std::vector<std::int64_t> offsets = {0};  // first line of each row, and the end of the last one
};

/// The elements of a plate and the rows of the table that belong to them.
struct Places {
  std::vector<std::optional<std::size_t>> row;  // by element: its row; nothing if the table has none
  std::vector<std::string> names;               // by element: its name; empty if elements are numbered
};

/// Returns true if the array is a column of a table that was bound under the name it has there.
bool is_column(const DataArray& a);

/// Returns true if both arrays were read from the same file.
bool of_one_file(const DataArray& a, const DataArray& b);

/// Returns the array and all others of the same name (DataArray::again).
std::vector<const DataArray*> all_of(const DataArray& first);

/// Returns which of the id columns is in the same file as an array over the plate: an index in all_of(ids), 0 if none
/// is. `slots` are any things with a name and axes.
template <class Slots>
std::size_t beside(const Model& m, const Slots& slots, const Dataset& arrays, const DataArray& ids, PlateId plate) {
  const std::vector<const DataArray*> all = all_of(ids);
  const auto found = std::ranges::find_if(all, [&](const DataArray* column) {
    return std::ranges::any_of(slots, [&](const auto& slot) {
      const auto it = arrays.find(slot.name);
      const auto is_along = [&](PlateId p) { return m[p].set == m[plate].set; };
      return it != arrays.end() && std::ranges::any_of(slot.axes, is_along) && of_one_file(it->second, *column);
    });
  });
  return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

/// Sets the labels of the plate to the names that the lines of a table have. Does nothing if there are none.
void name_by_lines(Binder& b, PlateId plate, std::vector<std::string> names);

/// Reorders the arrays of one name so that number k (from 0) is the first. Returns the entry of the name.
Dataset::iterator put_first(Dataset& data, Dataset::iterator found, std::size_t k);
/// Removes number k of the arrays of one name from the data set and returns it. The others stay.
DataArray take(Dataset& data, Dataset::iterator found, std::size_t k);
/// Adds arrays of one name to the data set, which must have none of that name. `arrays` may be empty.
void put(Dataset& data, const std::string& name, std::vector<DataArray> arrays);

/// An array over a plate that was read from the lines of a table.
struct Column {
  const Slot* slot;  // the name that it is bound to
  DataArray* array;  // its values, one or more for each line; owned by Binder::arrays
};
/// Returns the arrays over the plate that are in the file of the id column `ids` and have one line for each id.
std::vector<Column> columns_beside(Binder& b, PlateId plate, const DataArray& ids);

/// Returns the id columns of the plate that have arrays over the plate beside them in their file.
std::vector<const DataArray*> tables_of(Binder& b, PlateId plate);

/// Returns the arrays whose values are elements of the plate: those that are text if `by_text`, else those that are
/// numbers.
std::vector<const DataArray*> that_name(const Binder& b, PlateId plate, bool by_text);

/// Matches rows with elements by the numbers in the id column, counted from Plate::from. Reports an id that is no such
/// number. Elements that only other data mention have no row.
std::optional<Places> by_number(Binder& b, const Plate& outer, const DataArray& ids, const Rows& rows);

/// Matches rows with elements by the names that the elements already have. Reports an id that is none of them.
std::optional<Places> by_name(Binder& b, const Plate& outer, const DataArray& ids, const Rows& rows,
                              std::vector<std::string> names);

/// Makes each row an element, in the order of the table. Elements follow that only other data name, or lines of other
/// tables; they have no row.
Places by_appearance(Binder& b, const Plate& outer, const Rows& rows);

}  // namespace lehr::model
