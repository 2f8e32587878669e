// Factors of items whose data come from elsewhere, between visits: a file for each share of the items, in a directory
// of their own that is removed at the end; that of a process that was killed, by the next one in the same place.
#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// A file could not be written, or read back.
struct SpillFailure : std::runtime_error {
  explicit SpillFailure(Error e) : std::runtime_error(e.text), error(std::move(e)) {}
  Error error;
};

class Spill {
 public:
  /// Makes the directory, inside of this one. Throws SpillFailure, here and below.
  explicit Spill(const std::string& inside);
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  /// Numbers of a share from the `at`-th on; where the next ones begin.
  std::size_t load(std::size_t share, std::size_t at, const std::vector<std::span<double>>& rows) const;
  std::size_t save(std::size_t share, std::size_t at, const std::vector<std::span<double>>& rows) const;

 private:
  std::string path(std::size_t share) const;

  std::string directory_;
  int lock_ = -1;  // on the directory, as long as there is one of this process
};

}  // namespace lehr
