// The functions of a Loops program in executable form: compiled, compiled before, or interpreted.
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

/// How a program is executed. All but `native` work on one thread.
enum class Backend {
  native,      // machine code of LLVM
  timed,       // machine code, with the calls and the time of each function counted (--profile)
  interpreter  // the interpreter of Loops, with the calls and the operations of each function counted
};

/// Where the executable functions of a program come from: a backend that makes them, or functions that were compiled
/// before from the same program (in a built object), in the program's order.
using CodeSource = std::variant<Backend, std::span<const lehr_function>>;

/// Owns the executable functions of one program. The program must outlive this object, and this object everything that
/// calls the functions.
class Functions {
 public:
  /// Compiles the program but for functions that fits seldom call, takes its compiled functions over, or prepares to
  /// interpret it, as `source` says. Throws what the constructor of native::Jit does, as do calls through the hook.
  Functions(const loops::Program& program, const CodeSource& source);
  /// Not copyable: code() points into the object.
  Functions(const Functions&) = delete;
  /// Not assignable: code() points into the object.
  Functions& operator=(const Functions&) = delete;

  /// Returns the hook through which the machine must call functions without an address: all that are timed or
  /// interpreted, and those that are compiled when they are first called. Null if all have addresses.
  const machine::Code* code() const { return code_.call ? &code_ : nullptr; }
  /// Returns the addresses of the functions, in the order of the program; null for those that the hook calls.
  const lehr_function* addresses() const { return addresses_.data(); }

  /// What one function of the program has cost since the start, for profiles.
  struct FunctionCost {
    /// The number of calls, and the time spent in them in nanoseconds, which only Backend::timed measures (else 0).
    std::int64_t calls = 0, nanoseconds = 0;
    /// The operations that the function did (Backend::interpreter only; else 0).
    loops::OperationCounts work;
  };
  /// Returns what the function has cost so far. Its index is that in the program. Throws for Backend::native and for
  /// functions that were compiled before, which are not counted.
  FunctionCost account(std::size_t function) const;

 private:
  /// The running counts of one function, to which threads may add; account() returns them as a FunctionCost.
  struct Counters {
    std::atomic<std::int64_t> calls = 0, nanoseconds = 0, operations = 0, functions = 0, bytes = 0;
  };

  /// The program whose functions these are.
  const loops::Program& program_;
  /// Owns the machine code that was compiled here; null otherwise.
  std::unique_ptr<native::Jit> jit_;
  /// What addresses() returns, by position in the program.
  std::vector<lehr_function> addresses_;
  /// The counts of each function, by position in the program; empty if nothing is counted.
  std::vector<Counters> counters_;
  /// The hook of code(); its `call` is null if functions are called by address.
  machine::Code code_{};
};

}  // namespace lehr
