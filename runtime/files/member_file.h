// Atomic writing of files whose names the program chooses, in a directory that the user chose (DIR/fit.json).
#pragma once
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// Writes `bytes` to `path`, a file whose name the program chose (DIR/fit.json), atomically as write_file() does, but
/// replaces whatever has the name. A symbolic link is replaced, not followed, and a pipe or device is never written to:
/// by naming the directory the user did not choose them. The value is always true.
Result<bool> write_file_no_follow(const std::string& path, std::string_view bytes);

}  // namespace lehr
