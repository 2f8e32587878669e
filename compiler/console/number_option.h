// Command line options with numeric values, with a check of their range.
#pragma once
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <concepts>
#include <string>

#include "compiler/options/option_ranges.h"

namespace lehr::commands {

/// Help text of the option --starts of `lehr score` and `lehr predict`: from how many starts the local variables of
/// each new item are inferred.
inline constexpr const char* kStartsHelp =
    "Starts for the local variables of a new item (latent variables of that item alone); the best is kept";

/// Adds a numeric option, such as --seed, to a command; parsing stores its value in `to`, which must outlive the
/// command. The present value of `to` is the default that help shows. Values that are no number or outside of `range`
/// are usage errors; the message states the range.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, T& to, const OptionRange& range,
                        const std::string& help) {
  const auto read = [&to, range, name](const std::string& text) {
    const auto x = [&] {
      if constexpr (std::integral<T>) return whole_in(range, text);
      else return number_in(range, text);
    }();
    if (!x) throw CLI::ValidationError(name, fmt::format("'{}' is not {}", text, describe(range)));
    to = static_cast<T>(*x);
  };
  CLI::Option* option = command.add_option_function<std::string>(name, read, help);
  return option->type_name(std::integral<T> ? "INT" : "FLOAT")->default_str(fmt::format("{}", to));
}

}  // namespace lehr::commands
