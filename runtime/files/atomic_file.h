// Whole files or nothing: every output of a run is written beside its place and renamed into it.
#pragma once
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// Writes `bytes` to `path` atomically: a new file beside it under a name that nobody can foresee, fsync, rename. A
/// file that was there keeps its permissions, and a link to one stays a link; a new file has `mode` less the umask.
/// What runs that were killed left of earlier attempts is removed. The error names the path and errno;
/// it is ExitCode::internal where the disk takes no more, and ExitCode::usage where the path cannot be written to.
Result<bool> write_file(const std::string& path, std::string_view bytes, unsigned mode = 0666);

/// The whole file; the error names the path and why. Directories, pipes and devices are refused without waiting for
/// them, except standard input and what a shell puts in the place of `<(command)`.
Result<std::string> read_file(const std::string& path);

}  // namespace lehr
