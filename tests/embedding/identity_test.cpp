// A built object and `lehr fit` must compute the same bits: every example model, from the same seed and data, with and
// without local posteriors. Built samplers must draw the same values as the JIT.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/instance/instance.h"
#include "runtime/inference/damping.h"
#include "runtime/inference/samplers/gibbs.h"
#include "tests/embedding/state.h"
#include "tests/files.h"

namespace {

using namespace lehr;

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Three sweeps at a temperature, in one range and in several, which are worked on in any order: the same numbers but
/// for the rounding of sums.
void check_ranges(const test::Library& library, const test::Fields& data) {
  test::State one(library, library.sizes()), forwards(library, library.sizes()), backwards(library, library.sizes());
  for (test::State* s : {&one, &forwards, &backwards})
    REQUIRE(s->init(&data, 7) == 0);
  for (int k = 0; k < 3; ++k) {
    REQUIRE(one.step(nullptr, 0.9) == 0);
    REQUIRE(forwards.step_in_ranges(4, false, 0.9) == 0);
    REQUIRE(backwards.step_in_ranges(4, true, 0.9) == 0);
    double a = 0, b = 0, c = 1;
    REQUIRE(one.elbo(a) == 0);
    REQUIRE(forwards.elbo(b) == 0);
    REQUIRE(backwards.elbo(c) == 0);
    CHECK(b == Approx(a).epsilon(1e-10));
    CHECK(same_bits({&b, 1}, {&c, 1}));
  }
  // A sweep that is abandoned leaves a consistent state: the next one does not lower the ELBO.
  double before = 0, after = 0;
  std::int64_t items = 0;
  REQUIRE(one.step() == 0);
  REQUIRE(one.elbo(before) == 0);
  REQUIRE(one.begin() == 0);
  REQUIRE(one.next(items) == 0);
  REQUIRE(one.step() == 0);
  REQUIRE(one.elbo(after) == 0);
  CHECK(after >= before - 1e-9 * (1 + std::abs(before)));
}

/// Returns true if an array belongs to the marginal of a variable that shares a joint factor with others.
bool is_marginal(const Analysed& front, const std::string& array) {
  const std::string variable = array.substr(0, array.rfind('.'));
  return std::ranges::any_of(front.model.variables, [&](const model::Variable& v) {
    return v.auxiliary && std::ranges::any_of(v.auxiliary->members, [&](const model::Member& x) {
             return front.model[x.variable].name == variable;
           });
  });
}

}  // namespace

TEST_CASE("built objects and the JIT give the same bits on every model") {
  const auto files = test::models();
  REQUIRE(files.size() >= 33);
  for (const auto& path : files) {
    for (const bool locals : {true, false}) {
      DYNAMIC_SECTION(path.stem().string() << (locals ? " with local posteriors" : "")) {
        const auto p = test::prepare(path);
        // Without local posteriors, only the probabilities of fused categories are left out.
        const auto& storage = p->front.schedule.storage;
        if (!locals && std::count(storage.begin(), storage.end(), schedule::Storage::fused) == 0) continue;
        Instance jit(p->front, p->data, {locals}, Backend::native);
        jit.engine().work_with(1,
                               {.operations = 1e18, .outside = 1e18});  // one chunk of all items, as in built objects
        REQUIRE(jit.start(7, 0));

        test::Library library(*p, locals);
        test::State state(library, library.sizes());
        const test::Fields data = library.data();
        REQUIRE(state.init(&data, 7) == 0);

        REQUIRE(prepare_statistics(jit.engine()) == 0);
        Elbo parts;
        Damping damping(jit.engine(), {});
        REQUIRE(damping.start() == 0);
        for (int k = 0; k < 3; ++k) {
          damping.begin();
          const std::int32_t status = sweep(jit.engine(), {});
          REQUIRE(jit.engine().elbo(parts) == 0);
          REQUIRE(damping.end(status, parts, [](const Elbo& x) { return x.value; }) == 0);
          REQUIRE(state.step(k == 1 ? &data : nullptr) == 0);
        }
        test::State whole(library, library.sizes());
        REQUIRE(whole.init(&data, 7) == 0);
        for (int k = 0; k < 3; ++k)
          REQUIRE(whole.step_in_ranges(1, false) == 0);
        REQUIRE(jit.engine().elbo(parts) == 0);
        double elbo = 0;
        REQUIRE(state.elbo(elbo) == 0);
        const double expected = parts.value;
        CHECK(same_bits({&elbo, 1}, {&expected, 1}));
        REQUIRE(whole.elbo(elbo) == 0);
        CHECK(same_bits({&elbo, 1}, {&expected, 1}));
        std::vector<NamedArray> posterior = jit.posterior(true);
        std::erase_if(posterior, [&](const NamedArray& x) { return is_marginal(p->front, x.name); });
        REQUIRE(posterior.size() == library.embedding().parameters.size());
        for (std::size_t k = 0; k < posterior.size(); ++k) {
          INFO(posterior[k].name);
          const std::string& name = library.embedding().parameters[k].name;
          CHECK(same_bits(state.get(name), posterior[k].values));
          CHECK(same_bits(whole.get(name), posterior[k].values));
        }
        check_ranges(library, data);
      }
    }
  }
}

