// Reads and writes whole files. Writing is atomic: a file appears under its name complete or not at all, so a killed
// run never leaves half a result.
#pragma once
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// Writes `bytes` to the file `path`, which the user named, atomically: the file is complete or unchanged. A new file
/// with an unpredictable name beside the target is written, flushed to disk (fsync) and renamed.
///
/// An existing file keeps its permissions, and a symbolic link to it stays. A new file gets `mode` less the umask. A
/// pipe or device is written to directly. Temporary files that killed runs left for this target are removed. Errors
/// name the path and the system's reason: ExitCode::internal if the disk is full or fails, ExitCode::usage if the path
/// cannot be written. The value is always true.
Result<bool> write_file(const std::string& path, std::string_view bytes, unsigned mode = 0666);

/// Reads a file completely and returns its bytes.
///
/// Directories, pipes and devices are refused at once; exceptions are standard input and the descriptors that a shell
/// passes for `<(command)`. Errors are of ExitCode::data; so is a file larger than the memory.
Result<std::string> read_file(const std::string& path);

}  // namespace lehr
