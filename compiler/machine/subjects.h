// Tables of the data that describe the elements of a plate (here called subjects), such as the measurements of an item.
// Random starts cluster items by these data, and moves of components split clusters by them.
#pragma once
#include <map>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// Writes the tables that list, for the elements of given plates, the data columns that describe them. Random starts
/// cluster the elements by these data.
class SubjectTables {
 public:
  /// Writes into `to`; all arguments must outlive the object.
  SubjectTables(const model::Model& m, const loops::Lowered& l, Tables& to) : m_(m), l_(l), t_(to) {}

  /// Returns the position in Tables::subjects of the record for the elements with these axes: their extents, and the
  /// data arrays by which starts and splits cluster them. Writes the record at the first request for these plates.
  std::int64_t of(const std::vector<model::PlateId>& axes);

 private:
  /// Returns the plate of which this one is an alias, or the plate itself.
  model::PlateId set(model::PlateId p) const { return m_[p].set; }
  /// Returns the number of elements of a plate as the tables have it: a number, or -(slot + 1).
  machine::Extent extent(model::PlateId p) const { return t_.extent(l_.program, l_.plate_sizes[set(p).index()]); }
  /// Adds an input (`covariate`) or observed variable to the columns that describe the elements, by which random starts
  /// and split moves cluster them. Does nothing unless the first axes of the variable are `axes`. If its next axis is
  /// nested, it also does nothing unless `axes` is a single plate and the nested axis is its last.
  template <class Named>
  void add(const Named& v, loops::BufferId buffer, bool covariate, const std::vector<model::PlateId>& axes);
  /// Adds observations to the columns that describe the elements of a plate because the data refer to these by index:
  /// with the input `from[tie]`, a node is described by the values `y[tie]` of its ties. Only numbers on the axes of
  /// that input are added.
  void add_named(model::PlateId element);

  const model::Model& m_;                                        // the model
  const loops::Lowered& l_;                                      // the lowered program
  Tables& t_;                                                    // tables that are written into
  std::map<std::vector<model::PlateId>, std::int64_t> written_;  // positions in Tables::subjects, by axes
};

}  // namespace lehr
