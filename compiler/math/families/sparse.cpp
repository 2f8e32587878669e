// The family row of a Normal vector with a sparse precision. Its formulas are those of MvNormal. The arrays of its
// matrices have one number for each entry of a SparsePattern, so that no function of the row can read them without it.
#include "compiler/math/families/rows.h"

namespace lehr::math {

const FamilyRow& sparse_normal() {
  static const FamilyRow kRow = [] {
    FamilyRow row{.name = "SparseNormal",
                  .summary = "a Gaussian vector whose precision matrix is sparse",
                  .support = Support::sparse};
    row.factor = find_family("MvNormal")->factor;
    row.factor->mode.reset();
    row.factor->moments = {};
    return row;
  }();
  return kRow;
}

}  // namespace lehr::math
