// Options by name: numbers from the table of fit_settings.cpp, texts and flags from tables here.
#include "compiler/options/named_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>

#include "compiler/options/fit_settings.h"

namespace lehr {
namespace {

/// An option that is text.
struct FitText {
  std::string_view option;
  std::string FitOptions::*to;
};
constexpr FitText kTexts[] = {{"search", &FitOptions::search},
                              {"anneal", &FitOptions::anneal},
                              {"temper", &FitOptions::temper},
                              {"init", &FitOptions::start},
                              {"precision", &FitOptions::precision}};

/// An option that is true or false.
struct FitFlag {
  std::string_view option;
  bool FitOptions::*to;
};
constexpr FitFlag kFlags[] = {{"adaptive", &FitOptions::adaptive},
                              {"replacement", &FitOptions::replacement},
                              {"save-locals", &FitOptions::save_locals}};

constexpr std::string_view kMethod = "method";

/// Returns an option's name as these callers write it, with '_' for '-'.
std::string option_spelling(std::string_view option_name) {
  std::string out(option_name);
  std::ranges::replace(out, '-', '_');
  return out;
}

/// Returns the main name of a numeric option.
std::string_view first_name(const FitNumber& n) { return n.option.substr(0, n.option.find(',')); }

/// Returns true if the numeric option has this name, which may be any of its spellings.
bool is_called(const FitNumber& n, std::string_view name) {
  for (std::string_view rest = n.option; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    if (option_spelling(rest.substr(0, comma)) == name) return true;
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
  }
  return false;
}

/// Returns the names of all options.
std::vector<std::string> all_names() {
  std::vector<std::string> out{std::string(kMethod)};
  for (const FitNumber& n : numeric_fit_options())
    out.push_back(option_spelling(first_name(n)));
  for (const FitText& t : kTexts)
    out.push_back(option_spelling(t.option));
  for (const FitFlag& f : kFlags)
    out.push_back(option_spelling(f.option));
  return out;
}

/// Parses a number into a field.
template <class T>
std::optional<Error> set_number(T& to, const OptionRange& range, std::string_view name, std::string_view value) {
  if constexpr (std::integral<T>) {
    const Result<std::uint64_t> x = whole_option(name, value, range);
    if (!x) return x.error();
    to = static_cast<T>(*x);
  } else {
    const Result<double> x = number_option(name, value, range);
    if (!x) return x.error();
    to = *x;
  }
  return std::nullopt;
}

/// Sets the field of the named option.
std::optional<Error> set(FitOptions& o, const std::string& name, const std::string& value) {
  for (const FitNumber& n : numeric_fit_options()) {
    if (is_called(n, name))
      return std::visit([&](auto member) { return set_number(o.*member, n.range, name, value); }, n.to);
  }
  for (const FitText& t : kTexts) {
    if (option_spelling(t.option) != name) continue;
    o.*t.to = value;
    return std::nullopt;
  }
  for (const FitFlag& f : kFlags) {
    if (option_spelling(f.option) != name) continue;
    if (value != "true" && value != "false")
      return usage_error(std::string(name), fmt::format("'{}' is neither true nor false", value));
    o.*f.to = value == "true";
    return std::nullopt;
  }
  if (name != kMethod) return unknown_option(name, all_names());
  std::vector<std::string_view> methods;
  for (const MethodName& m : method_names()) {
    if (m.name == value) o.method = m.method;
    methods.push_back(m.name);
  }
  if (std::ranges::find(methods, value) == methods.end())
    return usage_error(std::string(name), fmt::format("'{}' is none of {}", value, fmt::join(methods, ", ")));
  return std::nullopt;
}

}  // namespace

Result<double> number_option(std::string_view name, std::string_view value, const OptionRange& range) {
  const std::optional<double> x = number_in(range, value);
  if (!x) return usage_error(std::string(name), fmt::format("'{}' is not {}", value, describe(range)));
  return *x;
}

Result<std::uint64_t> whole_option(std::string_view name, std::string_view value, const OptionRange& range) {
  const std::optional<std::uint64_t> x = whole_in(range, value);
  if (!x) return usage_error(std::string(name), fmt::format("'{}' is not {}", value, describe(range)));
  return *x;
}

Error unknown_option(std::string_view name, const std::vector<std::string>& options) {
  Error out = usage_error(std::string(name), "there is no such option");
  out.notes.push_back(fmt::format("options: {}", fmt::join(options, ", ")));
  return out;
}

Result<FitOptions> fit_options(const NamedOptions& named) {
  FitOptions out;
  for (const auto& [name, value] : named)
    if (std::optional<Error> e = set(out, name, value)) return *e;
  apply_explicit_options(out, [&](std::string_view option_name) {
    const auto same = [&](const auto& entry) {
      const auto numeric = numeric_fit_options();
      const auto it = std::ranges::find(numeric, option_name, first_name);
      return it == numeric.end() ? option_spelling(option_name) == entry.first : is_called(*it, entry.first);
    };
    return std::ranges::any_of(named, same);
  });
  return out;
}

}  // namespace lehr
