// What a run needs of memory, before it takes it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// An array of numbers of 8 bytes.
struct SizedArray {
  std::string name;
  double length = 0;
};

/// An Error of ExitCode::data that names the largest arrays, where all of them are more than this machine has
/// room for.
std::optional<Error> too_large(std::vector<SizedArray> arrays);

}  // namespace lehr
