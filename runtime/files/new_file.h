// Atomic writing of a file in pieces: the file appears under its name when it is finished, complete or not at all.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace lehr {

/// What an AtomicFile does with a symbolic link, pipe or device that has the target's name. `followed`: the link's
/// target is replaced, and the pipe or device is written to. `replaced`: the new file takes the name.
enum class ExistingTarget { followed, replaced };

/// A file being written in pieces, under a temporary name beside its target. finish() gives it the target's name;
/// without it, the destructor removes the file.
class AtomicFile {
 public:
  /// Opens the temporary file for a target at `path`. `mode` is the permissions of a new target before the umask; an
  /// existing one keeps its own. ExitCode::internal if the disk is full or fails, ExitCode::usage if the path cannot be
  /// written.
  static Result<AtomicFile> begin(const std::string& path, unsigned mode = 0666,
                                  ExistingTarget existing = ExistingTarget::followed);
  /// Moves the file that is being written.
  AtomicFile(AtomicFile&&) noexcept;
  /// Removes the temporary file unless finish() has given it the target's name.
  ~AtomicFile();

  /// Appends bytes to the file. ExitCode::internal if the disk is full or fails; the value is always true.
  Result<bool> append(std::string_view bytes);
  /// Flushes all bytes to disk (fsync). After it, finish() needs no further disk space, so that a set of files can be
  /// written first and renamed together. The value is always true.
  Result<bool> sync();
  /// Flushes the file and renames it to the target. Nothing can be appended after it. The value is always true.
  Result<bool> finish();
  /// As finish(), but the file stays open: returns its descriptor, which the caller closes. What is written to it goes
  /// into this file even if another one has taken its name.
  Result<int> publish();

 private:
  /// The file that is being written and its names (atomic_file.cpp).
  struct Open;
  /// Makes an AtomicFile of an open temporary file.
  explicit AtomicFile(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open_;  // the file that is being written; null after a move
};

}  // namespace lehr