TEST_CASE("built samplers and the JIT draw the same bits") {
  const std::string name = GENERATE("lda", "gmm_normal_wishart", "hmm_gaussian", "linear_dynamical_system",
                                    "logistic_regression", "poisson_factorisation", "ising", "crossed_random_effects");
  INFO(name);
  auto p = test::prepare(test::model_file(name));
  Result<Analysed> drawn = with_sample_factors(p->front);
  REQUIRE(drawn);
  p->front = std::move(*drawn);
  Instance jit(p->front, p->data, {.save_locals = true}, Backend::native);
  jit.engine().work_with(1, {.operations = 1e18, .outside = 1e18});  // as above
  REQUIRE(jit.start(7, 0));
  test::Library library(*p, true);
  test::State state(library, library.sizes()), second(library, library.sizes());
  const test::Fields data = library.data();
  REQUIRE(state.init(&data, 7) == 0);
  CHECK(state.draw().empty());
  CHECK_FALSE(library.has("step"));

  constexpr std::int64_t kSweeps = 4;
  std::vector<NamedArray> draws;
  double log_joint = 0;
  GibbsOptions options;
  options.warmup = 0;
  options.draws = kSweeps;
  options.seed = 7;
  options.chain = 3;
  const Outcome outcome = run_gibbs(
      jit.engine(), options, [](const SweepReport&) { return true; },
      [&](double value) {
        draws.clear();
        jit.append_draw(draws, true);
        log_joint = value;
      });
  REQUIRE(outcome.status == Status::max_iter);
  for (std::int64_t k = 0; k < kSweeps; ++k) {
    if (k == kSweeps / 2) {
      REQUIRE(second.init(nullptr, 0) == 0);
      REQUIRE(second.load(state.save()) == 0);
    }
    REQUIRE(state.gibbs_step(k == 0 ? &data : nullptr, 7, 3, k) == 0);
  }
  double built = 0;
  REQUIRE(state.log_joint(built) == 0);
  CHECK(same_bits({&built, 1}, {&log_joint, 1}));
  std::vector<double> expected;
  for (const NamedArray& a : draws)
    expected.insert(expected.end(), a.values.begin(), a.values.end());
  CHECK(same_bits(state.draw(), expected));
  // The chain was saved half way: it continues in another state with the same random numbers and recomputed sums.
  for (std::int64_t k = kSweeps / 2; k < kSweeps; ++k)
    REQUIRE(second.gibbs_step(k == kSweeps / 2 ? &data : nullptr, 7, 3, k) == 0);
  const std::vector<double> continued = second.draw();
  REQUIRE(continued.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k)
    REQUIRE(continued[k] == Approx(expected[k]).epsilon(1e-10).margin(1e-10));
}
