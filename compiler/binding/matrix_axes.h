// The axes of an array of square matrices, which may be declared as matrices or as numbers over two more plates.
// Lowering treats both alike.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// The axes of an array of square matrices, split into the axes of the array and those of a matrix.
struct MatrixAxes {
  std::vector<PlateId> all;   // all axes, in the order of the packed array
  std::vector<PlateId> lead;  // those that number the matrices
  PlateId side;               // the axis of the rows, and of the columns, of each matrix
};

/// Returns the axes of a given or a variable whose elements, or last two axes, form square matrices.
template <class Named>
MatrixAxes matrix_axes(const Named& x) {
  MatrixAxes out{x.axes, {}, {}};
  out.all.insert(out.all.end(), x.event.begin(), x.event.end());
  out.lead.assign(out.all.begin(), out.all.end() - 2);
  out.side = out.all.back();
  return out;
}

}  // namespace lehr::model
