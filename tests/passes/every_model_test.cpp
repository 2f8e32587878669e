// Every example model computes the same with and without each pass. In single precision the ELBO must be monotone to
// 1e-6 and near that of double precision. Parallel regions must access only what is theirs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "compiler/analysis/verify.h"
#include "compiler/instance/instance.h"
#include "compiler/loops/print_loops.h"
#include "compiler/passes/passes.h"
#include "runtime/inference/cavi.h"
#include "tests/passes/run.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

/// Numbers by buffer id; the ELBO has the id -1.
using Values = std::map<std::int64_t, std::vector<double>>;
struct Swept {
  Values values, derived;  // derived: expectations, which follow from the values
};

/// The loops of a model before and after all passes, and the passes that change them on the way.
struct Passed {
  std::shared_ptr<const loops::Program> before;
  std::string after;
  std::set<std::string> effective;
};

Passed passed(const test::Prepared& p) {
  Passed out;
  loops::PassOptions options = test::without({});
  options.on_pass = [&](const loops::PassReport& r) {
    if (out.after.empty()) out.after = loops::print(r.before);
    std::string after = loops::print(r.after);
    if (after != out.after) out.effective.emplace(r.pass.name);
    out.after = std::move(after);
  };
  out.before = generate(p.front, p.data, {.save_locals = true}, options).unoptimised;
  return out;
}

Swept swept(const test::Prepared& p, const char* without) {
  Instance instance(p.front, p.data, {.save_locals = true}, Backend::native, 0, test::without({without}));
  REQUIRE(instance.start(3, 0));
  CaviOptions o;
  o.max_iterations = 4;
  o.annealing.from = 2;
  o.annealing.over = 2;
  const Outcome out = run_cavi(instance.engine(), o, [](const SweepReport&) { return true; });
  const Engine& e = instance.engine();
  Swept all{{{-1, {out.elbo}}}, {}};
  const std::vector<std::vector<double>> saved = e.save();
  const std::vector<std::int64_t> buffers = e.state_buffers();
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const bool parameter = std::ranges::any_of(machine::parameters_of(e.model()),
                                               [&](const auto& row) { return row.buffer == buffers[k]; });
    const bool factor = e.model().buffers[buffers[k]].role == machine::Role::factor;
    (factor && !parameter ? all.derived : all.values)[buffers[k]] = saved[k];
  }
  return all;
}

/// Returns the largest relative difference of the numbers, and of the expectations that both programs store.
double difference(const Swept& a, const Swept& b) {
  std::vector<std::vector<double>> left, right;
  for (const auto& [buffer, values] : a.values) {
    REQUIRE(b.values.contains(buffer));
    left.push_back(values);
    right.push_back(b.values.at(buffer));
  }
  REQUIRE(a.values.size() == b.values.size());
  for (const auto& [buffer, values] : a.derived) {
    if (!b.derived.contains(buffer)) continue;
    left.push_back(values);
    right.push_back(b.derived.at(buffer));
  }
  return test::difference(left, right);
}

struct Run {
  std::vector<double> elbos;
  std::vector<std::vector<double>> values;
};

/// Performs n sweeps from the same start, or from the present state.
Run sweeps(Instance& instance, std::int64_t n, bool from_start = true) {
  if (from_start) REQUIRE(instance.start(3, 0));
  CaviOptions o;
  o.max_iterations = n;
  o.tolerance = 0;
  o.leap_after = 0;
  o.local_iterations = 5;
  Run out;
  const auto note = [&](const SweepReport& r) {
    out.elbos.push_back(r.elbo);
    return true;
  };
  REQUIRE(run_cavi(instance.engine(), o, note).status != Status::numerical_failure);
  out.values = instance.engine().save();
  return out;
}

}  // namespace

