// What the data say of the elements of an index: for starts that cluster items, and moves that split components.
#pragma once
#include <map>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

class Subjects {
 public:
  Subjects(const model::Model& m, const loops::Lowered& l, Tables& to) : m_(m), l_(l), t_(to) {}

  /// Position of the elements over these plates among Tables::subjects, written when they are asked for first.
  std::int64_t of(const std::vector<model::PlateId>& axes);

 private:
  model::PlateId set(model::PlateId p) const { return m_[p].set; }
  machine::Extent extent(model::PlateId p) const { return t_.extent(l_.program, l_.plate_sizes[set(p).index()]); }
  template <class Named>
  void add(const Named& v, loops::BufferId buffer, bool covariate, const std::vector<model::PlateId>& axes);
  void add_named(model::PlateId element);

  const model::Model& m_;
  const loops::Lowered& l_;
  Tables& t_;
  std::map<std::vector<model::PlateId>, std::int64_t> known_;
};

}  // namespace lehr
