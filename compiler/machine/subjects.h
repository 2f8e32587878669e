// Tables of the data that describe the elements of a plate (here called subjects), such as the measurements of an item.
// Random starts cluster items by these data, and moves of components split clusters by them.
#pragma once
#include <map>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// Writes the tables that list, for the elements of given plates, the data columns that describe them.
class SubjectTables {
 public:
  /// Writes into `to`; all arguments must outlive the object.
  SubjectTables(const model::Model& m, const loops::Lowered& l, Tables& to) : m_(m), l_(l), t_(to) {}

  /// Returns the index in Tables::subjects of the entry for the elements of these plates. It has their axes, and the
  /// data arrays by which starts and splits cluster them. The entry is written at the first request.
  std::int64_t of(const std::vector<model::PlateId>& axes);

 private:
  /// Returns the plate that this one is an alias of, or itself.
  model::PlateId set(model::PlateId p) const { return m_[p].set; }
  /// Returns the extent of a plate.
  machine::Extent extent(model::PlateId p) const { return t_.extent(l_.program, l_.plate_sizes[set(p).index()]); }
  /// Adds an input or observed variable as columns, if its first axes are those of the subject.
  template <class Named>
  void add(const Named& v, loops::BufferId buffer, bool covariate, const std::vector<model::PlateId>& axes);
  /// Adds observations whose data refer to the element by an index, such as the ties of a node.
  void add_named(model::PlateId element);

  const model::Model& m_;
  const loops::Lowered& l_;
  Tables& t_;
  std::map<std::vector<model::PlateId>, std::int64_t> written_;  // entries that are written, by plates
};

}  // namespace lehr
