// A spill: files for the factors of out-of-core items between their visits, one file for each chunk of items. They are
// in a directory of their own, which the destructor removes. If a process was killed, the next one that spills in the
// same place removes its directory; a lock on the directory tells it that the owner is dead.
#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// Thrown if a file of the spill cannot be written or read back, with the message for the user.
struct SpillFailure : std::runtime_error {
  /// Makes the exception of an error.
  explicit SpillFailure(Error e) : std::runtime_error(e.text), error(std::move(e)) {}
  Error error;  // path, cause and exit code
};

/// Files for the factors of out-of-core items between their visits, one for each chunk of items, in a directory of this
/// process alone. Numbers are counted from 0 in each file, 8 bytes each.
class Spill {
 public:
  /// Makes a new directory inside `inside`, which is created if it does not exist, and removes those of processes that
  /// were killed. Like load() and save(), it throws SpillFailure if it fails.
  explicit Spill(const std::string& inside);
  /// Removes the directory with all its files.
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  /// Reads numbers from the file of a chunk into `rows`, one row after another, beginning with number `at` of the file.
  /// Returns the position after the last number. It fails if the file is shorter.
  std::size_t load(std::size_t chunk, std::size_t at, const std::vector<std::span<double>>& rows) const;
  /// Writes the numbers of `rows` to the file of a chunk, one row after another, beginning with number `at` of the
  /// file. Returns the position after the last number.
  std::size_t save(std::size_t chunk, std::size_t at, const std::vector<std::span<double>>& rows) const;

 private:
  /// Returns the path of the file of a chunk.
  std::string path(std::size_t chunk) const;

  std::string directory_;  // path of the directory
  int lock_ = -1;          // descriptor of the directory, with the lock of this process; -1: none
};

}  // namespace lehr
