// The axes of an array of square matrices, which may be declared as matrices or as numbers over two more plates.
// Lowering treats both alike.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

/// The axes of an array of square matrices, such as `S[k] over D, D`, split into those that number the matrices (k) and
/// those of one matrix (D).
struct MatrixAxes {
  std::vector<PlateId> all;   // all axes, in the order of the packed array: k, D, D above
  std::vector<PlateId> lead;  // all but the last two, which number the matrices; empty for a single matrix
  PlateId side;               // the last axis, whose size is the number of rows and of columns of each matrix
};

/// Returns the axes of a `data` array (model::Given) or a variable that is an array of square matrices, for lowering:
/// its last two axes, plates or event axes, are the rows and columns of a matrix. It must have two axes or more.
template <class Named>
MatrixAxes matrix_axes(const Named& x) {
  MatrixAxes out{x.axes, {}, {}};
  out.all.insert(out.all.end(), x.event.begin(), x.event.end());
  out.lead.assign(out.all.begin(), out.all.end() - 2);
  out.side = out.all.back();
  return out;
}

}  // namespace lehr::model
