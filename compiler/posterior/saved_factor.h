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

/// A factor with the saved arrays of its parameters.
struct SavedFactor {
  const math::FamilyRow& row;                // the family of the factor
  const math::Factor& factor;                // the family's factor or its point factor
  const SavedVariable& variable;             // the variable; of a joint factor, the mean
  const SavedVariable* precision = nullptr;  // the precision variable of a joint factor; null for others

  /// Returns the array of an exported parameter, or null if it was not saved.
  const NamedArray* array(const math::FactorParameter& p) const;
};

/// The sizes of saved parameters.
struct FactorLayout {
  std::vector<std::int64_t> elements;  // extents of the axes of the variable
  /// The number of elements, and the extent of the event axis (of a category, the number of its values).
  std::size_t count = 1, extent = 1;
};

/// Returns how many numbers an element with `rank` event axes of this extent has: 1, extent or its square.
std::size_t scalars_per_element(int rank, std::size_t extent);

/// Finds the factor of a saved variable: that of the family or its point factor. `partner` is the variable that a joint
/// factor was saved with, or null. Returns nullopt if the arrays belong to neither; so it does for the precision of a
/// joint factor, which is read together with the mean. The arguments must outlive the result.
std::optional<SavedFactor> saved_factor(const math::FamilyRow& row, const SavedVariable& v,
                                        const SavedVariable* partner);

/// Determines the sizes of the saved parameters. Returns nullopt if the shapes of the arrays contradict each other.
std::optional<FactorLayout> layout_of(const SavedFactor& s);

/// Returns the exported parameters of one element. Not for a factor with a sparse precision, which SavedSparse reads.
math::Environment parameters_of(const SavedFactor& s, const FactorLayout& layout, std::size_t element);

/// Returns a function that draws one element of the factor; empty if it cannot be drawn.
math::Draw element_draw(const SavedFactor& s, const FactorLayout& layout, std::size_t element);

/// A saved Normal vector with a sparse precision.
class SavedSparse {
 public:
  /// Reads the arrays of the variable. Returns null if they are no such factor, or if it is improper.
  static std::shared_ptr<const SavedSparse> read(const SavedVariable& v);

  const std::vector<double>& mean() const { return mean_; }      // by coordinate
  const math::SparseNormal& normal() const { return *normal_; }  // the vector minus its mean

 private:
  std::vector<double> mean_;
  math::SparsePattern pattern_;
  std::optional<math::SparseNormal> normal_;  // refers to `pattern_`
};

/// Returns by PlateId the sizes of the plates that the members of a joint variable lie on, read from the shapes of
/// their saved arrays; -1 for other plates.
std::vector<std::int64_t> sizes_of_members(const model::Model& m, model::VariableId joint,
                                           const std::map<std::string, SavedVariable>& posterior);

}  // namespace lehr
