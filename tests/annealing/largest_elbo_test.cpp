// An ELBO above the largest that is right has lost its digits. No search may prefer it: with a limit below the best
// optimum of a model, the search must end at an optimum below the limit, as a search that never met the best one.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "compiler/instance/instance.h"
#include "runtime/search/search.h"
#include "tests/files.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

/// Searches from the first start of a seed. Returns the outcome; its factors are in place.
Outcome searched(Instance& instance, std::uint64_t seed) {
  SearchOptions options = search_options(true);
  options.seed = seed;
  REQUIRE(instance.start(seed, 0));
  SearchReport report;
  return run_search(
      instance.engine(), options, StartKind::seeds, [](const SweepReport&) { return true; }, report);
}

/// Returns the ELBO of a run from the first start of each seed, without a search.
std::map<std::uint64_t, double> optima(Instance& instance) {
  std::map<std::uint64_t, double> out;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    REQUIRE(instance.start(seed, 0));
    CaviOptions options;
    options.max_iterations = 3000;
    const Outcome run = run_cavi(instance.engine(), options, [](const SweepReport&) { return true; });
    if (run.status == Status::converged) out[seed] = run.elbo;
  }
  return out;
}

}  // namespace

TEST_CASE("a search never prefers an ELBO above the largest that is right") {
  const auto p = test::prepare(test::model_file("mixture_of_poissons"));
  Instance instance(p->front, p->data, {}, Backend::native);
  const std::map<std::uint64_t, double> found = optima(instance);
  const double limit = searched(instance, 1).elbo - 0.5;
  instance.engine().limit_elbo(limit);
  int lower = 0;
  for (const auto& [seed, elbo] : found) {
    if (elbo > limit - 0.5 || lower == 3) continue;
    ++lower;
    const Outcome below = searched(instance, seed);
    INFO(below.failure);
    CHECK(below.status == Status::converged);
    CHECK(below.elbo >= elbo - 1e-3);
    CHECK(below.elbo <= limit);
    Elbo there;
    REQUIRE(instance.engine().elbo(there) == 0);
    CHECK(there.value == Approx(below.elbo).epsilon(1e-9));
  }
  CHECK(lower > 0);
  // Where every start is above the limit, the run fails and says why.
  instance.engine().limit_elbo(-1e6);
  const Outcome failed = searched(instance, 1);
  CHECK(failed.status == Status::numerical_failure);
  CHECK(failed.failure.find("digits are lost") != std::string::npos);
}
