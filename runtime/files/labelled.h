// Arrays whose axes have names, in groups: what draws are written as.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/array.h"

namespace lehr {

struct LabelledArray : NamedArray {
  std::vector<std::string> axes = {};  // as many as `shape` has
};

/// What the positions of an axis are called: text or numbers. Of the name of its axis, or of another one.
struct Coordinate {
  std::string name, axis;
  std::vector<std::string> labels = {};
  std::vector<double> numbers = {};

  std::size_t size() const { return labels.empty() ? numbers.size() : labels.size(); }
};

/// An axis has one extent in all arrays of a group.
struct ArrayGroup {
  std::string name;
  std::vector<Coordinate> coordinates = {};
  std::vector<LabelledArray> arrays = {};
};

struct LabelledArrays {
  std::map<std::string, std::string> attributes = {};
  std::vector<ArrayGroup> groups = {};
};

template <class Archive>
void fields(Archive& a, LabelledArray& x) {
  a(x.name, x.shape, x.values, x.integer, x.axes);
}
template <class Archive>
void fields(Archive& a, Coordinate& c) {
  a(c.name, c.axis, c.labels, c.numbers);
}
template <class Archive>
void fields(Archive& a, ArrayGroup& g) {
  a(g.name, g.coordinates, g.arrays);
}
template <class Archive>
void fields(Archive& a, LabelledArrays& all) {
  a(all.attributes, all.groups);
}

/// The group of that name, or null.
inline const ArrayGroup* find_group(const LabelledArrays& arrays, std::string_view name) {
  for (const ArrayGroup& g : arrays.groups)
    if (g.name == name) return &g;
  return nullptr;
}

/// What draws lie on before they have axes of their own.
inline constexpr const char *kChainAxis = "chain", *kDrawAxis = "draw";

}  // namespace lehr
