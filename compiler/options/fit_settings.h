// Validates FitOptions and makes a method with its settings of them. The table of the options, with ranges and help, is
// here as well.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "compiler/fit/fitting.h"
#include "compiler/options/fit_options.h"
#include "compiler/options/methods.h"
#include "compiler/options/option_ranges.h"

namespace lehr {

/// The description of one option of a fit but its method: a number such as max-iter, a text or a switch. It has the
/// names, the field of FitOptions that the option sets, the allowed values and the text of --help. It has no value; the
/// default is that of the field. fit_option_table() returns one for each option. The command line, the options of the
/// library and the checks of values are all made from this table.
struct FitOption {
  std::string_view option;  // name in `lehr fit`: "max-iter"; further spellings after a comma
  std::string_view field;   // name of the field in FitOptions: "max_iterations"
  /// The field of FitOptions that the option sets: of a number, a text or a switch.
  std::variant<double FitOptions::*, std::int64_t FitOptions::*, std::uint64_t FitOptions::*, std::string FitOptions::*,
               bool FitOptions::*>
      to;
  OptionRange range;                              // allowed values of a number
  UsedBy used_by;                                 // the methods for which it has an effect; null: all
  std::string_view help;                          // text of --help, with "{only}" in place of these methods
  std::span<const std::string_view> values = {};  // allowed values of a text besides its default; empty: any
  std::string_view value_name = {};               // what --help calls a text that may have any value: "SCHEDULE"

  /// Returns true if the option's value is a number.
  bool is_number() const { return to.index() < 3; }
  /// Returns true if the option's value is a text.
  bool is_text() const { return std::holds_alternative<std::string FitOptions::*>(to); }
  /// Returns the name in `lehr fit` without further spellings: "restarts" of "restarts,chains".
  std::string_view name() const { return option.substr(0, option.find(',')); }
};

/// Returns the table of all options of a fit but the method, in the order in which each group of `lehr fit --help`
/// lists its options.
std::span<const FitOption> fit_option_table();

/// Returns the text of --help for an option, which names the methods that use it (option_help). Of an option with a
/// list of values, these are the methods for which the last value has an effect, such as linear-response of --sds.
std::string help_of(const FitOption& row);

/// Returns an error about the first option with a text as value that the user set explicitly, even to its default, and
/// that has no effect for the method (without_effect); nullopt if there is none. `explicitly_set` returns true for an
/// option that the user set, by its name in the table.
std::optional<Error> unused_option(const FitOptions& options,
                                   const std::function<bool(std::string_view)>& explicitly_set);

/// Returns an error about the first text field that differs from its default and has no effect for the method, for
/// callers that fill in the struct; nullopt if there is none. Start values in `init` do not count.
std::optional<Error> unused_value(const FitOptions& options);
/// Returns a warning about each option with a number or a switch that has no effect for the method and differs from
/// `usual`, the defaults of the command.
std::vector<Diagnostic> unused_number_warnings(const FitOptions& options, const FitOptions& usual = {});
/// Makes the warning that the option `name` has no effect with the method of `options`; it lists the methods that use
/// the option.
Diagnostic unused_warning(std::string_view name, UsedBy used_by, const FitOptions& options);

/// Switches the search over starts off (search = "none") if the user set max-iter, tol, restarts or init, even to a
/// default, and did not set `search`. `explicitly_set` returns true for an option that the user set, by its name in the
/// table.
void apply_explicit_options(FitOptions& options, const std::function<bool(std::string_view)>& explicitly_set);

/// Validates the options of a fit and converts them to its settings, the inference method included. `init` is left
/// empty for the caller to fill in. An error of ExitCode::usage names the field that is out of range, malformed, or in
/// conflict with another.
Result<FitSettings> to_fit_settings(const FitOptions& options);

}  // namespace lehr
