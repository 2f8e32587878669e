// Accesses of the iterations of a loop: how they depend on the iteration, and which arrays iterations may not share.
#include "compiler/analysis/accesses.h"

#include <catch2/catch.hpp>

#include "compiler/loops/facts.h"
#include "compiler/loops/parse_loops.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// Returns a program with a function of a range whose loop over n has the statements, by line.
Program with_body(const std::vector<std::string>& lines) {
  std::string text = R"(sizes
  N = slot 0
  K = 3
buffers
  x[N] : f64 data
  w[N] : i64 data
  a[N, K] : f64 expectation
  s[K] : f64 statistic
  t[K] : f64 scratch
function f(begin: i64, end: i64)
  for n in begin .. end
)";
  for (const std::string& line : lines)
    text += "    " + line + "\n";
  const Result<Program> parsed = parse({"program.loops", text});
  if (!parsed) FAIL(text << render(parsed.error()));
  return *parsed;
}

BufferId array(const Program& p, const std::string& name) {
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    if (p.buffers[k].name == name) return BufferId(k);
  return {};
}

/// Returns the races of the calls of the function with parts of the range, as name and reason.
std::vector<std::pair<std::string, Race>> races(const std::vector<std::string>& lines) {
  const Program p = with_body(lines);
  const Function& f = p.functions[0];
  const Varying range = formed_from(p, f.body, {f.parameters[0], f.parameters[1]});
  const Accesses accesses(p, f.body, range, {});
  std::vector<std::pair<std::string, Race>> out;
  for (const auto& [b, race] : races_of(p, accesses, [&](BufferId x) { return !is_scratch(p[x]); }))
    out.emplace_back(p[b].name, race);
  return out;
}

using Races = std::vector<std::pair<std::string, Race>>;

}  // namespace

TEST_CASE("indices depend on the iteration as the index of the loop, through data, otherwise, or not at all") {
  const Program p = with_body({"let m = n + 1", "a[n, 0] = x[n]", "s[w[n]] += x[m]", "t[0] = a[n, 1]"});
  const auto& loop = std::get<For>(p.functions[0].body[0].node);
  const Accesses accesses(p, loop.body, varying_in(p, loop), loop.index);
  const auto of = [&](const std::string& name) { return accesses.all().at(array(p, name)); };
  using enum Dependence;
  REQUIRE(of("a").size() == 2);
  for (const IterationAccess& x : of("a"))
    CHECK(x.axes == std::vector{index, none});
  CHECK(of("s").at(0).axes == std::vector{data});
  CHECK(of("t").at(0).axes == std::vector{none});
  CHECK(std::ranges::count_if(of("x"), [](const IterationAccess& x) { return x.axes == std::vector{other}; }) == 1);
  CHECK(accesses.is_own(array(p, "a"), 0));
  CHECK_FALSE(accesses.is_own(array(p, "a"), 1));
  CHECK_FALSE(accesses.is_own(array(p, "x"), 0));
  CHECK(accesses.varies(array(p, "s")));
  CHECK_FALSE(accesses.varies(array(p, "t")));
}

TEST_CASE("iterations race for what is neither theirs nor a sum") {
  CHECK(races({"a[n, 0] = x[n]", "s[1] += a[n, 0]", "t[0] = x[n]", "s[2] += t[0]"}).empty());
  CHECK(races({"a[w[n], 0] = x[n]", "s[1] += a[w[n], 0]"}).empty());
  CHECK(races({"a[0, 0] = x[n]"}) == Races{{"a", Race::stored_elsewhere}});
  CHECK(races({"fill s[] = 0.0"}) == Races{{"s", Race::filled}});
  CHECK(races({"s[1] += x[n]", "a[n, 0] = s[1]"}) == Races{{"s", Race::sum_loaded}});
  CHECK(races({"a[n, 0] = x[n]", "s[1] += a[0, 0]"}) == Races{{"a", Race::loaded_elsewhere}});
  // A value of the iteration by way of a scalar and of scratch.
  CHECK(races({"let m = w[n]", "a[m, 0] = x[n]"}).empty());
}

TEST_CASE("what is computed from a scalar is found by data flow, not by control flow") {
  const Program p = with_body({"var k = 0", "if x[n] < 0.0", "  k = 1", "a[k, 0] = 1.0"});
  const Function& f = p.functions[0];
  const auto& loop = std::get<For>(f.body[0].node);
  const ScalarId k = std::get<Local>(loop.body[0].node).scalar;
  CHECK(varying_in(p, loop).scalars.contains(k));
  const Varying range = formed_from(p, f.body, {f.parameters[0], f.parameters[1]});
  CHECK_FALSE(range.scalars.contains(k));
  CHECK(range.scalars.contains(loop.index));
}
