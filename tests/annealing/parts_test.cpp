// Incremental batches: coordinate ascent that updates the global variables after each part of the items (Neal & Hinton
// 1998). The ELBO must rise to the fixed points of ordinary sweeps.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/instance/instance.h"
#include "runtime/inference/cavi.h"
#include "tests/files.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

constexpr std::int64_t kParts = 3;

/// An example model whose items are divided into `kParts` parts, if they can be.
struct Divided {
  std::unique_ptr<test::Prepared> prepared;
  std::unique_ptr<Instance> instance;

  explicit Divided(const std::filesystem::path& path) : prepared(test::prepare(path)) {
    instance = std::make_unique<Instance>(prepared->front, prepared->data, loops::LowerOptions{.save_locals = true},
                                          Backend::native);
    instance->engine().divide(kParts);
  }
  const Engine& engine() const { return instance->engine(); }
  bool can() const { return engine().parts().count() > 1; }
  double elbo() const {
    Elbo out;
    REQUIRE(engine().elbo(out) == 0);
    return out.value;
  }
  double pass(bool parts) const {
    REQUIRE(sweep(engine(), {}, {.parts = parts}) == 0);
    return elbo();
  }
  void start(std::uint64_t seed) const {
    REQUIRE(instance->start(seed, 0));
    REQUIRE(prepare_statistics(engine()) == 0);
  }
};

/// One incremental pass computed independently: the sums of each part come from a batch of its items, are added
/// up here, and the blocks one by one.
void pass_by_hand(const Engine& e, std::vector<std::vector<std::vector<double>>>& sums) {
  const StepRow& stage = *machine::batch_stage(e.model());
  const auto buffers = machine::statistics_of(e.model(), stage);
  const std::int64_t items = e.items();
  const bool first = sums.empty();
  sums.resize(kParts);
  const auto visit = [&](std::size_t part) {
    const auto k = static_cast<std::int64_t>(part);
    const ItemRange range{items * k / kParts, items * (k + 1) / kParts};
    REQUIRE(machine::sweep(e.machine(), {.scope = machine::SweepScope::stages, .batch = {&range, 1}}) == 0);
    sums[part].clear();
    for (const std::int64_t b : buffers)
      sums[part].emplace_back(e.reals(b).begin(), e.reals(b).end());
  };
  const auto put_totals = [&] {
    for (std::size_t s = 0; s < buffers.size(); ++s) {
      for (std::size_t i = 0; i < e.reals(buffers[s]).size(); ++i) {
        double total = 0;
        for (const auto& part : sums)
          total += part[s][i];
        e.reals(buffers[s])[i] = total;
      }
    }
  };
  for (std::size_t part = 0; part < kParts; ++part) {
    visit(part);
    if (first && part + 1 < kParts) continue;
    put_totals();
    REQUIRE(machine::update_globals(e.machine()) == 0);
  }
}

}  // namespace

TEST_CASE("every model: passes in parts raise the ELBO, to the fixed points of sweeps") {
  int divided = 0;
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const Divided d(path);
      if (!d.can()) continue;
      ++divided;
      d.start(4);
      double before = d.pass(true);
      for (int k = 0; k < 12; ++k) {
        const double now = d.pass(true);
        CHECK(now >= before - 1e-9 * (1 + std::abs(before)));
        before = now;
      }
      CaviOptions o;
      o.max_iterations = 3000;
      o.tolerance = 1e-12;
      // Plain sweeps: extrapolation takes the points of unused topics where the ELBO has few digits.
      o.leap_after = 0;
      const Outcome settled = run_cavi(d.engine(), o, [](const SweepReport&) { return true; });
      if (settled.status != Status::converged) continue;
      const Parameters at = d.engine().global_parameters();
      d.pass(true);
      const double after = d.pass(true);
      CHECK(std::abs(after - settled.elbo) <= 1e-9 * (1 + std::abs(after)));
      CHECK(test::difference(d.engine().global_parameters(), at) < 2e-4);
    }
  }
}

TEST_CASE("a pass in parts is what it is by hand") {
  // Only models that visit the items once in a sweep can be compared with the pass by hand.
  const std::string name = GENERATE("gmm", "gmm_normal_wishart", "lda", "ppca_ard", "mixture_of_hmms");
  INFO(name);
  const Divided d(test::model_file(name));
  REQUIRE(d.can());
  d.start(7);
  for (int k = 0; k < 4; ++k)
    d.pass(true);
  const double elbo = d.elbo();
  const auto passed = d.engine().global_parameters();
  d.start(7);
  std::vector<std::vector<std::vector<double>>> sums;
  for (int k = 0; k < 4; ++k)
    pass_by_hand(d.engine(), sums);
  CHECK(d.elbo() == Approx(elbo).epsilon(1e-11));
  CHECK(test::difference(passed, d.engine().global_parameters()) < 1e-9);
}

TEST_CASE("sums of parts are forgotten with the factors that they were made of") {
  const Divided d("models/mixtures/gmm_normal_wishart.lehr");
  d.start(1);
  for (int k = 0; k < 3; ++k)
    d.pass(false);
  const auto state = d.engine().save();
  d.pass(false);
  const Parameters swept = d.engine().global_parameters();
  d.start(2);
  for (int k = 0; k < 3; ++k)
    d.pass(true);
  const std::string what = GENERATE("loaded", "swept");
  d.engine().load(state);
  if (what == "swept") {
    d.pass(true);
    d.engine().load(state);
    d.pass(false);
    d.engine().load(state);
  }
  d.pass(true);
  CHECK(test::difference(d.engine().global_parameters(), swept) < 1e-12);
  // The statistics are replaced from outside, so that the sums of the parts no longer belong to them.
  d.start(3);
  for (int k = 0; k < 3; ++k)
    d.pass(true);
  const StepRow& stage = *machine::batch_stage(d.engine().model());
  REQUIRE(machine::infer_items(d.engine().machine(), machine::SweepScope::stages) == 0);
  const auto here = d.engine().save();
  d.pass(true);
  const Parameters noticed = d.engine().global_parameters();
  d.engine().load(here);
  d.pass(false);
  CHECK(test::difference(noticed, d.engine().global_parameters()) < 1e-12);
  CHECK(stage.outside > 0);
}

TEST_CASE("other parameters can be looked at between passes") {
  const Divided d("models/mixtures/gmm_normal_wishart.lehr");
  d.start(1);
  d.pass(true);
  d.pass(true);
  const auto before = d.engine().save();
  Parameters random;
  REQUIRE(d.engine().random_parameters(5, {}, random) == 0);
  CHECK(test::difference(d.engine().save(), before) == 0);
  CHECK(test::difference(random, d.engine().global_parameters()) > 1e-3);
  CHECK(d.engine().parts().is_valid());
}
