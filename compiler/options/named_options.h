// Options as name and text, for callers without C++ structs (C, Python). Names are those of `lehr fit` with '_' for
// '-'; values are written as on the command line.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "compiler/options/fit_options.h"
#include "compiler/options/option_ranges.h"
#include "runtime/result.h"

namespace lehr {

/// Options as text, as C and Python give them: each value by the option's name, such as {"max_iter", "50"}.
using NamedOptions = std::map<std::string, std::string>;

/// Parses named options; those that are not given have their defaults. `init` selects a kind of start here. Returns an
/// error of ExitCode::usage for an unknown name or method, an invalid number or switch, and a text without effect for
/// the method. Other values of texts are checked by to_fit_settings().
Result<FitOptions> fit_options(const NamedOptions& named);

/// Parses the value of an option as a number in the range, or returns an error of ExitCode::usage about the option
/// `name`.
Result<double> number_option(std::string_view name, std::string_view value, const OptionRange& range);
/// Parses the value of an option exactly as a whole number in the range, or returns an error of ExitCode::usage about
/// the option `name`.
Result<std::uint64_t> whole_option(std::string_view name, std::string_view value, const OptionRange& range);

/// Makes the error of ExitCode::usage that there is no option `name`; its note lists `names`, the options that exist.
Error unknown_option(std::string_view name, const std::vector<std::string>& names);

}  // namespace lehr
