// Compilation of Loops programs to machine code through LLVM: in this process, as text, or as an object file.
// This is the only interface to native code. No LLVM type appears in it. LLVM is loaded when a function first needs it:
// to make code that the cache does not have, or to check the name of a machine or processor.
// Each function of a program becomes a C function of type lehr_function (runtime/abi.h). It is re-entrant and calls
// nothing outside of the generated code but memset and lehr_random. Errors other than a Refusal and lack of memory are
// defects of the compiler and throw std::runtime_error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/loops/loops.h"
#include "runtime/abi.h"

namespace lehr::native {

/// The target machine of generated code (processor, triple), the optimisation level, and how functions are named.
struct Options {
  /// LLVM's name of the processor ("x86-64-v3", "skylake-avx512"). Empty: the one that LEHR_CPU names (processor.h), or
  /// else this machine's. If `triple` names a machine, it must not be empty.
  std::string cpu = {};
  std::string triple = {};  // LLVM's triple of the machine; empty: this machine
  int level = 3;            // 0: no optimisation, for debugging; otherwise the full pipeline
  std::string prefix = {};  // what the names of all functions begin with
  /// The sanitizer that code of built objects is instrumented for, in tests.
  enum class Sanitizer { none, thread, address } sanitizer = Sanitizer::none;
};

/// What a built object contains beside the code of the program: the constant tables that the driver (runtime/embedded)
/// reads, and the functions that it exports.
struct Image {
  /// The kind of member that is a pointer to a table with the addresses of the program's functions, in order.
  struct Functions {};
  /// A table of integers.
  using Words = std::vector<std::int64_t>;
  /// A table of pointers to texts.
  using Strings = std::vector<std::string>;
  /// A member of embedded::Model: a number, or a pointer to one of the tables.
  using Field = std::variant<std::int64_t, Words, Functions, Strings>;
  /// An exported function: `name(...)` calls the driver's `function(model, [argument,] ...)`.
  struct Entry {
    std::string name,                      // the name under which programs call it
        function;                          // the name of the driver's function
    std::optional<std::int64_t> argument;  // a constant second argument of the call, if there is one
  };
  std::vector<Field> model;    // the members of embedded::Model, in order
  std::vector<Entry> entries;  // all functions that the object exports
};

/// The message to the user if no code can be made for a processor or machine: that of Options::cpu, Options::triple or
/// LEHR_CPU.
struct Refusal {
  std::string text,  // the reason
      note;          // which machines or processors can be named instead
};
/// Returns why no code can be made for the machine and the processor of these options, LEHR_CPU included
/// (Options::cpu); nullopt if it can.
std::optional<Refusal> refusal(const Options& options);

/// Returns why no code can be made for the processor that LEHR_CPU names (processor.h); nullopt if it can or none is
/// named. LLVM may not know it, or it may have instructions that this machine lacks.
std::optional<Refusal> refusal_of_processor();

/// Returns a digest of what code for this machine depends on besides the program and the options: this compiler, the
/// processor, and LEHR_CPU. A checkpoint has it, so that a fit resumes with the same code. It is empty if the processor
/// cannot be identified.
std::string fingerprint();

/// Returns the LLVM IR of the program as text, for `lehr emit`: after optimisation, unless Options::level is 0.
std::string llvm_text(const loops::Program& program, const Options& options = {});

/// Returns the assembly of the program for the target as text, for `lehr emit`.
std::string assembly(const loops::Program& program, const Options& options = {});

/// Returns the bytes of the object file that `lehr build` writes: relocatable, position-independent, with the program,
/// the driver and its tables. Another program that links it needs nothing else but libm. Options::prefix is ignored:
/// only the functions of Image::entries are visible.
std::string emit_embeddable(const loops::Program& program, const Image& image, const Options& options = {});

/// A program compiled into this process. Its code lives as long as this object. Any number of threads may call it.
/// Functions that many fits do not call (Function::seldom) are compiled when they are first asked for, each alone.
class Jit {
 public:
  /// Compiles the other functions, or loads their code from the cache. The program must outlive this object.
  /// Throws std::bad_alloc if there is no memory for the code, std::system_error if the system does not allow new code
  /// to run, and std::runtime_error if LLVM does not have the machine or the code cannot be linked.
  explicit Jit(const loops::Program& program, const Options& options = {});
  /// Frees the code: pointers from function() are invalid afterwards.
  ~Jit();
  /// Takes over the compiled code of another Jit, which must not be called afterwards.
  Jit(Jit&&) noexcept;
  /// Frees the compiled code of this Jit and takes over that of another one.
  Jit& operator=(Jit&&) noexcept;

  /// Returns the function with this position in the program. If its code is not here, it is compiled or loaded now,
  /// with the exceptions of the constructor. Threads may call this at the same time.
  lehr_function function(std::size_t position) const;
  /// Returns the function with this name in the program (without prefix); nullptr if there is none.
  lehr_function function(const std::string& name) const;

 private:
  /// The pages with the code, and the addresses of the functions.
  struct Impl;
  std::unique_ptr<Impl> impl_;  // null after it was moved from
};

}  // namespace lehr::native
