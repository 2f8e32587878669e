// Which format of arrays a file is to have.
#include "runtime/files/writers.h"

#include <vector>

#include <fmt/format.h>

#include "runtime/files/text.h"

namespace lehr {

std::string array_extensions() {
  std::vector<std::string_view> all;
  for (const ArrayFormat& format : kArrayFormats)
    all.push_back(format.extension);
  return alternatives(all);
}

Result<ArrayFormat> array_format(const std::string& where, const std::string& path) {
  for (const ArrayFormat& format : kArrayFormats)
    if (path.ends_with(format.extension)) return format;
  return Error{ExitCode::usage, where, fmt::format("'{}' does not end in {}", path, array_extensions()), {}};
}

}  // namespace lehr
