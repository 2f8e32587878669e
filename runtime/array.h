// Arrays in memory: posteriors, start values, members of files.
#pragma once
#include <cstddef>
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

/// The position along each axis of a row-major position.
inline std::vector<std::size_t> unravel(const std::vector<std::int64_t>& shape, std::size_t position) {
  std::vector<std::size_t> out(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    out[k] = position % static_cast<std::size_t>(shape[k]);
    position /= static_cast<std::size_t>(shape[k]);
  }
  return out;
}

}  // namespace lehr
