// The axes of an array of matrices, whether it is declared as matrices or as numbers over two more plates.
#pragma once
#include <vector>

#include "compiler/model/model.h"

namespace lehr::model {

struct MatrixAxes {
  std::vector<PlateId> all;   // in the order of the packed array
  std::vector<PlateId> lead;  // of the matrices
  PlateId side;               // of each of them
};

/// Of a given or a variable whose elements, or last two axes, are a square matrix.
template <class Named>
MatrixAxes matrix_axes(const Named& x) {
  MatrixAxes out{x.axes, {}, {}};
  out.all.insert(out.all.end(), x.event.begin(), x.event.end());
  out.lead.assign(out.all.begin(), out.all.end() - 2);
  out.side = out.all.back();
  return out;
}

}  // namespace lehr::model