TEST_CASE("every model: in 32 bits the ELBO is monotone to 1e-6, and that of 64 bits") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      Instance single(p->front, p->data, {.save_locals = true, .single = true}, Backend::native);
      Instance interpreted(p->front, p->data, {.save_locals = true, .single = true}, Backend::interpreter);
      Instance wide(p->front, p->data, {.save_locals = true}, Backend::native);
      const Run few = sweeps(single, 3), slow = sweeps(interpreted, 2), exact = sweeps(wide, 3);
      for (std::size_t k = 0; k < few.elbos.size(); ++k)
        CHECK(few.elbos[k] == Approx(exact.elbos[k]).epsilon(1e-5));
      for (std::size_t k = 0; k < slow.elbos.size(); ++k)
        CHECK(few.elbos[k] == Approx(slow.elbos[k]).epsilon(1e-5));
      CHECK(test::difference(few.values, exact.values) < 1e-3);
      for (const std::size_t threads : {2U, 3U}) {
        single.engine().work_with(threads);
        CHECK(sweeps(single, 3).values == few.values);
      }
      const Run more = sweeps(single, 25, false);
      for (std::size_t k = 1; k < more.elbos.size(); ++k)
        CHECK(more.elbos[k] >= more.elbos[k - 1] - 1e-6 * (1 + std::abs(more.elbos[k])));
    }
  }
}

TEST_CASE("every model: parallel regions touch what is theirs, of fits, of tempered ones and of samplers") {
  const auto check = [](const Analysed& a, const BoundData& data,
                        const loops::LowerOptions& options = {.save_locals = true, .batches = true}) {
    const loops::Lowered l = generate(a, data, options);
    const std::vector<std::string> problems = loops::verify(l.program);
    for (const std::string& problem : problems)
      UNSCOPED_INFO(problem);
    CHECK(problems.empty());
  };
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      check(p->front, p->data);
      check(p->front, p->data, {.new_items = true});
      check(p->front, p->data, {.save_locals = true, .single = true});
      if (const Result<Analysed> tempered = with_item_temperatures(p->front)) check(*tempered, p->data);
      if (const Result<Analysed> drawn = with_sample_factors(p->front)) check(*drawn, p->data);
    }
  }
}

TEST_CASE("every model: the text of loops parses back, and the passes do the same with it") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      const Result<Analysed> drawn = with_sample_factors(p->front);
      for (const Analysed* a : {&std::as_const(p->front), drawn ? &*drawn : nullptr}) {
        if (!a) continue;
        const loops::Lowered l = generate(*a, p->data, {.save_locals = true, .new_items = true});
        test::check_round_trip(l.program);
        const loops::Program parsed = test::check_round_trip(*l.unoptimised);
        CHECK(loops::print(loops::optimise(parsed, {.verify_each = true})) == loops::print(l.program));
      }
    }
  }
}

TEST_CASE("every model: samplers use no random number twice") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      const Result<Analysed> drawn = with_sample_factors(p->front);
      if (!drawn) continue;
      const loops::Lowered l = generate(*drawn, p->data, {.save_locals = true});
      // What a random number is a function of, and what it is used for: equal expressions have one id.
      std::map<std::tuple<std::int64_t, loops::ExprId, loops::ExprId>, std::set<std::size_t>> uses;
      const loops::Program& program = *l.unoptimised;
      for (std::size_t e = 0; e < program.exprs.size(); ++e) {
        if (const auto* random = std::get_if<loops::Random>(&program[loops::ExprId(e)].node))
          uses[{random->site, random->element, random->component}].insert(e);
      }
      for (const auto& [number, expressions] : uses)
        CHECK(expressions.size() == 1);
    }
  }
}

TEST_CASE("every model: no pass changes what is computed") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      const auto all = swept(*p, "");
      const Passed usual = passed(*p);
      for (const std::string& name : usual.effective) {
        INFO(name);
        if (loops::print(loops::optimise(*usual.before, test::without({name}))) == usual.after)
          continue;  // another pass does the same
        CHECK(difference(all, swept(*p, name.c_str())) < 1e-9);
      }
    }
  }
}
