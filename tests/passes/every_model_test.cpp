// Every model of models/ computes the same with and without each pass.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>

#include "compiler/instance/instance.h"
#include "compiler/passes/passes.h"
#include "runtime/methods/cavi.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

std::vector<std::vector<double>> swept(const test::Prepared& p, const char* without) {
  ::setenv("LEHR_NO_OPT", without, 1);
  Instance instance(p.front, p.data, {.save_locals = true}, Backend::native);
  ::unsetenv("LEHR_NO_OPT");
  REQUIRE(instance.start(3, 0));
  CaviOptions o;
  o.max_iterations = 4;
  o.annealing.from = 2;
  o.annealing.over = 2;
  const Outcome out = run_cavi(instance.engine(), o, [](const SweepReport&) { return true; });
  std::vector<std::vector<double>> numbers = instance.engine().save();
  numbers.push_back({out.elbo});
  return numbers;
}

}  // namespace

TEST_CASE("every model: no pass changes what is computed") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      const auto all = swept(*p, "");
      for (const loops::Pass& pass : loops::passes()) {
        INFO(pass.name);
        const auto without = swept(*p, std::string(pass.name).c_str());
        CHECK(test::difference(all, without) < 1e-9);
      }
    }
  }
}
