// Every example model: stochastic steps whose items are inferred from scratch at each visit. A step of size 1 from all
// items must equal a sweep, and keeping only the factors of the minibatch in memory must not change a bit.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/instance/instance.h"
#include "runtime/inference/batches.h"
#include "runtime/inference/svi.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

constexpr std::int64_t kBatch = 7;

SviOptions options(std::int64_t batch, double rho, double epochs) {
  SviOptions out;
  out.batch = batch;
  out.rho = rho;
  out.epochs = epochs;
  out.fresh = true;
  return out;
}

struct Ended {
  Parameters globals;
  Outcome outcome;
};

/// The same model twice: with the factors of all items in memory, and with only those of a minibatch.
struct Both {
  std::unique_ptr<test::Prepared> model;
  Instance whole, window;

  Both(const std::filesystem::path& path, const loops::PassOptions& passes)
      : model(test::prepare(path)), whole(make(0, passes)), window(make(kBatch, passes)) {}

 private:
  Instance make(std::int64_t items, const loops::PassOptions& passes) const {
    return Instance(model->front, model->data, {.batches = true}, Backend::native, items, passes);
  }
};

Ended stochastic(Instance& instance, const SviOptions& o, StartKind kind) {
  REQUIRE(instance.start(5, 0, kind));
  const Outcome outcome = run_svi(instance.engine(), o, [](const SweepReport&) { return true; });
  INFO(outcome.failure);
  REQUIRE(outcome.status == Status::max_iter);
  return {instance.engine().global_parameters(), outcome};
}

Parameters sweep_once(Instance& instance, StartKind kind) {
  REQUIRE(instance.start(5, 0, kind));
  CaviOptions o;
  o.max_iterations = 1;
  run_cavi(instance.engine(), o, [](const SweepReport&) { return true; });
  return instance.engine().global_parameters();
}

}  // namespace

TEST_CASE("every model: a step of size 1 from all items is a sweep; a window of factors changes no bit") {
  // A window with fewer items than a vector has lanes adds them up one by one, in a different order.
  const bool in_lanes = GENERATE(false, true);
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string() << (in_lanes ? "" : ", none in lanes")) {
      Both both(path, in_lanes ? loops::PassOptions() : test::without({"vectorise-short-items"}));
      // Expectations of links are not fitted by minibatches.
      const auto is_expectation = [](const StepRow& step) { return step.tangent_points == machine::kExpectations; };
      if (std::ranges::any_of(both.whole.engine().steps(), is_expectation)) continue;
      for (StartKind kind : {StartKind::seeds, StartKind::allocations, StartKind::points, StartKind::flat}) {
        INFO("start " << static_cast<int>(kind));
        const Parameters sweep = sweep_once(both.whole, kind);
        const SviOptions all = options(1'000'000, 1, 1);
        CHECK(test::difference(stochastic(both.whole, all, kind).globals, sweep) <= 1e-12);
        CHECK(test::difference(stochastic(both.window, all, kind).globals, sweep) <= 1e-12);
        for (bool replacement : {false, true}) {
          INFO((replacement ? "with replacement" : "by passes"));
          SviOptions some = options(kBatch, 0, 3);
          some.replacement = replacement;
          const Ended whole = stochastic(both.whole, some, kind), window = stochastic(both.window, some, kind);
          // Points that local bounds hold follow sums over all items in the end, as the ELBO does.
          const auto is_held = [](const StepRow& step) { return !step.stage && step.moves_gradually != 0; };
          const bool held = in_lanes && std::ranges::any_of(both.whole.engine().steps(), is_held);
          CHECK(test::difference(window.globals, whole.globals) <= (held ? 1e-12 : 0));
          CHECK(window.outcome.elbo == Approx(whole.outcome.elbo).epsilon(in_lanes ? 1e-12 : 1e-13));
        }
      }
    }
  }
}

TEST_CASE("a pass over items visits each of them once, in another order than the pass before") {
  for (const std::int64_t items : {1, 2, 17, 1000, 32769, 100'000}) {
    Batches batches(items, 300, false, 3);
    std::vector<std::vector<std::int64_t>> passes(2);
    for (std::vector<std::int64_t>& pass : passes) {
      while (std::ssize(pass) < items) {
        const std::vector<std::int64_t>& batch = batches.next();
        pass.insert(pass.end(), batch.begin(), batch.end());
      }
    }
    if (items > 300) CHECK(passes[0] != passes[1]);  // fewer items make a single batch, which is always the same
    for (std::vector<std::int64_t>& pass : passes) {
      std::ranges::sort(pass);
      std::vector<std::int64_t> all(pass.size());
      std::iota(all.begin(), all.end(), 0);
      CHECK(pass == all);
    }
  }
}
