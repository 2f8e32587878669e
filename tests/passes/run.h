// Runs a program before and after a pass in the interpreter, and compares the buffers that outlive the call bit by bit.
// Parallel regions run iteration by iteration in reverse order, with scratch full of NaN, so that a hidden dependence
// between iterations shows.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "compiler/loops/facts.h"
#include "compiler/loops/interpret.h"
#include "compiler/loops/print_loops.h"
#include "compiler/loops/verify.h"
#include "compiler/passes/effects.h"

namespace lehr::test {

/// The content of each buffer, by buffer id. Integers are stored by their bits; arrays local to a function are empty.
using Buffers = std::vector<std::vector<double>>;  // by buffer; integers by their bits; empty: an array of a function

/// The result of running a program.
struct Ran {
  std::int32_t status = 0;  // 0, or the code of the check that failed
  Buffers buffers;          // content of all buffers at the end
};

/// Returns the value of a size: a constant, or an element of `sizes`.
inline std::int64_t extent_of(const loops::Size& s, const std::vector<std::int64_t>& sizes) {
  return s.constant >= 0 ? s.constant : sizes[static_cast<std::size_t>(s.slot)];
}

/// Runs the parallel regions ("phases") of the first function, one iteration at a time from the last to the first.
/// Scratch is filled with NaN before each iteration, sums with 0 once. Returns the first status that is not 0.
inline std::int32_t run_regions(const loops::Program& p, Buffers& buffers, std::vector<lehr_buffer>& table,
                                const std::vector<std::int64_t>& sizes) {
  for (const loops::ParallelRegion& phase : p.functions[0].regions) {
    const auto* extent = std::get_if<loops::Extent>(&p[phase.trip_count].node);
    std::int64_t turn =
        extent ? extent_of(p[extent->size], sizes) : std::get<loops::ConstI>(p[phase.trip_count].node).value;
    const auto own = [&](loops::BufferId b, double value) {
      std::size_t n = 1;
      for (const loops::SizeId s : p[b].axes)
        n *= static_cast<std::size_t>(extent_of(p[s], sizes));
      buffers[b.index()].assign(n, value);
      table[b.index()] = buffers[b.index()].data();
    };
    if (phase.sums.valid()) own(phase.sums, 0);
    while (turn-- > 0) {
      for (const loops::BufferId b : loops::scratch_of(p, phase))
        own(b, NAN);
      const std::int64_t range[] = {turn, turn + 1};
      if (const std::int32_t status = loops::interpret(p, phase.function, table.data(), sizes.data(), range, nullptr))
        return status;
    }
  }
  return 0;
}

/// Runs the first function of a program, after its parallel regions. The test fails if the program is malformed.
inline Ran run(const loops::Program& p, Buffers buffers, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int64_t>& integers = {}, const std::vector<double>& reals = {}) {
  const std::vector<std::string> problems = loops::verify(p);
  for (const std::string& problem : problems)
    UNSCOPED_INFO(problem);
  REQUIRE(problems.empty());
  buffers.resize(p.buffers.size());
  std::vector<lehr_buffer> table;
  for (std::vector<double>& b : buffers)
    table.push_back(b.data());
  Ran out;
  out.status = run_regions(p, buffers, table, sizes);
  if (out.status == 0) out.status = loops::interpret(p, 0, table.data(), sizes.data(), integers.data(), reals.data());
  out.buffers = std::move(buffers);
  return out;
}

/// Returns true if both arrays have the same bits, so that NaNs can be equal.
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), 8 * a.size()) == 0);
}

/// Returns true if some function of the program reads or writes the buffer.
inline bool is_mentioned(const loops::Program& p, loops::BufferId b) {
  for (const loops::Function& f : p.functions)
    for (const loops::Stmt& s : f.body) {
      const loops::Effects effects = loops::effects_of(p, s);
      if (effects.loads.contains(b) || effects.stores.contains(b)) return true;
    }
  return false;
}

/// Fails the test unless both programs end with the same status and the same buffers. Scratch is not compared, nor
/// expectations that `after` no longer uses; after a failed check only the status is.
inline void check_same(const loops::Program& before, const loops::Program& after, const Buffers& buffers,
                       const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& integers = {},
                       const std::vector<double>& reals = {}) {
  INFO(loops::print(before) << "\n" << loops::print(after));
  const Ran a = run(before, buffers, sizes, integers, reals), b = run(after, buffers, sizes, integers, reals);
  REQUIRE(a.status == b.status);
  for (std::size_t k = 0; k < before.buffers.size() && a.status == 0; ++k) {
    INFO(before.buffers[k].name);
    if (before.buffers[k].role == loops::Role::expectation && !is_mentioned(after, loops::BufferId(k))) continue;
    if (before.buffers[k].role != loops::Role::scratch && !same_bits(a.buffers[k], b.buffers[k]))
      REQUIRE(a.buffers[k] == b.buffers[k]);
  }
}

}  // namespace lehr::test
