// Progress of work that may take long, on stderr: a line after some seconds, and again every so often.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/terminal/printable.h"

namespace lehr::commands {

class LongWork {
 public:
  explicit LongWork(std::string what) : what_(std::move(what)) {}

  void operator()(std::int64_t done, std::int64_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    tell("{}: {} of {}, {:.0f} s\n", what_, done, all, std::chrono::duration<double>(now - begin_).count());
  }

 private:
  std::string what_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_ = begin_;
};

}  // namespace lehr::commands
