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

/// What axes and coordinates of arrays are named after.
struct PlateNames {
  /// The parent of each element of a nested plate.
  struct ParentIndex {
    std::string parent;      // name of the plate that it is nested in
    std::vector<double> of;  // parent's position, for each position in the nested plate
  };
  std::set<std::string> reserved;  // names of plates and variables, which coordinates must not have
  std::map<std::string, std::vector<std::string>> labels;  // labels of the elements, by name of the plate
  std::map<std::string, ParentIndex> parent_index;         // by the name of the nested plate
};

/// Adds an array to a group. Its axes are those of the coordinates in `leading`, followed by one for each of `plates`,
/// which gets the coordinates of the plate. The group gets no second coordinate of a name that it has.
void add_array(ArrayGroup& group, const PlateNames& names, NamedArray array, const std::vector<Coordinate>& leading,
               const std::vector<std::string>& plates);

/// Makes a coordinate with the numbers 0, 1, ..., extent - 1.
Coordinate counted(const std::string& axis, std::int64_t extent);

/// Arranges the draws of all chains in groups: `posterior`, `sample_stats` (with `lp`, the log joint density in nats)
/// and `observed_data`. If the chains have predictive quantities, there are `log_likelihood` and
/// `posterior_predictive`, too. All chains must have the same number of draws, at least one. `references` are added
/// back to the observed data; the draws have them already.
LabelledArrays labelled_draws(const model::Model& model, const BoundData& data, const CentringOffsets& references,
                              const std::vector<const GibbsReport*>& chains);

}  // namespace lehr
