// Files that the program names itself, in a directory that the user names.
#pragma once
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// As write_file() does it, but whatever has the name is replaced: a link is not followed, and a pipe or a device is
/// not written to. Nobody meant those by naming the directory.
Result<bool> write_member(const std::string& path, std::string_view bytes);

}  // namespace lehr
