// Options by name: the method, and those of the table of fit_settings.cpp.
#include "compiler/options/named_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>

#include "compiler/options/fit_settings.h"

namespace lehr {
namespace {

constexpr std::string_view kMethod = "method";

/// Returns an option's name as these callers write it, with '_' for '-'.
std::string option_spelling(std::string_view option_name) {
  std::string out(option_name);
  std::ranges::replace(out, '-', '_');
  return out;
}

/// Returns true if the option has this name, which may be any of its spellings.
bool is_called(const FitOption& row, std::string_view name) {
  for (std::string_view rest = row.option; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    if (option_spelling(rest.substr(0, comma)) == name) return true;
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
  }
  return false;
}

/// Returns the names of all options.
std::vector<std::string> all_names() {
  std::vector<std::string> out{std::string(kMethod)};
  for (const FitOption& row : fit_option_table())
    out.push_back(option_spelling(row.name()));
  return out;
}

/// Parses a value into a field. The values of a text are checked by to_fit_settings().
template <class T>
std::optional<Error> set_value(T& to, const OptionRange& range, std::string_view name, std::string_view value) {
  if constexpr (std::same_as<T, std::string>) {
    to = value;
  } else if constexpr (std::same_as<T, bool>) {
    if (value != "true" && value != "false")
      return usage_error(std::string(name), fmt::format("'{}' is neither true nor false", value));
    to = value == "true";
  } else if constexpr (std::integral<T>) {
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
  for (const FitOption& row : fit_option_table()) {
    if (is_called(row, name))
      return std::visit([&](auto member) { return set_value(o.*member, row.range, name, value); }, row.to);
  }
  if (name != kMethod) return unknown_option(name, all_names());
  if (!find_method(value)) return unknown_method(value);
  o.method = value;
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
  const auto explicitly_set = [&](std::string_view option_name) {
    const std::span<const FitOption> table = fit_option_table();
    const auto row = std::ranges::find(table, option_name, &FitOption::name);
    const auto is_given = [&](const auto& entry) { return is_called(*row, entry.first); };
    return row != table.end() && std::ranges::any_of(named, is_given);
  };
  if (std::optional<Error> e = unused_option(out, explicitly_set)) {
    *e = with_option_prefix(std::move(*e), "");
    e->where = option_spelling(e->where);
    return *e;
  }
  apply_explicit_options(out, explicitly_set);
  return out;
}

}  // namespace lehr
