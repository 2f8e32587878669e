// DIR/trace.csv: a row an iteration.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// Appends rows `iteration,seconds,elbo,temperature` and further columns, numbers in the fewest digits that are read as
/// the same. A row that comes a millisecond or more after those on disk goes there at once, with all before it.
class Trace {
 public:
  /// Makes `directory` if need be and begins the file with its header. Rows of an existing trace with the
  /// same header and an iteration up to `keep_until` stay (a resumed run); all others are dropped. Without a directory
  /// nothing is written.
  static Result<Trace> open(const std::string& directory, const std::vector<std::string>& extra_columns = {},
                            std::int64_t keep_until = -1);

  /// `seconds` since the start of the fit, `elbo` in nats at T = 1, one `extra` value for each further
  /// column; NaN leaves the field empty.
  Result<bool> append(std::int64_t iteration, double seconds, double elbo, double temperature,
                      std::span<const double> extra = {});

  /// Puts all rows on disk; to be called after the last.
  Result<bool> write();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::size_t extra_columns_ = 0;
  std::string rows_;               // that are not on disk yet
  double written_at_ = -INFINITY;  // seconds of the last row on disk
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace lehr
