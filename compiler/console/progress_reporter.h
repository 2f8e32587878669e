// Progress messages on stderr for work of unknown duration: the first after five seconds, then at most one every five
// seconds.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/terminal/printable.h"

namespace lehr::commands {

/// A callback that prints the progress of long work, such as draws of `lehr diagnose`, to stderr. It is passed to
/// functions that call it with (done, all) after each unit of work.
class ProgressReporter {
 public:
  /// Starts the clock. `unit` names the units in the messages, as "draws".
  explicit ProgressReporter(std::string unit) : unit_(std::move(unit)) {}

  /// Prints "UNIT: DONE of ALL, SECONDS s" if at least five seconds have passed since the last message or the start.
  void operator()(std::int64_t done, std::int64_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    print_to_stderr("{}: {} of {}, {:.0f} s\n", unit_, done, all, std::chrono::duration<double>(now - begin_).count());
  }

 private:
  std::string unit_;  // name of the units of work in messages
  /// When the work began, and when the last message was printed.
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_ = begin_;
};

}  // namespace lehr::commands
