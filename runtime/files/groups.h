// Tables that are split into groups, by the values of one of their columns: data of many fits in one file.
//
//   site,x,y
//   north,1,2        the group "north" is the table of these two lines
//   south,1,5
//   north,2,3
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// The lines of a table that have one value in a column, as a table of their own: the data of one fit of `lehr fit
/// --each`.
struct LineGroup {
  std::string value;                // the value that the lines have in the column, as text
  std::string bytes;                // a table of these lines alone: the header, then the lines in their order
  std::vector<std::int64_t> lines;  // for each line of `bytes`, its number in the whole table, from 1
};

/// Splits a CSV table, or with `tabs` a TSV table, into the groups of lines with equal values in a column, in the order
/// in which the values first occur. Values are compared as text. Returns nothing if the table has no such column.
/// Errors are those of the parser, and a line without a value.
Result<std::optional<std::vector<LineGroup>>> split_table(std::string_view bytes, const std::string& path, bool tabs,
                                                          const std::string& column);

/// The data of many fits in the same files (`lehr fit --each COLUMN`): `--data` bindings whose tables are split into
/// groups of lines with equal values in one column. Files without the column are the same for all groups.
class GroupedBindings {
 public:
  /// Reads the files of all bindings, and splits each table that has the column. Several tables may have it: a group
  /// then has lines of each. An Error if none has it, if a line has no value in it, or if a file cannot be read.
  static Result<GroupedBindings> open(const std::vector<std::string>& bindings, const std::string& column);

  /// Returns the values of the column, in the order in which they first occur.
  const std::vector<std::string>& groups() const;
  /// Returns the arrays that read_bindings() would give if each table with the column had the lines of this group
  /// alone. `group` is an index of groups(). An Error if such a table has no line of the group. Lines in messages are
  /// those of the whole table. Any number of threads may call it.
  Result<Dataset> read(std::size_t group) const;

 private:
  /// The bindings, each with its file split into groups or read as a whole (binding.cpp).
  struct Impl;
  explicit GroupedBindings(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;  // the files that were read; shared by copies
};

}  // namespace lehr
