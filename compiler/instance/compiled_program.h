// A lowered program with its executable functions, which instances for many data sets can share.
#pragma once
#include <memory>
#include <vector>

#include "compiler/instance/functions.h"
#include "compiler/instance/memo.h"
#include "compiler/lower/lower.h"
#include "compiler/machine/tables.h"

namespace lehr {

/// A lowered program with its executable functions, which instances share. It can serve all data whose constant sizes
/// are those of the program; other sizes are read at run time.
class CompiledProgram {
 public:
  /// Compiles the functions of a lowered program, prepares to interpret them, or takes compiled ones over, as `code`
  /// says.
  CompiledProgram(loops::Lowered lowered, const CodeSource& code)
      : lowered_(std::move(lowered)), functions_(lowered_.program, code) {}
  /// Not copyable: the functions refer to the program.
  CompiledProgram(const CompiledProgram&) = delete;
  /// Not assignable: the functions refer to the program.
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  /// Returns the lowered program, and its interface: which buffer or function is for what.
  const loops::Lowered& lowered() const { return lowered_; }
  /// Returns the functions of the program in executable form.
  const Functions& functions() const { return functions_; }

  /// Returns the tables that describe the program to the machine (runtime/machine), for these run-time sizes
  /// (sizes_for). They are made once for each list of sizes. Model and schedule are those from which the program was
  /// lowered.
  std::shared_ptr<const Tables> tables(const model::Model& m, const schedule::Schedule& s,
                                       const std::vector<std::int64_t>& sizes) const {
    return tables_.find_or_make(sizes, [&] { return tables_of(m, s, lowered_, sizes); });
  }

 private:
  loops::Lowered lowered_;                          // the program and its interface
  Functions functions_;                             // its executable functions, which refer to `lowered_`
  Memo<std::vector<std::int64_t>, Tables> tables_;  // the tables for the machine, by run-time sizes
};

}  // namespace lehr
