// How arrays of a model are laid out in files.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"

namespace lehr {

/// Axes as arrays have them: a nested plate stands for its parent, too.
std::vector<model::PlateId> packed_axes(const model::Model& model, const std::vector<model::PlateId>& axes,
                                        const std::vector<model::PlateId>& event);
/// Their extents, as bind() takes them.
std::vector<std::int64_t> packed_shape(const model::Model& model, const BoundData& data,
                                       const std::vector<model::PlateId>& axes,
                                       const std::vector<model::PlateId>& event);

/// Whether the values are whole numbers.
bool has_integers(math::Support support);

}  // namespace lehr
