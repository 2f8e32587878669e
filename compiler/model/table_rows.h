// Lines of tables that stand for elements of a plate, by what a column of the plate's name calls them.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/binder.h"

namespace lehr::model {

/// The lines of a table in rows: where each begins, and the last one ends.
struct Rows {
  std::vector<std::string> names;
  std::vector<std::int64_t> offsets = {0};
};

/// Elements by their names or numbers: which row each has, if any; and what they are called, if not by their numbers.
struct Places {
  std::vector<std::optional<std::size_t>> row;
  std::vector<std::string> names;
};

/// Whether the array is a column of a table, under the name that the table has for it.
bool is_column(const DataArray& a);

bool of_one_file(const DataArray& a, const DataArray& b);

/// All arrays of a name.
std::vector<const DataArray*> all_of(const DataArray& first);

/// Which of the columns of ids stands beside an array along the plate: the first one if none does. `slots` have names
/// and axes.
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

/// Elements have the names that lines of a table have for them, if any.
void name_by_lines(Binder& b, PlateId plate, std::vector<std::string> names);

/// The k-th of the arrays of a name, 0 the first, becomes the first.
Dataset::iterator put_first(Dataset& data, Dataset::iterator found, std::size_t k);
/// The k-th of the arrays of a name; the others stay.
DataArray take(Dataset& data, Dataset::iterator found, std::size_t k);
/// The arrays of a name, which there is none of; there may be none.
void put(Dataset& data, const std::string& name, std::vector<DataArray> arrays);

/// An array along the plate, from the lines of a table.
struct Column {
  const Slot* slot;
  DataArray* array;
};
/// Those from the file of the ids with a line for each of them.
std::vector<Column> columns_beside(Binder& b, PlateId plate, const DataArray& ids);

/// Columns of ids of the plate in the data that stand beside arrays along it.
std::vector<const DataArray*> tables_of(Binder& b, PlateId plate);

/// Data whose values are elements of the plate, by text or by number.
std::vector<const DataArray*> that_name(const Binder& b, PlateId plate, bool by_text);

/// Rows whose ids are the numbers of the elements, counted from `from`; a problem where one is not.
std::optional<Places> by_number(Binder& b, const Plate& outer, const DataArray& ids, const Rows& rows);

/// Rows whose ids are names that the elements have already; a problem where one is not.
std::optional<Places> by_name(Binder& b, const Plate& outer, const DataArray& ids, const Rows& rows,
                              std::vector<std::string> names);

/// Rows in their own order; behind them the elements that only other data name by text, or other tables have lines of.
Places by_appearance(Binder& b, const Plate& outer, const Rows& rows);

}  // namespace lehr::model
