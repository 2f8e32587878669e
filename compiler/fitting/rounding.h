// Are the numbers of a solution those of the data, or of how the data were rounded?
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/evaluate/far_columns.h"
#include "compiler/instance/instance.h"
#include "runtime/methods/sweep.h"

namespace lehr {

/// Where one sweep over data that differ in their last digits alone leads, as against one over the data as they are.
struct Rounding {
  double moved = 0;  // most of all means in standard deviations of their factors, and of all those relatively
  std::string name;  // of the variable that moved most
  double nats = 0;   // most that the ELBO differs
};

/// A mean that rounding moves by more of its standard deviation is not to be trusted to six digits.
inline constexpr double kMostMoved = 1e-7;
/// The same of code in which items are worked on in 32 bits: to a hundredth of it.
inline constexpr double kMostMovedInSingle = 1e-2;
/// Differences of an ELBO that is known less well do not tell whether factors are tied together.
inline constexpr double kMostNats = 1e-2;

/// From the factors as they are, by the numbers of a user (means and standard deviations of `locals`, too, where they
/// are kept). The same perturbations each time; the state of the instance is the same afterwards. Nothing where a sweep
/// fails, which is as bad.
std::optional<Rounding> rounding(Instance& instance, const Analysed& analysed, const BoundData& data, bool locals,
                                 const SweepOptions& options);

/// Whether the data have real numbers, whose squares might be lost.
bool has_real_data(const model::Model& model);

/// What is wrong with a solution of a model whose data are rounded so, or nothing: rounding, or columns that are far
/// from zero (`far`) and tie factors together that are taken apart.
std::optional<std::string> distrust(Instance& instance, const Analysed& analysed, const BoundData& data, bool locals,
                                    const std::vector<FarColumn>& far, const SweepOptions& options,
                                    double most_moved = kMostMoved);

/// "; 'x' lies at ..." of the first of them; empty without.
std::string told(const std::vector<FarColumn>& far);

}  // namespace lehr
