// Runs a program before and after a pass in the interpreter (compiler/analysis/execute.h), and compares the buffers
// that outlive the call bit by bit. Texts of programs must parse to the same programs.
#pragma once
#include <catch2/catch.hpp>
#include <vector>

#include "compiler/analysis/execute.h"
#include "compiler/analysis/verify.h"
#include "compiler/loops/parse_loops.h"
#include "compiler/loops/print_loops.h"

namespace lehr::test {

/// The content of each buffer, by buffer id. Integers are stored by their bits; arrays local to a function are empty.
using Buffers = loops::Arrays;

/// The result of running a program.
struct Ran {
  std::int32_t status = 0;  // 0, or the code of the check that failed
  Buffers buffers;          // content of all buffers at the end
};

/// Runs the first function of a program, after its parallel regions. The test fails if the program is malformed.
inline Ran run(const loops::Program& p, Buffers buffers, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int64_t>& integers = {}, const std::vector<double>& reals = {}) {
  const std::vector<std::string> problems = loops::verify_functions(p);
  for (const std::string& problem : problems)
    UNSCOPED_INFO(problem);
  REQUIRE(problems.empty());
  const std::int32_t status = loops::execute(p, {0, sizes, integers, reals}, buffers);
  return {status, std::move(buffers)};
}

/// Fails the test unless the text of a program parses back to the same program.
inline loops::Program check_round_trip(const loops::Program& p) {
  const std::string text = loops::print(p);
  Result<loops::Program> parsed = loops::parse({"program.loops", text});
  if (!parsed) FAIL(text << render(parsed.error()));
  REQUIRE(loops::verify_functions(*parsed).empty());
  REQUIRE(loops::print(*parsed) == text);
  return *parsed;
}

/// Fails the test unless both programs end with the same status and the same buffers (loops::differences). After a
/// failed check only the status is compared.
inline void check_same(const loops::Program& before, const loops::Program& after, const Buffers& buffers,
                       const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& integers = {},
                       const std::vector<double>& reals = {}) {
  const Ran a = run(before, buffers, sizes, integers, reals), b = run(after, buffers, sizes, integers, reals);
  std::vector<std::string> problems;
  if (a.status != b.status) problems.push_back("the status differs");
  else if (a.status == 0) problems = loops::differences(before, a.buffers, after, b.buffers, 0);
  SUCCEED();
  if (problems.empty()) return;
  for (const std::string& problem : problems)
    UNSCOPED_INFO(problem);
  FAIL(loops::print(before) << "\n" << loops::print(after));
}

}  // namespace lehr::test
