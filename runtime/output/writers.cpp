// Chooses the format of an output file by its extension.
#include "runtime/output/writers.h"

#include <vector>

#include <fmt/format.h>

#include "runtime/files/text.h"

namespace lehr {
namespace {

/// Lists the extensions of a table of formats.
template <class Formats>
std::string extensions_of(const Formats& formats) {
  std::vector<std::string_view> all;
  for (const auto& format : formats)
    all.push_back(format.extension);
  return join_with_or(all);
}

/// Returns the format in a table whose extension ends the path.
template <class Format, std::size_t n>
Result<Format> format_of(const Format (&formats)[n], const std::string& where, const std::string& path) {
  for (const Format& format : formats)
    if (path.ends_with(format.extension)) return format;
  return Error{ExitCode::usage, where, fmt::format("'{}' does not end in {}", path, extensions_of(formats)), {}};
}

}  // namespace

std::string array_extensions() { return extensions_of(kArrayFormats); }

std::string draw_extensions() { return extensions_of(kDrawFormats); }

Result<ArrayFormat> array_format(const std::string& where, const std::string& path) {
  return format_of(kArrayFormats, where, path);
}

Result<DrawFormat> draw_format(const std::string& where, const std::string& path) {
  return format_of(kDrawFormats, where, path);
}

}  // namespace lehr
