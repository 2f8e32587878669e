// The functions of a program, compiled or interpreted.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "compiler/loops/interpret.h"
#include "compiler/native/native.h"
#include "runtime/machine/machine.h"

namespace lehr {

/// timed: native, and how long every function took; interpreter: and what it did. What is not `native` works on one
/// thread.
enum class Backend { native, timed, interpreter };

/// Code that is to be made or interpreted, or the functions of the same program that were built before, in its order.
using CodeSource = std::variant<Backend, std::span<const lehr_function>>;

/// They live as long as this does, and no longer than the program.
class Functions {
 public:
  Functions(const loops::Program& program, const CodeSource& source);
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  /// Null where functions are called by their addresses.
  const machine::Code* code() const { return code_.call ? &code_ : nullptr; }
  const lehr_function* compiled() const { return compiled_.data(); }

  struct Account {
    std::int64_t calls = 0, nanoseconds = 0;
    loops::Work work;
  };
  /// What there was so far: the time of `timed`, the work of `interpreter`.
  Account account(std::size_t function) const;

 private:
  struct Counters {
    std::atomic<std::int64_t> calls = 0, nanoseconds = 0, operations = 0, functions = 0, bytes = 0;
  };

  const loops::Program& program_;
  std::unique_ptr<native::Jit> jit_;
  std::vector<lehr_function> compiled_;
  std::vector<Counters> counters_;
  machine::Code code_{};
};

}  // namespace lehr
