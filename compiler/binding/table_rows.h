// Matches the lines of tables with the elements of a plate, by a column that is named like the plate (an id column).
// Used where a table has one line per element (bind_table_lines.cpp), or a group of lines (a row) per element of an
// outer plate (bind_table_rows.cpp).
//
//   site,y                                     plate site;  data y[site] : real;
//   north,3                                    the elements of `site` are named north and south
//   south,4
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"

namespace lehr::model {

struct Binder;
struct Slot;

/// The lines of a table in groups of consecutive lines with the same id; each group (a row) belongs to one element of a
/// plate.
struct LineGroups {
  std::vector<std::string> names;           // the id of each group, as text
  std::vector<std::int64_t> offsets = {0};  // first line of each group, and the end of the last one
};

/// Which group of lines of a table (LineGroups) belongs to each element of a plate.
struct ElementRows {
  std::vector<std::optional<std::size_t>> row;  // by element: index of its group; nothing if the table has none
  std::vector<std::string> names;               // by element: its name; empty if the elements have no names
};

/// Returns true if the array is a column of a table (.csv) that was given as a whole, so that it was found by its
/// column name; false if the user bound it by NAME=FILE, or if it is from another kind of file.
bool is_column(const DataArray& a);

/// Returns true if both arrays were read from the same file, as columns of one table are.
bool of_one_file(const DataArray& a, const DataArray& b);

/// Returns true if the values of a column of ids are 0, 1, ... in any order, so that they are positions.
bool are_positions(const DataArray& ids);

/// Returns all arrays of one name that the user's files have: `first`, then its DataArray::duplicates from other files.
std::vector<const DataArray*> all_of(const DataArray& first);

/// Chooses among columns of one name in several tables, which may say to which element of `plate` each line belongs,
/// the one whose table also has an array over the plate. Returns its index in all_of(ids), or 0 if none has. `slots`:
/// the names that data are bound to, with their axes. `arrays`: the arrays of these names.
template <class Slots>
std::size_t matching_id_column(const Model& m, const Slots& slots, const Dataset& arrays, const DataArray& ids,
                               PlateId plate) {
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

/// Sets the names of a plate's elements to `names`, the ids of the lines of a table, and marks the plate as named by a
/// table (Binder::named_by_rows). Does nothing if `names` is empty.
void set_labels_from_lines(Binder& b, PlateId plate, std::vector<std::string> names);

/// Makes array number k (from 0) the first of an entry of the data set, which may list arrays of one name from several
/// files. Returns the entry; the iterator that was passed is no longer valid.
Dataset::iterator put_first(Dataset& data, Dataset::iterator entry, std::size_t k);
/// Removes array number k (from 0) from an entry of the data set, which may list arrays of one name from several files,
/// and returns it. The entry goes with its last array.
DataArray take(Dataset& data, Dataset::iterator entry, std::size_t k);
/// Stores arrays of one name, from several files, as one entry of the data set, which must have no entry of that name.
/// Does nothing if `arrays` is empty.
void put(Dataset& data, const std::string& name, std::vector<DataArray> arrays);

/// An array over a plate whose values stand on the lines of a table, beside an id column.
struct Column {
  const Slot* slot;  // the name of the model that it is bound to
  DataArray* array;  // its values, one or more for each line; owned by Binder::arrays
};
/// Returns the arrays over the plate (as first axis) that stand in the same table as the id column `ids` and have one
/// value or vector on each of its lines. The caller sorts them by element once it has matched the ids with elements.
std::vector<Column> columns_in_table_of(Binder& b, PlateId plate, const DataArray& ids);

/// Returns true if an array has one value or vector on each line of the table of the id column `ids`.
bool stands_beside(const DataArray& a, const DataArray& ids);

/// Returns the id columns of a plate in the user's data: columns of the plate's name that stand beside one of the
/// arrays `along`, those over the plate as first axis.
std::vector<DataArray*> id_columns(Dataset& data, const std::string& plate, const std::vector<const DataArray*>& along);

/// Returns the id columns of a plate in the data that are being bound: columns named like the plate, with arrays over
/// the plate in the same table.
std::vector<const DataArray*> id_columns_of(Binder& b, PlateId plate);

/// Returns the data arrays whose values are categories that refer to elements of the plate: those given as words if
/// `by_text`, else those given as numbers.
std::vector<const DataArray*> arrays_referring_to(const Binder& b, PlateId plate, bool by_text);

/// Assigns groups of lines of a table to elements of the plate `outer` by the number in the id column `ids`, counted
/// from Plate::from. Reports an id that is no element number, and returns nothing then. There are as many elements as
/// these ids, other data and claims name. Elements without lines have no group. ElementRows::names has the numbers as
/// text if they count from 0, and is empty otherwise.
std::optional<ElementRows> match_rows_by_number(Binder& b, const Plate& outer, const DataArray& ids,
                                                const LineGroups& rows);

/// Assigns groups of lines of a table to elements of the plate `outer` by the name in the id column `ids`. `names` are
/// the names that the elements already have, from --labels, an earlier fit or another table. Elements without lines
/// have no group. Reports an id that is none of the names, and returns nothing then.
std::optional<ElementRows> by_name(Binder& b, const Plate& outer, const DataArray& ids, const LineGroups& rows,
                                   std::vector<std::string> names);

/// Makes one element of the plate `outer` of each group of lines of a table, in the order of the table and named by its
/// id; used if nothing else names or numbers the elements. Elements that only other data name follow in alphabetical
/// order, without a group.
ElementRows elements_from_rows(Binder& b, const Plate& outer, const LineGroups& rows);

}  // namespace lehr::model
