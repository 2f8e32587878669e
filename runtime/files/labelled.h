// Arrays with named axes, in groups, like an xarray.Dataset or ArviZ's InferenceData. Posterior draws have this form
// before they are written as NetCDF or CSV.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/array.h"

namespace lehr {

/// An array with a name for each axis, as draws are stored in files.
struct LabelledArray : NamedArray {
  std::vector<std::string> axes = {};  // names of the axes, as many as `shape` has
};

/// The labels or values of the positions along a named axis ("doc", "draw"). Several coordinates may describe one axis,
/// under other names.
struct Coordinate {
  std::string name, axis;                // own name, and the name of the axis that it describes
  std::vector<std::string> labels = {};  // one text for each position; empty if `values` is used
  std::vector<double> values = {};       // one whole number for each position, instead of `labels`

  /// Returns the number of positions that the coordinate labels.
  std::size_t size() const { return labels.empty() ? values.size() : labels.size(); }
};

/// A named group of labelled arrays and their coordinates, as ArviZ groups draws and data. An axis has the same extent
/// in all arrays of its group.
struct ArrayGroup {
  std::string name;                          // name of the group: "posterior", "sample_stats"
  std::vector<Coordinate> coordinates = {};  // labels of axes; some array of the group has each of these axes
  std::vector<LabelledArray> arrays = {};    // the arrays of the group
};

/// The contents of a file of draws: text attributes and groups of arrays.
struct LabelledArrays {
  /// Texts about the whole file, by name, such as the program that made it.
  std::map<std::string, std::string> attributes = {};
  std::vector<ArrayGroup> groups = {};  // the groups of arrays, in the order in which they are written
};

/// Serialises a LabelledArray (bytes.h), for the pipe of a child process that reads a file.
template <class Archive>
void fields(Archive& a, LabelledArray& x) {
  a(x.name, x.shape, x.values, x.integer, x.axes);
}
/// Serialises a Coordinate (bytes.h), for the pipe of a child process that reads a file.
template <class Archive>
void fields(Archive& a, Coordinate& c) {
  a(c.name, c.axis, c.labels, c.values);
}
/// Serialises an ArrayGroup (bytes.h), for the pipe of a child process that reads a file.
template <class Archive>
void fields(Archive& a, ArrayGroup& g) {
  a(g.name, g.coordinates, g.arrays);
}
/// Serialises LabelledArrays (bytes.h), for the pipe of a child process that reads a file.
template <class Archive>
void fields(Archive& a, LabelledArrays& all) {
  a(all.attributes, all.groups);
}

/// Returns the group of that name ("posterior") in draws read from a file, or null.
inline const ArrayGroup* find_group(const LabelledArrays& arrays, std::string_view name) {
  for (const ArrayGroup& g : arrays.groups)
    if (g.name == name) return &g;
  return nullptr;
}

/// Names of the first two axes of every array of draws: the Markov chain, and the draw in it.
inline constexpr const char *kChainAxis = "chain", *kDrawAxis = "draw";

}  // namespace lehr
