// The numbers that options may be: one place for the command line, for the library and for `--anneal` and
// `--temper`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lehr {

/// Numbers from `least` to `most`; what is not finite is in no range.
struct OptionRange {
  double least, most;
  bool whole = false;
};

inline constexpr OptionRange kSeedRange{0, 0x1p64, true};
inline constexpr OptionRange kRestartsRange{1, 1e6, true};
inline constexpr OptionRange kThreadsRange{0, 1024, true};
inline constexpr OptionRange kIterationsRange{0, 1e12, true};  // 0: none, or never
inline constexpr OptionRange kLocalIterationsRange{1, 1e9, true};
inline constexpr OptionRange kToleranceRange{0, 1};
inline constexpr OptionRange kBatchRange{1, 1e12, true};
inline constexpr OptionRange kEpochsRange{1e-6, 1e6};
inline constexpr OptionRange kDelayRange{0, 1e12};        // tau0
inline constexpr OptionRange kForgettingRange{0, 10};     // kappa
inline constexpr OptionRange kStepRange{0, 1};            // rho; 0: none
inline constexpr OptionRange kPartRange{1e-6, 1 - 1e-6};  // neither nothing nor all
inline constexpr OptionRange kPartOrAllRange{1e-6, 1};
inline constexpr OptionRange kTemperatureRange{1, 1e9};
inline constexpr OptionRange kHottestRange{1.0001, 1e9};
inline constexpr OptionRange kScheduleRange{1, 1e9, true};  // sweeps or steps of a schedule
inline constexpr OptionRange kLevelsRange{2, 1e4, true};
inline constexpr OptionRange kLadderRange{5, 1000, true};
inline constexpr OptionRange kStartsRange{1, 1000, true};
inline constexpr OptionRange kDrawsRange{2, 1e5, true};
inline constexpr OptionRange kRatiosRange{100, 1e6, true};
inline constexpr OptionRange kShownRange{1, 1e9, true};  // rows, elements

bool contains(const OptionRange& range, double x);

/// "a whole number from 1 to 1000000".
std::string describe(const OptionRange& range);

/// The number that `text` spells, if the range has it. Independent of the host's locale.
std::optional<double> number_in(const OptionRange& range, std::string_view text);
/// The same to the last digit, for ranges of whole numbers.
std::optional<std::uint64_t> whole_in(const OptionRange& range, std::string_view text);

}  // namespace lehr
