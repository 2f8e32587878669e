// Arrays in memory: posteriors, start values, members of files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lehr {

/// Row-major.
struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool integer = false;  // every value is whole, and a file that knows integers has them so
};

}  // namespace lehr
