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

/// How far the rounding errors of one sweep may move a mean, in its standard deviations. Sweeps that creep add them up.
struct RoundingBar {
  double digits;  // beyond it fewer than six digits are those of the data, which is said
  double lost;    // beyond it the solution may be that of the rounding, and the fit fails
};
inline constexpr RoundingBar kInDouble{1e-7, 1e-4};
/// Of code in which items are worked on in 32 bits.
inline constexpr RoundingBar kInSingle{1e-2, 1e-2};
/// Differences of an ELBO that is known less well do not tell whether factors are tied together.
inline constexpr double kMostNats = 1e-2;

/// From the factors as they are, by the numbers of a user (means and standard deviations of `locals`, too, where they
/// are kept). The same perturbations each time; the state of the instance is the same afterwards. Nothing where a sweep
/// fails, which is as bad.
std::optional<Rounding> rounding(Instance& instance, const Analysed& analysed, const BoundData& data, bool locals,
                                 const SweepOptions& options);

/// Whether the data have real numbers, whose squares might be lost.
bool has_real_data(const model::Model& model);

struct Doubt {
  std::string text;
  bool lost = true;  // else the solution has fewer digits
};

/// What is wrong with a solution of a model whose data are rounded so, or nothing: rounding, or columns that are far
/// from zero (`far`) and tie factors together that are taken apart.
std::optional<Doubt> distrust(Instance& instance, const Analysed& analysed, const BoundData& data, bool locals,
                              const std::vector<FarColumn>& far, const SweepOptions& options,
                              const RoundingBar& bar = kInDouble);

/// "; 'x' lies at ..." of the first of them; empty without.
std::string told(const std::vector<FarColumn>& far);

}  // namespace lehr
