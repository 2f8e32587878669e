// DIR/trace.csv: a row an iteration, complete on disk as soon as it is written.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/result.h"

namespace lehr {

/// Appends rows `iteration,seconds,elbo,temperature` and further columns, numbers as %.17g, flushed each.
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

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::size_t extra_columns_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace lehr
