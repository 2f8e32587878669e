// From the options of a fit to its method: the one place where they are validated and copied.
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <variant>

#include "compiler/fitting/fitting.h"
#include "compiler/options/fit_options.h"
#include "compiler/options/option_ranges.h"

namespace lehr {

/// An option that is a number.
struct FitNumber {
  std::string_view option;  // of `lehr fit`: "max-iter"; other spellings after a comma
  std::string_view field;   // of FitOptions: "max_iterations"
  std::variant<double FitOptions::*, std::int64_t FitOptions::*, std::uint64_t FitOptions::*> to;
  OptionRange range;
  std::string_view help;
};

struct MethodName {
  std::string_view name;
  FitOptions::Method method;
};
std::span<const MethodName> method_names();

/// What FitOptions::precision can be.
std::span<const std::string_view> precision_names();

/// In the order of `lehr fit --help`.
std::span<const FitNumber> fit_numbers();

/// What is said counts, be it the usual value: `said` knows options as `lehr fit` names them.
void count_what_is_said(FitOptions& options, const std::function<bool(std::string_view)>& said);

/// `init` stays empty: the caller knows where the arrays are. An Error names the field that is out of its range, or
/// what is malformed or does not go together.
Result<FitSettings> settings_of(const FitOptions& options);

}  // namespace lehr
