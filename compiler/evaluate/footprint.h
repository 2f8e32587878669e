// What a run needs of memory, before it takes it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/result.h"

namespace lehr {

/// An array of numbers of 8 bytes.
struct SizedArray {
  std::string name;
  double length = 0;
};

/// A number for each element of each variable: less than any fit needs.
std::vector<SizedArray> sizes_of_values(const model::Model& m, const BoundData& data);

/// An Error of ExitCode::data that names the largest arrays, where all of them are more than this machine has
/// room for.
std::optional<Error> too_large(std::vector<SizedArray> arrays);

}  // namespace lehr
