// Random programs before and after the passes, in the interpreter: each pass alone, the passes in their order with some
// left out, and all of them in random orders. A pass may be run after any other: each tests what it needs.
//
// Usage: test_passes_random [COUNT [SEED]]: programs SEED, SEED + 1, ...
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/analysis/execute.h"
#include "compiler/analysis/verify.h"
#include "compiler/analysis/verify_regions.h"
#include "compiler/loops/parse_loops.h"
#include "compiler/loops/print_loops.h"
#include "compiler/passes/passes.h"
#include "tests/passes/random_programs.h"

using namespace lehr;

namespace {

/// Sums in another order differ by rounding; where 32 bits are allowed, by that of floats.
constexpr double kRounding = 1e-11, kRounding32 = 2e-3;

/// Of so many programs each pass must change one, or the test says nothing about it.
constexpr std::uint64_t kMany = 400;
/// The pass that changes none, as it needs second moments of chains in lanes: models and texts test it.
constexpr const char* kOfMoments = "jam-steps";

/// Returns the arrays in the layout of `after`, which may pad rows. An array of which it made something else
/// (contract-arrays) has zeros.
loops::Arrays laid_out(const test::RandomProgram& random, const loops::Program& after) {
  loops::Arrays out(after.buffers.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const loops::BufferId b(k);
    if (after.buffers[k].role == loops::Role::scratch) continue;
    out[k].resize(loops::elements_of(after, b, random.sizes));
    if (k >= random.arrays.size()) continue;
    const std::vector<double> values = loops::values_of(random.program, b, random.arrays[k]);
    if (values.size() == loops::values_in(after, b, random.sizes))
      out[k] = loops::memory_of(after, b, random.sizes, values);
  }
  return out;
}

/// Gives scratch that is no array of a function its memory.
void add_scratch(const loops::Program& p, const std::vector<std::int64_t>& sizes, loops::Arrays& arrays) {
  std::vector<bool> local(p.buffers.size(), false);
  for (const loops::Function& f : p.functions)
    for (const loops::BufferId b : f.local_arrays)
      local[b.index()] = true;
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    if (arrays[k].empty() && !local[k])
      arrays[k].assign(loops::elements_of(p, loops::BufferId(k), sizes), std::nan(""));
}

/// Makes the arrays equal that this call does not ask for (loops::Demand): a pass may leave them as they were.
void ignore_what_is_not_asked(const loops::Program& p, const loops::Arrays& from, loops::Arrays& to) {
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const loops::NumberAddress flag = p.demand_flags[static_cast<std::size_t>(p.buffers[k].demand)];
    if (!flag.buffer.valid() || from[flag.buffer.index()][static_cast<std::size_t>(flag.at)] > 0) continue;
    if (from[k].size() == to[k].size()) to[k] = from[k];
  }
}

/// Returns what is wrong with a program that passes made.
std::vector<std::string> problems(const test::RandomProgram& random, const loops::Program& after) {
  for (const auto& found : {loops::verify(after), loops::verify_regions(after)})
    if (!found.empty()) return found;
  const std::string text = loops::print(after);
  Result<loops::Program> parsed = loops::parse({"program.loops", text});
  if (!parsed || loops::print(*parsed) != text) return {"the text does not parse to the same program"};
  const std::vector<std::vector<std::int64_t>> ranges{{0, random.items}, {random.items / 3, random.items / 2}, {}};
  for (const std::vector<std::int64_t>& range : ranges) {
    const loops::Call call{range.empty() ? 1UL : 0UL, random.sizes, range, {}};
    loops::Arrays a = laid_out(random, random.program), b = laid_out(random, after);
    add_scratch(random.program, random.sizes, a);
    add_scratch(after, random.sizes, b);
    if (loops::execute(random.program, call, a) != loops::execute(after, call, b)) return {"the status differs"};
    ignore_what_is_not_asked(random.program, a, b);
    std::vector<std::string> found =
        loops::differences(random.program, a, after, b, random.f32 ? kRounding32 : kRounding);
    if (!found.empty()) return found;
  }
  return {};
}

/// Runs passes and reports the first problem. Returns true if there is none; adds the names of the passes that changed
/// something.
bool check(std::uint64_t seed, const test::RandomProgram& random, const std::vector<loops::Pass>& passes,
           std::set<std::string>& changed) {
  std::vector<std::string> names, found;
  for (const loops::Pass& pass : passes)
    names.emplace_back(pass.name);
  try {
    loops::PassOptions options{.passes = passes};
    options.on_pass = [&](const loops::PassReport& r) {
      if (!changed.contains(std::string(r.pass.name)) && loops::print(r.before) != loops::print(r.after))
        changed.emplace(r.pass.name);
    };
    found = problems(random, loops::optimise(random.program, options));
  } catch (const std::exception& e) {
    found = {e.what()};
  }
  if (!found.empty()) fmt::print("program {}, passes {}: {}\n", seed, fmt::join(names, ","), fmt::join(found, "; "));
  return found.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::span<const loops::Pass> all = loops::passes();
  std::map<std::string, std::size_t> programs;  // that a pass changed, alone or after others
  std::size_t wrong = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const test::RandomProgram random = test::random_program(seed);
    std::mt19937_64 choose(seed);
    std::set<std::string> changed;
    if (!check(seed, random, {}, changed)) {
      fmt::print("{}", loops::print(random.program));
      return 1;
    }
    for (const loops::Pass& pass : all)
      wrong += !check(seed, random, {pass}, changed);
    std::vector<loops::Pass> some;
    std::ranges::copy_if(all, std::back_inserter(some), [&](const auto&) { return choose() % 4 > 0; });
    wrong += !check(seed, random, some, changed);
    std::vector<loops::Pass> mixed(all.begin(), all.end());
    for (int order = 0; order < 2; ++order) {
      std::ranges::shuffle(mixed, choose);
      wrong += !check(seed, random, mixed, changed);
    }
    for (const std::string& name : changed)
      ++programs[name];
  }
  for (const loops::Pass& pass : all) {
    const std::size_t n = programs[std::string(pass.name)];
    fmt::print("{:24} changed {:6} of {} programs\n", pass.name, n, count);
    wrong += (n == 0) != (pass.name == kOfMoments) && count >= kMany;
  }
  fmt::print("{} programs from {}, {} wrong\n", count, first, wrong);
  return wrong > 0;
}
