// Items in shares: the same bits from any number of threads, and what one share gives but for the order of sums.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

#include "compiler/instance/instance.h"
#include "runtime/methods/gibbs.h"
#include "runtime/methods/svi.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

/// As many shares as there are items or turns, or one.
constexpr ShareSize kSmall{1, 0, 1}, kOne{1e300, 0, 1e300};

using Numbers = std::vector<std::vector<double>>;

/// What is left of a few sweeps: factors, statistics, the ELBO.
Numbers after(Instance& instance, const std::function<double(const Engine&)>& method) {
  // Starts of models that draw are draws.
  if (instance.engine().model().random_key >= 0) machine::set_key(instance.engine().machine(), 5, 0);
  REQUIRE(instance.start(5, 0));
  const double elbo = method(instance.engine());
  Numbers out = instance.engine().save();
  out.push_back({elbo});
  return out;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), 8 * x.size()) == 0;
  });
}

double few_sweeps(const Engine& e) {
  CaviOptions o;
  o.max_iterations = 2;
  o.annealing.from = 3;
  o.annealing.over = 2;
  return run_cavi(e, o, [](const SweepReport&) { return true; }).elbo;
}

double few_parts(const Engine& e) {
  Elbo out;
  for (int k = 0; k < 3; ++k)
    CHECK(sweep(e, {}, {.parts = true}) == 0);
  CHECK(e.elbo(out) == 0);
  return out.value;
}

double few_steps(const Engine& e) {
  SviOptions o;
  o.batch = 9;
  o.epochs = 1;
  o.fresh = true;
  return run_svi(e, o, [](const SweepReport&) { return true; }).elbo;
}

double few_draws(const Engine& e) {
  GibbsOptions o;
  o.warmup = 1;
  o.draws = 2;
  double log_joint = 0;
  run_gibbs(
      e, o, [](const SweepReport&) { return true; }, [&](double x) { log_joint = x; });
  return log_joint;
}

/// `rounding`: what the order of sums may come to.
void check(Instance& instance, const std::function<double(const Engine&)>& method, double rounding = 1e-9) {
  Engine& e = instance.engine();
  e.work_with(1, kSmall);
  const Numbers alone = after(instance, method);
  for (const std::size_t threads : {2u, 3u, 7u}) {
    INFO(threads << " threads");
    e.work_with(threads, kSmall);
    CHECK(same_bits(after(instance, method), alone));
  }
  e.work_with(1, kOne);
  const Numbers together = after(instance, method);
  CHECK(test::difference(alone, together) < rounding);
}

}  // namespace

TEST_CASE("every model: any number of threads gives the same bits") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      Instance instance(p->front, p->data, {.save_locals = true, .batches = true}, Backend::native);
      CHECK(std::ranges::none_of(instance.engine().steps(),
                                 [](const StepRow& s) { return s.stage && s.operations <= 0; }));
      check(instance, few_sweeps);
      instance.engine().divide(2);
      check(instance, few_parts, 1e-8);
      instance.engine().divide(1);
      if (!instance.engine().minibatches()) continue;
      check(instance, few_steps);
      Instance window(p->front, p->data, {.batches = true}, Backend::native, 9);
      check(window, few_steps);
    }
  }
}

TEST_CASE("draws do not depend on the number of threads") {
  const std::string name =
      GENERATE("lda", "gmm_normal_wishart", "hmm_gaussian", "logistic_regression", "crossed_random_effects");
  INFO(name);
  auto p = test::prepare("models/" + name + ".lehr");
  Result<Analysed> drawn = with_draws(p->front);
  REQUIRE(drawn);
  Instance instance(*drawn, p->data, {.save_locals = true}, Backend::native);
  check(instance, few_draws);
}
