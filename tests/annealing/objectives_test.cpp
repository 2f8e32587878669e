// Every example model: the objective at a fixed temperature, and the one with a latent temperature, must never fall
// from sweep to sweep.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/fit/methods/tempering.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;

constexpr std::int64_t kSweeps = 25;

std::vector<double> objectives_at(Instance& instance, Annealing::Kind kind, double temperature) {
  CaviOptions options;
  options.max_iterations = kSweeps;
  options.annealing.kind = kind;
  options.annealing.shape = Annealing::Shape::listed;
  options.annealing.listed.assign(kSweeps, temperature);
  options.annealing.over = kSweeps;
  options.annealing.from = temperature;
  std::vector<double> out;
  run_cavi(instance.engine(), options, [&](const SweepReport& r) {
    CHECK(r.temperature == temperature);
    out.push_back(r.objective);
    return true;
  });
  return out;
}

void check_rises(const std::vector<double>& objectives) {
  REQUIRE(objectives.size() > 1);
  for (std::size_t k = 1; k < objectives.size(); ++k) {
    INFO("sweep " << k + 1);
    CHECK(objectives[k] >= objectives[k - 1] - 1e-9 * (1 + std::abs(objectives[k])));
  }
}

}  // namespace

TEST_CASE("every model: objectives at a temperature, and with a latent one, never fall") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      Instance instance(p->front, p->data, {}, Backend::native);
      for (const double temperature : {1.3, 4.0}) {
        for (const auto kind : {Annealing::Kind::data, Annealing::Kind::entropy}) {
          INFO((kind == Annealing::Kind::data ? "data" : "entropy") << " at " << temperature);
          REQUIRE(instance.start(3, 0));
          check_rises(objectives_at(instance, kind, temperature));
        }
      }
      REQUIRE(instance.start(3, 0));
      TemperSettings few;  // the normaliser of a lattice takes a second for each temperature
      few.levels = 6;
      const Result<Tempering> t = Tempering::make(few, {p->front, p->data, instance, 3, 0});
      // A normaliser that changes with the factors moves the objective between the sweeps.
      if (!t || t->report().normaliser != "exact") continue;
      std::vector<double> objectives;
      CaviOptions options;
      options.max_iterations = kSweeps;
      options.tolerance = -1;  // no finishing phase
      TemperReport report;
      const OnSweep record = [&](const SweepReport& r) {
        objectives.push_back(r.objective);
        return true;
      };
      run_tempered(instance.engine(), {options, t->grid()}, record, report);
      INFO("latent temperature");
      check_rises(objectives);
    }
  }
}
