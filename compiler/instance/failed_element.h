// Finds the element whose factor has left its domain, for messages about numerical failures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// Returns the indices of the first element of a variable whose factor is not proper, "[2, 0]", for the message about a
/// numerical failure. `arrays` are the parameters of all factors, named `variable.parameter`. Empty if the variable is
/// on no plate, if all are proper, or if some parameter is not among the arrays.
std::string failed_element(const model::Model& m, model::VariableId v, const math::Factor& factor,
                           const std::vector<NamedArray>& arrays);

}  // namespace lehr
