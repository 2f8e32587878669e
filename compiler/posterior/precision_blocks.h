// Computes from the model how consecutive steps of a Gaussian chain interact in its factor: the blocks of the precision
// matrix off the diagonal. A saved fit has the diagonal only.
//
//   x[t] ~ Normal(mean = a * x[t-1], precision = p):   the block between t - 1 and t is -E[p a].
#pragma once
#include <Eigen/Dense>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/posterior/symbolic.h"

namespace lehr {

/// The address of one number of a chain: a step, and a coordinate in it.
struct StepCoordinate {
  /// Its step, by position, and its coordinate in the step.
  std::size_t step = 0, coordinate = 0;
};

/// Blocks of a precision matrix, by a step and a later one. Rows are the coordinates of the later step, columns those
/// of the earlier one. Steps that have no product in the log density have no block.
using PrecisionBlocks = std::map<std::pair<std::size_t, std::size_t>, Eigen::MatrixXd>;

/// A Gaussian chain (a state x[t] that depends on x[t-1]) whose steps consist of the numbers of one or several
/// variables.
struct ChainLayout {
  std::vector<model::VariableId> members;  // the variables whose numbers at a step make up its state
  std::size_t extent = 0;                  // how many numbers a step has
  /// Step and coordinate of a member's number, by position in its array.
  std::function<StepCoordinate(model::VariableId, std::size_t)> at;
};

/// Computes from the model the blocks of a Gaussian chain's precision matrix between different steps, which a saved fit
/// lacks. The log density of each element contains -1/2 (x - m)' P (x - m). Its products of two steps are averaged over
/// the other factors: `mean` returns E[p] over these. Only elements with values, and latent ones that are d-connected
/// to data (`d_connected`, by VariableId and element), count.
///
/// Returns nullopt if a potential depends on the chain, or where `mean` returns nullopt. So it does if an element whose
/// density has two steps is not Normal with a mean linear in them, has a multiplicity, or is partly missing.
std::optional<PrecisionBlocks> precision_blocks(const ChainLayout& chain, const Symbolic& symbolic,
                                                const std::vector<std::vector<bool>>& d_connected,
                                                const std::function<std::optional<double>(const Polynomial&)>& mean);

}  // namespace lehr
