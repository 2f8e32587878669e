// Finds the factor that saved arrays are the parameters of, and reads these element by element. Arrays are matched with
// parameters by name.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/math/evaluate.h"
#include "compiler/math/factor_draw.h"
#include "compiler/math/sparse_pattern.h"
#include "compiler/model/model.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// A variational factor with the arrays of its parameters, from a saved fit or from one in memory.
struct SavedFactor {
  const math::FamilyRow& row;     // the family of the factor
  const math::Factor& factor;     // the factor that the arrays belong to: the family's own or its point factor
  const SavedVariable& variable;  // the variable; of a factor of a mean and its precision, the mean
  const SavedVariable* precision = nullptr;  // the precision, of a factor of a mean and its precision; null for others

  /// Returns the array of an exported parameter, or null if it was not saved.
  const NamedArray* array(const math::FactorParameter& p) const;
};

/// The sizes of a factor's saved parameter arrays.
struct FactorLayout {
  std::vector<std::int64_t> elements;  // extents of the axes over which the factor has elements
  /// The number of elements, and the extent of the event axis (of a category, the number of its values).
  std::size_t count = 1, extent = 1;
};

/// Returns how many numbers an element with `rank` event axes of this extent has: 1, extent or its square.
std::size_t scalars_per_element(int rank, std::size_t extent);

/// Finds which factor the saved arrays of a variable are the parameters of: that of the family `row`, or its point
/// factor. `partner` is the other variable of a factor of a mean and its precision, or null. Returns nullopt if the
/// arrays belong to neither; so it does for the precision of such a factor, which is read together with the mean. The
/// arguments must outlive the result.
std::optional<SavedFactor> saved_factor(const math::FamilyRow& row, const SavedVariable& v,
                                        const SavedVariable* partner);

/// Determines the sizes of a factor's saved parameters. Returns nullopt if the shapes of the arrays contradict each
/// other, or if a sparse precision cannot be read.
std::optional<FactorLayout> layout_of(const SavedFactor& s);

/// Returns the values of the exported parameters of one element, by name. Not for a factor with a sparse precision,
/// which SavedSparse reads.
math::Environment parameters_of(const SavedFactor& s, const FactorLayout& layout, std::size_t element);

/// Returns a function that draws all numbers of one element of the factor; empty if the family cannot be drawn.
math::Draw element_draw(const SavedFactor& s, const FactorLayout& layout, std::size_t element);

/// A saved Normal vector with a sparse precision matrix, the factor of `guide joint` over many numbers: its mean, and
/// its distribution around the mean.
class SavedSparse {
 public:
  /// Reads the arrays of the variable. Returns null if they are not those of such a factor, or if the precision is not
  /// positive definite.
  static std::shared_ptr<const SavedSparse> read(const SavedVariable& v);

  const std::vector<double>& mean() const { return mean_; }      // the means, by coordinate
  const math::SparseNormal& normal() const { return *normal_; }  // the distribution of the vector minus its mean

 private:
  std::vector<double> mean_;                  // the means, by coordinate
  math::SparsePattern pattern_;               // where the precision has entries
  std::optional<math::SparseNormal> normal_;  // the distribution of the vector minus its mean; refers to `pattern_`
};

/// Returns by PlateId the sizes of the plates that the members of a joint variable lie on, so that their numbers can be
/// found in the joint factor. They are read from the shapes of the saved arrays; -1 for other plates.
std::vector<std::int64_t> sizes_of_members(const model::Model& m, model::VariableId joint,
                                           const std::map<std::string, SavedVariable>& posterior);

}  // namespace lehr
