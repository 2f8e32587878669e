// The layout of a model's arrays in files: elements of a nested plate are packed end to end on one axis, which replaces
// the axis of its parent too.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"

namespace lehr {

/// Returns the axes that an array has in files and results, from its axes in the model: a nested plate replaces its
/// parent, with the elements of all rows end to end. Event axes follow.
std::vector<model::PlateId> stored_axes(const model::Model& model, const std::vector<model::PlateId>& axes,
                                        const std::vector<model::PlateId>& event);
/// Returns the extents that an array has in files and results, from its axes in the model (stored_axes()). bind()
/// expects data of this shape.
std::vector<std::int64_t> stored_shape(const model::Model& model, const BoundData& data,
                                       const std::vector<model::PlateId>& axes,
                                       const std::vector<model::PlateId>& event);

/// Returns true if all values of this support are whole numbers: categories, bits, spins and counts. Arrays of such
/// variables are written as integers.
bool has_integers(math::Support support);

}  // namespace lehr
