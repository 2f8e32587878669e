// Tests whether a solution depends on the rounding of the data and sums. One sweep is repeated on data whose last bits
// are changed at random; the differences between the results show the rounding error (CESTAC, Vignes 1993).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/evaluate/ill_scaled_columns.h"
#include "compiler/instance/instance.h"
#include "runtime/inference/sweep.h"

namespace lehr {

/// How much the result of one sweep changes if the last bits of data and sums are changed at random.
struct Rounding {
  /// The largest change of a mean or standard deviation, in units of the factor's standard deviation; of points,
  /// relative to the largest point of the variable.
  double moved = 0;
  std::string name;  // name of the variable with the largest change `moved`
  double nats = 0;   // the largest change of the ELBO
};

/// Limits of Rounding::moved. Above `digits` a run gets a warning, above `lost` it fails. The errors of many sweeps add
/// up if convergence is slow, so the limits are far below 1.
struct RoundingLimits {
  double digits;  // above it, the run gets a warning; in 64 bits fewer than six digits are then reliable
  double lost;    // above it, the solution may be determined by rounding: the run fails
};
/// The limits of Rounding::moved for items computed in 64 bits: a warning above 1e-7, a failed run above 1e-4.
inline constexpr RoundingLimits kInDouble{1e-7, 1e-4};
/// The limits of Rounding::moved for items computed in 32 bits. Both are equal: such a run gets no warning, it passes
/// or fails.
inline constexpr RoundingLimits kInSingle{1e-2, 1e-2};
/// With ill-scaled data, a solution is useless if changed last bits change the ELBO by more nats than this. The ELBO
/// then cannot show which factors are coupled.
inline constexpr double kMaxElboChange = 1e-2;

/// Measures the effect of changed last bits on a sweep from the current factors: on the ELBO, and on the means and
/// standard deviations of the continuous variables of the model's text. Local variables are included if `locals`. The
/// bits are changed three times, or once if that moves nothing by a thousandth of `digits`. The same changes are made
/// at each call, and the state of the instance is restored. Returns nullopt if a sweep fails, or if a result is not a
/// number.
std::optional<Rounding> rounding(Instance& instance, const Analysed& analysed, const BoundData& data, bool locals,
                                 const SweepOptions& options, double digits);

/// Returns true if some data (observed values or covariates) are real numbers or vectors. Without such data a solution
/// need not be checked for rounding: only squares of real numbers lose digits.
bool has_real_data(const model::Model& model);

/// What check_precision() found: that rounding spoils a solution, or costs it digits.
struct PrecisionProblem {
  std::string text;  // a sentence for the user
  bool lost = true;  // true: the solution is useless; false: it has fewer digits
};

/// Checks whether a solution depends on the rounding of data and sums. `far` are ill-scaled data columns. Returns a
/// problem if the sweeps of rounding() fail, or if Rounding::moved is above `bar.lost` (the solution is useless) or
/// `bar.digits` (it has fewer digits). With far columns, the solution is also useless if rounding changes the ELBO by
/// more than kMaxElboChange, or if separate factors are strongly coupled. Otherwise returns nullopt.
std::optional<PrecisionProblem> check_precision(Instance& instance, const Analysed& analysed, const BoundData& data,
                                                bool locals, const std::vector<IllScaledColumn>& far,
                                                const SweepOptions& options, const RoundingLimits& bar = kInDouble);

/// Returns a clause that describes the first of some ill-scaled data columns, "; 'x' lies at ...", to end a message
/// about rounding with. Empty if `far` is empty.
std::string far_column_clause(const std::vector<IllScaledColumn>& far);

}  // namespace lehr
