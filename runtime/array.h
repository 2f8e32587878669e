// A named numeric array in memory: a posterior parameter, a start value or a member of a file. Index arithmetic for
// row-major order is here too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lehr {

/// A named array of numbers in row-major order (the last index varies fastest).
///
/// Invariant: `values` has as many elements as the product of `shape`, which is one if `shape` is empty (a scalar).
struct NamedArray {
  std::string name;                 // name of what the array is of, for instance "mu.mean"
  std::vector<std::int64_t> shape;  // extent of each axis, outermost first
  std::vector<double> values;       // all elements, row-major
  bool integer = false;  // true if every value is whole; file formats with an integer type then store integers
};

/// Converts a flat row-major offset into one index for each axis of `shape`, as numpy.unravel_index does. No extent may
/// be zero. Example: offset 5 in shape {2, 3} gives {1, 2}.
inline std::vector<std::size_t> unravel(const std::vector<std::int64_t>& shape, std::size_t position) {
  std::vector<std::size_t> out(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    out[k] = position % static_cast<std::size_t>(shape[k]);
    position /= static_cast<std::size_t>(shape[k]);
  }
  return out;
}

}  // namespace lehr
