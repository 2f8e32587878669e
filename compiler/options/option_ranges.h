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

/// Allowed seeds of random numbers.
inline constexpr OptionRange kSeedRange{0, 0x1p64, true};
/// Allowed numbers of restarts or chains.
inline constexpr OptionRange kRestartsRange{1, 1e6, true};
/// Allowed numbers of threads, or of incremental batches; 0: automatic.
inline constexpr OptionRange kThreadsRange{0, 1024, true};
/// Allowed numbers of sweeps of a fit, of sweeps between two events such as checkpoints, and of other limits that may
/// be 0.
inline constexpr OptionRange kIterationsRange{0, 1e12, true};
/// Allowed numbers of passes over the local variables of an item.
inline constexpr OptionRange kLocalIterationsRange{1, 1e9, true};
/// Allowed relative changes below which an iteration has converged.
inline constexpr OptionRange kToleranceRange{0, 1};
/// Allowed numbers of items in a minibatch.
inline constexpr OptionRange kBatchRange{1, 1e12, true};
/// Allowed numbers of passes of stochastic inference over the data.
inline constexpr OptionRange kEpochsRange{1e-6, 1e6};
/// Allowed delays tau0 of the step sizes (tau0 + t)^-kappa.
inline constexpr OptionRange kTau0Range{0, 1e12};
/// Allowed exponents kappa of the step sizes (tau0 + t)^-kappa.
inline constexpr OptionRange kKappaRange{0, 10};
/// Allowed constant step sizes rho; 0: none.
inline constexpr OptionRange kStepRange{0, 1};
/// Allowed proportions that must be neither 0 nor 1, such as the part of the data that is held out.
inline constexpr OptionRange kProportionRange{1e-6, 1 - 1e-6};
/// Allowed proportions above 0, at most 1, such as the power of an earlier posterior as prior (`--forget`).
inline constexpr OptionRange kProportionOrOneRange{1e-6, 1};
/// Allowed temperatures of an annealing schedule.
inline constexpr OptionRange kTemperatureRange{1, 1e9};
/// Allowed values of the highest temperature where the temperature is latent (`max=T` of --temper).
inline constexpr OptionRange kHottestRange{1.0001, 1e9};
/// Allowed numbers of sweeps or steps in a schedule of temperatures, of recorded draws and the sweeps for each, and of
/// simulations of `lehr calibrate`.
inline constexpr OptionRange kScheduleRange{1, 1e9, true};
/// Allowed sizes of the grid of values that a latent temperature can have (`levels=N` of --temper).
inline constexpr OptionRange kLevelsRange{2, 1e4, true};
/// Allowed numbers of temperatures in parallel tempering (method gibbs with `--temper global:levels=N`).
inline constexpr OptionRange kGibbsTemperaturesRange{5, 1000, true};
/// Allowed numbers of starts for the local variables of a new item.
inline constexpr OptionRange kStartsRange{1, 1000, true};
/// Allowed numbers of Monte Carlo draws, for predictions, posterior predictive checks and the normalisers of a latent
/// temperature.
inline constexpr OptionRange kDrawsRange{2, 1e5, true};
/// Allowed numbers of draws for the k-hat diagnostic (`lehr diagnose`).
inline constexpr OptionRange kKhatDrawsRange{100, 1e6, true};
/// Allowed numbers of rows or elements to print (`--top`).
inline constexpr OptionRange kPrintedRange{1, 1e9, true};

/// Returns true if x is in the range of an option.
bool contains(const OptionRange& range, double x);

/// Describes the range of an option in words, for messages: "a whole number from 1 to 1000000".
std::string describe(const OptionRange& range);

/// Parses `text` as a number and returns it; nullopt if it is none or outside of the range. The locale has no
/// influence.
std::optional<double> number_in(const OptionRange& range, std::string_view text);
/// Parses `text` exactly as a whole number of 64 bits and returns it; nullopt if it is none or outside of the range.
/// Forms such as 1e6 are accepted below 2^53.
std::optional<std::uint64_t> whole_in(const OptionRange& range, std::string_view text);

}  // namespace lehr
