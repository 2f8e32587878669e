// Writes DIR/trace.csv: one row for each iteration of a fit, with the ELBO and the temperature.
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

/// The trace file of a running fit. Rows are `iteration,seconds,elbo,temperature` and further columns, numbers with the
/// fewest digits that give them back exactly. Rows are buffered. They are written to disk when a row is a millisecond
/// or more later than the last one on disk, or when there are 4 kB.
class Trace {
 public:
  /// Makes the directory if necessary and starts the file with its header.
  ///
  /// Of an existing trace with the same header, the rows up to iteration `keep_until` stay, for a resumed run; all
  /// other rows are dropped. With an empty directory, nothing is written.
  static Result<Trace> open(const std::string& directory, const std::vector<std::string>& extra_columns = {},
                            std::int64_t keep_until = -1);

  /// Appends a row: `seconds` since the start of the fit, `elbo` in nats (SweepReport::elbo), and one value of `extra`
  /// for each further column. A NaN in `extra` leaves its field empty. The value is always true.
  Result<bool> append(std::int64_t iteration, double seconds, double elbo, double temperature,
                      std::span<const double> extra = {});

  /// Writes all buffered rows of the trace to disk. Call it after the last row. Fails if the file cannot be written;
  /// the value is always true.
  Result<bool> write();

 private:
  /// Closes the file in a unique_ptr.
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;                        // path of the file
  std::size_t extra_columns_ = 0;           // number of further columns
  std::string pending_;                     // text of rows that are not on disk yet
  double written_at_ = -INFINITY;           // `seconds` of the last row on disk
  std::unique_ptr<std::FILE, Close> file_;  // the open file; null: nothing is written
};

}  // namespace lehr
