// The factor that saved arrays belong to, and its parameters element by element.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/math/evaluate.h"
#include "compiler/model/model.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

/// A factor and where its parameters are; of a joint one, `other` is the variable of the precision.
struct FactorSource {
  const math::FamilyRow& row;
  const math::Factor& factor;
  const SavedVariable& variable;
  const SavedVariable* other = nullptr;

  /// The array of an exported parameter, or null.
  const NamedArray* array(const math::FactorParameter& p) const;
};

/// Extents of the elements and of the event axis, or the number of values.
struct FactorLayout {
  std::vector<std::int64_t> elements;
  std::size_t count = 1, extent = 1;
};

/// Numbers of an element with so many event axes.
std::size_t numbers_of(int rank, std::size_t extent);

/// The family's factor or its point factor; `other` is the variable that a joint factor was saved with, or null.
/// Nothing where the arrays are those of neither: a joint factor is drawn with its mean. The arguments must outlive it.
std::optional<FactorSource> factor_source(const math::FamilyRow& row, const SavedVariable& v,
                                          const SavedVariable* other);

/// Nothing where the shapes of the arrays do not belong together.
std::optional<FactorLayout> layout_of(const FactorSource& s);

/// The exported parameters of one element.
math::Environment parameters_of(const FactorSource& s, const FactorLayout& layout, std::size_t element);

/// Sizes of the plates of a joint variable's members, by PlateId, from their saved arrays; -1 for others.
std::vector<std::int64_t> sizes_of_members(const model::Model& m, model::VariableId joint,
                                           const std::map<std::string, SavedVariable>& posterior);

}  // namespace lehr
