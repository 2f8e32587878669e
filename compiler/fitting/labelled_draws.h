// Draws as groups of arrays with ArviZ's names (https://python.arviz.org/en/stable/schema/schema.html). Axes are called
// by their plates, a second one of a plate `P` is `P_2`; positions by the labels that the data gave, else by numbers
// from 0. A nested plate stands for its parent too, whose positions are a coordinate `PLATE_PARENT` beside it. The
// names `chain` and `draw`, and such as others have, get a `_` behind them.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/fitting/method.h"
#include "runtime/files/labelled.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

struct PlateNames {
  struct Rows {
    std::string parent;
    std::vector<double> of;  // by position in the nested plate
  };
  std::set<std::string> taken;                             // by plates and variables
  std::map<std::string, std::vector<std::string>> labels;  // by plate
  std::map<std::string, Rows> rows;                        // by nested plate
};

/// Adds an array over the axes of `leading`, whose coordinates they are, and then those of `plates`.
void add_array(ArrayGroup& group, const PlateNames& names, NamedArray array, const std::vector<Coordinate>& leading,
               const std::vector<std::string>& plates);

/// Positions from 0.
Coordinate counted(const std::string& axis, std::int64_t extent);

/// The groups `posterior`, `sample_stats` (`lp`, the log joint density of the model), `observed_data`, and where they
/// were drawn `log_likelihood` and `posterior_predictive`. Chains have the same number of draws, at least one. Data are
/// told from `references`.
LabelledArrays labelled_draws(const model::Model& model, const BoundData& data, const References& references,
                              const std::vector<const GibbsReport*>& chains);

}  // namespace lehr
