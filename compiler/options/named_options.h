// Options as text, for callers that have no structures of C++: by the names that `lehr fit` has for them, with '_' for
// '-', and their values as they are typed there.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "compiler/options/fit_options.h"
#include "compiler/options/option_ranges.h"
#include "runtime/result.h"

namespace lehr {

using NamedOptions = std::map<std::string, std::string>;

/// What is not said keeps its default; `init` is a kind of start. ExitCode::usage for an unknown name, and for a value
/// that is none of the option's.
Result<FitOptions> fit_options(const NamedOptions& named);

/// A number of the range, or an Error about the option.
Result<double> number_option(std::string_view name, std::string_view value, const OptionRange& range);
Result<std::uint64_t> whole_option(std::string_view name, std::string_view value, const OptionRange& range);

/// That there is no such option, and those that there are.
Error unknown_option(std::string_view name, const std::vector<std::string>& known);

}  // namespace lehr
