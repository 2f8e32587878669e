// Estimates of the memory that a run needs, so that a run which cannot fit is refused before it allocates.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"
#include "runtime/result.h"

namespace lehr {

/// A variable's array of doubles that a run would allocate: its name and its number of elements, for too_large().
struct SizedArray {
  std::string name;   // name of the variable
  double length = 0;  // number of elements; a double, since it may be huge
};

/// Returns how many doubles the values of each variable take, for too_large(). Any fit needs more than their sum;
/// auxiliary variables count as 0.
std::vector<SizedArray> value_sizes(const model::Model& m, const BoundData& data);

/// Returns an error of ExitCode::data if all arrays together exceed the memory that this process may use
/// (available_memory()). It names the largest five. Returns nullopt if they fit.
std::optional<Error> too_large(std::vector<SizedArray> arrays);

}  // namespace lehr
