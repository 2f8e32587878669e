// Parses options of the form NAME=VALUE.
#include "compiler/console/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Splits NAME=VALUE. Returns nothing if either part is empty or the sign is missing.
std::optional<std::pair<std::string, std::string>> name_and_value(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return std::nullopt;
  return std::make_pair(text.substr(0, at), text.substr(at + 1));
}

/// Returns the error for a text that is not NAME=VALUE, with an example.
Error malformed_error(const char* option, const std::string& text, const char* example) {
  return {ExitCode::usage,
          option,
          fmt::format("'{}' is not NAME=VALUE", text),
          {fmt::format("for example {} {}", option, example)}};
}

/// Returns the error for a name that is given twice.
Error duplicate_error(const char* option, const std::string& name) {
  return {ExitCode::usage, option, fmt::format("'{}' is given twice", name), {}};
}

}  // namespace

void add_settings(CLI::App& c, SettingTexts& t, const std::string& sizes_help) {
  c.add_option("--set", t.set, "Set constants, e.g. K=50,alpha=0.1; default: values in the model file")
      ->take_all()
      ->delimiter(',')
      ->type_name("NAME=VALUE");
  c.add_option("--sizes", t.sizes, sizes_help)->take_all()->delimiter(',')->type_name("PLATE=N");
  c.add_option("--labels", t.labels,
               "Names of the elements of a plate (an index set such as `term`), one per line of a text file: "
               "term=vocab.txt; output shows them. Default: names in the data, if any, else numbers; repeatable")
      ->take_all()
      ->type_name("PLATE=FILE");
}

void add_no_cache(CLI::App& c) {
  c.add_flag_callback(
      "--no-cache", [] { ::setenv("LEHR_CACHE", "off", 1); }, "Compile again instead of using cached code");
}

Result<Settings> read_settings(const SettingTexts& o) {
  Settings out;
  for (const std::string& text : o.set) {
    const auto nv = name_and_value(text);
    if (!nv) return malformed_error("--set", text, "K=50");
    const std::optional<double> v = parse_number(nv->second);
    if (!v) return Error{ExitCode::usage, "--set", fmt::format("'{}' is not a number", nv->second), {}};
    if (!out.constants.emplace(nv->first, *v).second) return duplicate_error("--set", nv->first);
  }
  for (const std::string& text : o.sizes) {
    const auto nv = name_and_value(text);
    if (!nv) return malformed_error("--sizes", text, "topic=100");
    std::int64_t v = 0;
    const auto [end, ec] = std::from_chars(nv->second.data(), nv->second.data() + nv->second.size(), v);
    if (ec != std::errc() || end != nv->second.data() + nv->second.size() || v < 0) {
      return Error{ExitCode::usage, "--sizes", fmt::format("'{}' is not a size", nv->second), {}};
    }
    if (!out.sizes.emplace(nv->first, v).second) return duplicate_error("--sizes", nv->first);
  }
  for (const std::string& text : o.labels) {
    const auto nv = name_and_value(text);
    if (!nv) return malformed_error("--labels", text, "term=vocab.txt");
    Result<std::vector<std::string>> labels = read_labels(nv->second);
    if (!labels) return labels.error();
    if (!out.labels.emplace(nv->first, std::move(*labels)).second) return duplicate_error("--labels", nv->first);
  }
  return out;
}

ExitCode complain(const Error& e) {
  print_to_stderr("{}\n", render(e, "--"));
  return e.code;
}

}  // namespace lehr::commands
