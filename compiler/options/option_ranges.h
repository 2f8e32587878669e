// The ranges of numeric options, shared by the command line, the library, and the values of `--anneal` and `--temper`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lehr {

/// The closed interval of numbers from `least` to `most`, or the whole numbers in it. Infinities and NaN are never
/// inside.
struct OptionRange {
  double least, most;  // both inclusive
  bool whole = false;  // true: whole numbers only
};

/// Seed of random numbers.
inline constexpr OptionRange kSeedRange{0, 0x1p64, true};
/// Number of restarts or chains.
inline constexpr OptionRange kRestartsRange{1, 1e6, true};
/// Number of threads, or of incremental batches; 0: automatic.
inline constexpr OptionRange kThreadsRange{0, 1024, true};
/// Number of sweeps; 0: none, or never.
inline constexpr OptionRange kIterationsRange{0, 1e12, true};
/// Number of passes over the local variables of an item.
inline constexpr OptionRange kLocalIterationsRange{1, 1e9, true};
/// Relative change at which an iteration has converged.
inline constexpr OptionRange kToleranceRange{0, 1};
/// Items in a minibatch.
inline constexpr OptionRange kBatchRange{1, 1e12, true};
/// Passes over the data.
inline constexpr OptionRange kEpochsRange{1e-6, 1e6};
/// Delay tau0 of the step sizes (tau0 + t)^-kappa.
inline constexpr OptionRange kDelayRange{0, 1e12};
/// Exponent kappa of the step sizes.
inline constexpr OptionRange kForgettingRange{0, 10};
/// Constant step size rho; 0: none.
inline constexpr OptionRange kStepRange{0, 1};
/// A proportion that is neither 0 nor 1.
inline constexpr OptionRange kPartRange{1e-6, 1 - 1e-6};
/// A proportion above 0, at most 1.
inline constexpr OptionRange kPartOrAllRange{1e-6, 1};
/// A temperature of a schedule.
inline constexpr OptionRange kTemperatureRange{1, 1e9};
/// Highest level of a latent temperature.
inline constexpr OptionRange kHottestRange{1.0001, 1e9};
/// Sweeps or steps of a schedule, or a number of draws.
inline constexpr OptionRange kScheduleRange{1, 1e9, true};
/// Levels of a latent temperature.
inline constexpr OptionRange kLevelsRange{2, 1e4, true};
/// Temperatures of tempered Gibbs sampling.
inline constexpr OptionRange kLadderRange{5, 1000, true};
/// Starts that a search compares.
inline constexpr OptionRange kStartsRange{1, 1000, true};
/// Monte Carlo draws.
inline constexpr OptionRange kDrawsRange{2, 1e5, true};
/// Draws of the k-hat diagnostic (`lehr diagnose`).
inline constexpr OptionRange kRatiosRange{100, 1e6, true};
/// Rows or elements that are printed.
inline constexpr OptionRange kShownRange{1, 1e9, true};

/// Returns true if x is in the range.
bool contains(const OptionRange& range, double x);

/// Describes the range in words: "a whole number from 1 to 1000000".
std::string describe(const OptionRange& range);

/// Parses `text` as a number and returns it if it is in the range. The locale has no influence.
std::optional<double> number_in(const OptionRange& range, std::string_view text);
/// Parses `text` as a whole number of 64 bits, exactly, and returns it if it is in the range. Forms such as 1e6 are
/// accepted below 2^53.
std::optional<std::uint64_t> whole_in(const OptionRange& range, std::string_view text);

}  // namespace lehr
