// Validates FitOptions and makes a method with its settings of them. Tables of the options, with ranges and help, are
// here as well.
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <variant>

#include "compiler/fit/fitting.h"
#include "compiler/options/fit_options.h"
#include "compiler/options/option_ranges.h"

namespace lehr {

/// Makes an error of ExitCode::usage.
Error usage_error(std::string where, std::string text, std::vector<std::string> notes = {});

/// The description of one numeric option of a fit, such as max-iter. It has the names, the field of FitOptions that the
/// option sets, the allowed values and the text of --help. It has no value. numeric_fit_options() returns one for each
/// option. The command line, the options of the library and the check of ranges are all made from this table.
struct FitNumber {
  std::string_view option;  // name in `lehr fit`: "max-iter"; further spellings after a comma
  std::string_view field;   // name of the field in FitOptions: "max_iterations"
  /// The field of FitOptions that the option sets.
  std::variant<double FitOptions::*, std::int64_t FitOptions::*, std::uint64_t FitOptions::*> to;
  OptionRange range;      // allowed values
  std::string_view help;  // text of --help
};

/// An inference method and its name in options, such as "cavi".
struct MethodName {
  std::string_view name;      // in options
  FitOptions::Method method;  // the method it names
};
/// Returns all inference methods with their names.
std::span<const MethodName> method_names();

/// Returns the values that FitOptions::precision may have.
std::span<const std::string_view> precision_names();

/// Returns the table of numeric options, in the order of `lehr fit --help`.
std::span<const FitNumber> numeric_fit_options();

/// Adjusts defaults that depend on which options the user set explicitly, even to their default values.
/// `explicitly_set` returns true for such an option, by its name in `lehr fit`. An explicit max-iter, tol, restarts or
/// init turns the search off.
void apply_explicit_options(FitOptions& options, const std::function<bool(std::string_view)>& explicitly_set);

/// Validates the options and returns the settings of the fit. `init` is left empty for the caller to fill in. An error
/// of ExitCode::usage names the field that is out of range, malformed, or in conflict with another.
Result<FitSettings> to_fit_settings(const FitOptions& options);

}  // namespace lehr
