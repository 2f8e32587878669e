// Draws of a sampler as groups of labelled arrays with ArviZ's names
// (https://python.arviz.org/en/stable/schema/schema.html).
//
// An axis has the name of its plate; a second axis over plate `P` is `P_2`. Coordinates are the labels in the data, or
// numbers from 0. A nested plate and its parent are one axis, with a second coordinate `PLATE_PARENT` for the parent's
// positions. Names that collide with `chain`, `draw` or other names get a trailing `_`.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/posterior/gibbs_report.h"
#include "runtime/files/labelled.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// The names and labels that add_array() gives to the axes of arrays of draws.
struct PlateNames {
  /// Which parent each element of a nested plate has; it becomes the coordinate `PLATE_PARENT` of the axis.
  struct ParentIndex {
    std::string parent;      // name of the plate that it is nested in
    std::vector<double> of;  // parent's position, for each position in the nested plate
  };
  std::set<std::string> reserved;  // names of plates and variables; a coordinate with one of these names gets a `_`
  std::map<std::string, std::vector<std::string>> labels;  // labels of the elements, by name of the plate
  /// For each nested plate, by name: its parent, and which parent each element has.
  std::map<std::string, ParentIndex> parent_index;
};

/// Adds an array of draws to a group, with a name for each axis and the coordinates that describe it. Its first axes
/// are those of the coordinates in `leading` (chain and draw), followed by one for each of `plates`, which gets the
/// labels of the plate's elements, or numbers from 0. A coordinate that the group already has, by name, is not added
/// again.
void add_array(ArrayGroup& group, const PlateNames& names, NamedArray array, const std::vector<Coordinate>& leading,
               const std::vector<std::string>& plates);

/// Makes a coordinate for an axis without labels: it has the name of the axis and the numbers 0, 1, ..., extent - 1.
Coordinate counted(const std::string& axis, std::int64_t extent);

/// Arranges the draws of all chains in groups: `posterior`, `sample_stats` (with `lp`, the log joint density in nats)
/// and `observed_data`. If the chains have predictive quantities, there are `log_likelihood` and
/// `posterior_predictive`, too. All chains must have the same number of draws, at least one. `references` are added
/// back to the observed data; the draws have them already.
LabelledArrays labelled_draws(const model::Model& model, const BoundData& data, const CentringOffsets& references,
                              const std::vector<const GibbsReport*>& chains);

}  // namespace lehr
