// Loops -> machine code through LLVM. The only door to this rung: no LLVM type appears here, and LLVM is loaded when
// code is made for the first time: not for what was kept of earlier times.
// Every function of a program becomes one C function of type lehr_function (runtime/abi.h), re-entrant, that
// calls nothing but memset. Errors here are errors of the compiler and throw std::runtime_error.
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

struct Options {
  std::string cpu =
      {};  // LLVM's name ("x86-64-v3", "skylake-avx512"); empty: this machine, or that of LEHR_CPU (processor.h)
  std::string triple = {};  // empty: this machine
  int level = 3;            // 0: no optimisation at all, for debugging; otherwise the full pipeline
  std::string prefix = {};  // put before the name of every function
  enum class Sanitizer { none, thread, address } sanitizer = Sanitizer::none;  // of built objects, to test them
};

/// What a built object holds beside the program: the constant tables that the driver of runtime/embedded reads, and the
/// names under which its functions are called.
struct Image {
  struct Functions {};  // the addresses of the program's functions, in order
  using Words = std::vector<std::int64_t>;
  using Strings = std::vector<std::string>;
  using Field = std::variant<std::int64_t, Words, Functions, Strings>;  // the last three: a pointer to them
  /// `name(...)` calls the driver's `function(model, [argument,] ...)`.
  struct Entry {
    std::string name, function;
    std::optional<std::int64_t> argument;
  };
  std::vector<Field> model;    // the members of embedded::Model, in order
  std::vector<Entry> entries;  // all that the object exports
};

/// Why no code can be made for the machine that the options name, and what can be named instead; null when it can.
struct Refusal {
  std::string text, note;
};
std::optional<Refusal> refusal(const Options& options);

/// Null, or why no code can be made for that of LEHR_CPU (processor.h): LLVM does not know it, or it has instructions
/// that this machine lacks.
std::optional<Refusal> refusal_of_processor();

/// Of what code for this machine depends on besides the program: this compiler, and the processor; empty where that
/// cannot be told from others.
std::string fingerprint();

/// LLVM's text of the program, after optimisation unless `level` is 0.
std::string llvm_text(const loops::Program& program, const Options& options = {});

/// Assembly of the target.
std::string assembly(const loops::Program& program, const Options& options = {});

/// The bytes of a relocatable, position independent object file with the driver and its tables: all that another
/// program needs beside libm.
std::string emit_embeddable(const loops::Program& program, const Image& image, const Options& options = {});

/// A program compiled into this process; its code lives as long as this object. Any number of threads may
/// call it.
class Jit {
 public:
  explicit Jit(const loops::Program& program, const Options& options = {});
  ~Jit();
  Jit(Jit&&) noexcept;
  Jit& operator=(Jit&&) noexcept;

  /// By the name in the program (without prefix); nullptr when there is none.
  lehr_function function(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lehr::native
