// Whole files or nothing: every output of a run is written beside its place and renamed into it.
#pragma once
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// Writes `bytes` to `path` atomically (temporary file in the same directory, fsync, rename); the error names the path and errno.
Result<bool> write_file(const std::string& path, std::string_view bytes);

/// The whole file; the error names the path and errno.
Result<std::string> read_file(const std::string& path);

}  // namespace lehr
