// Functions of built objects beyond plain sweeps: minibatches, new items, data sets of other sizes, and saved states.
// Results are compared with closed forms, or with plain sweeps that must give the same posterior.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "compiler/instance/instance.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "runtime/inference/cavi.h"
#include "tests/embedding/state.h"
#include "tests/files.h"

namespace {

using namespace lehr;
using test::Fields;

constexpr std::int64_t kPasses = 500;
constexpr double kTight = 1e-12;

std::map<std::string, std::vector<double>> globals(test::State& s, const Embedding& e, const loops::Interface& io) {
  std::map<std::string, std::vector<double>> out;
  for (std::size_t k = 0; k < e.parameters.size(); ++k) {
    if (io.parameters[k].local) continue;
    const auto x = s.get(e.parameters[k].name);
    out[e.parameters[k].name].assign(x.begin(), x.end());
  }
  return out;
}

/// Returns the largest difference of two arrays, relative to the largest number of `b`.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0, size = 1e-300;
  for (double x : b)
    size = std::max(size, std::abs(x));
  for (std::size_t k = 0; k < a.size(); ++k)
    worst = std::max(worst, std::abs(a[k] - b[k]));
  return a.size() == b.size() ? worst / size : INFINITY;
}

loops::Interface interface_of(const test::Prepared& p) {
  return generate(p.front, p.data, {.save_locals = true, .new_items = true}).interface;
}

/// A model with the data that its head comment names, built once for all cases.
struct Built {
  std::unique_ptr<test::Prepared> model;
  test::Library library;

  explicit Built(const std::filesystem::path& path) : model(test::prepare(path)), library(*model, true) {}
};

Built& built(const std::filesystem::path& path) {
  static std::map<std::filesystem::path, Built> all;
  return all.try_emplace(path, path).first->second;
}

/// Returns true if the size of the data decides the number of coordinates of a joint factor. That number is a constant
/// of the code, so `lehr build` refuses such models.
bool counts_coordinates(const model::Model& m) {
  for (const model::Variable& v : m.variables) {
    for (std::size_t k = 0; model::is_joint(v) && k < v.auxiliary->members.size(); ++k) {
      for (const model::PlateId plate : model::coordinate_plates(m, v.auxiliary->members[k]))
        if (model::is_item_plate(m, plate)) return true;
    }
  }
  return false;
}

/// Returns true if every block of single items is updated in an item stage.
bool all_in_stages(const test::Prepared& p) {
  for (std::size_t k = 0; k < p.front.schedule.local.size(); ++k) {
    if (p.front.schedule.local[k] && !p.front.schedule.stage_of[k]) return false;
  }
  return true;
}

}  // namespace

// Three copies of the data must give the same posterior as one copy that stands for three items each.
TEST_CASE("a minibatch stands for all items") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      auto& [p, library] = built(path);
      if (!library.has("svi_step")) continue;
      const loops::Interface io = interface_of(*p);
      const Fields once = library.data(), thrice = library.data(3);
      test::State batch(library, library.sizes()), whole(library, library.sizes(3));
      REQUIRE(batch.init(&once, 5) == 0);
      REQUIRE(whole.init(&thrice, 5) == 0);
      REQUIRE(batch.accuracy(kPasses, kTight) == 0);
      REQUIRE(whole.accuracy(kPasses, kTight) == 0);
      for (int k = 0; k < 3; ++k)
        REQUIRE(batch.step() == 0);
      for (const auto& [name, values] : globals(batch, library.embedding(), io))
        REQUIRE(whole.set(name, values) == 0);

      REQUIRE(whole.svi_step(&thrice, thrice[0], 1) == 0);
      REQUIRE(batch.svi_step(&once, 3 * once[0], 1) == 0);
      const auto a = globals(batch, library.embedding(), io), b = globals(whole, library.embedding(), io);
      for (const auto& [name, values] : a) {
        INFO(name);
        CHECK(difference(values, b.at(name)) < 1e-7);
      }
      double of_batch = 0, of_whole = 1;
      REQUIRE(batch.elbo(of_batch) == 0);
      REQUIRE(whole.elbo(of_whole) == 0);
      CHECK(of_batch == Approx(of_whole).epsilon(1e-8));

      // The total may be far larger than the number of items that fit into memory.
      const std::int64_t total = 10'000'000, times = 10'000'000;
      test::State some(library, library.sizes()), more(library, library.sizes());
      REQUIRE(some.init(&once, 1) == 0);
      REQUIRE(some.svi_step(&once, total, 1e-9) == 0);
      REQUIRE(some.elbo(of_batch) == 0);
      REQUIRE(more.init(&once, 1) == 0);
      REQUIRE(more.svi_step(&once, times * total, 1e-9 / static_cast<double>(times)) == 0);
      REQUIRE(more.elbo(of_whole) == 0);
      // With a huge total, the prior is negligible beside the items.
      CHECK(of_whole / static_cast<double>(times) == Approx(of_batch).epsilon(1e-4));
    }
  }
}

TEST_CASE("new items: the bound that `fit` finds for them, and the other factors stay") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      auto& [p, library] = built(path);
      const loops::Interface io = interface_of(*p);
      const Fields data = library.data();
      test::State state(library, library.sizes());
      REQUIRE(state.init(&data, 3) == 0);
      REQUIRE(state.accuracy(kPasses, kTight) == 0);
      for (int k = 0; k < 3; ++k)
        REQUIRE(state.step() == 0);
      const auto before = globals(state, library.embedding(), io);
      double score = 0, again = 1;
      REQUIRE(state.score(&data, score) == 0);
      if (all_in_stages(*p)) {
        for (const auto& [name, values] : globals(state, library.embedding(), io)) {
          INFO(name);
          CHECK(std::memcmp(values.data(), before.at(name).data(), 8 * values.size()) == 0);
        }
      }
      REQUIRE(state.score(&data, again) == 0);
      CHECK(std::memcmp(&score, &again, 8) == 0);

      if (!all_in_stages(*p)) continue;
      Instance fit(p->front, p->data, {true}, Backend::native);
      REQUIRE(fit.start(3, 0));
      std::vector<NamedArray> arrays;
      const auto& parameters = library.embedding().parameters;
      // The ELBO is that of the same factors. Those of the items may have several optima, or saddles near
      // them.
      for (std::size_t k = 0; k < parameters.size(); ++k) {
        const auto x = state.get(parameters[k].name);
        arrays.push_back({io.parameters[k].name, {}, {x.begin(), x.end()}, false});
      }
      REQUIRE(fit.set(arrays, "test"));
      CaviOptions tight;
      tight.local_iterations = kPasses;
      tight.local_tolerance = kTight;
      const auto steps = fit.engine().steps();
      // Marginals do not determine a chain, so its factor is computed again.
      const auto& blocks = p->front.schedule.conditionals.blocks;
      const bool chain = std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.chain.has_value(); });
      const bool summed = !chain && std::all_of(steps.begin(), steps.end(), [](const StepRow& step) {
        return !step.stage || step.refresh || step.sum >= 0;
      });
      if (summed) REQUIRE(machine::sum_statistics(fit.engine().machine()) == 0);
      Elbo parts;
      REQUIRE((summed ? fit.engine().elbo(parts) : evaluate(fit.engine(), tight, parts)) == 0);
      CHECK(score == Approx(parts.data_energy + parts.local_prior + parts.local_entropy).epsilon(1e-6));
    }
  }
}

TEST_CASE("the predictive bound of throws of a coin is that of its Beta posterior") {
  auto& [p, library] = built("models/distributions/coin.lehr");
  const Fields data = library.data();
  test::State state(library, library.sizes());
  REQUIRE(state.init(&data, 1) == 0);
  REQUIRE(state.step() == 0);
  REQUIRE(state.get("p_a")[0] == 15);  // 14 heads in 20 throws, Beta(1, 1)
  REQUIRE(state.get("p_b")[0] == 7);
  const double throws[] = {1, 1, 0};
  const Fields fresh{3, reinterpret_cast<std::int64_t>(throws)};
  double score = 0;
  REQUIRE(state.score(&fresh, score) == 0);
  // digamma(n) = harmonic number(n - 1) - gamma, so that E log p = H(14) - H(21), E log(1 - p) = H(6) - H(21)
  const auto harmonic = [](int n) {
    double sum = 0;
    for (int k = 1; k <= n; ++k)
      sum += 1.0 / k;
    return sum;
  };
  CHECK(score == Approx(2 * (harmonic(14) - harmonic(21)) + harmonic(6) - harmonic(21)).epsilon(1e-12));
}

TEST_CASE("a state takes data sets of other sizes") {
  for (const auto& path : test::models()) {
    DYNAMIC_SECTION(path.stem().string()) {
      auto& [p, library] = built(path);
      if (counts_coordinates(p->front.model)) continue;
      const Fields once = library.data(), twice = library.data(2);
      test::State state(library, library.sizes(2)), small(library, library.sizes());
      REQUIRE(state.init(&once, 3) == 0);
      REQUIRE(small.init(&once, 3) == 0);
      double before = -INFINITY, elbo = 0;
      for (int k = 0; k < 8; ++k) {
        REQUIRE(state.step(k == 2 ? &twice : k == 6 ? &once : nullptr) == 0);
        REQUIRE(state.elbo(elbo) == 0);
        CHECK(std::isfinite(elbo));
        const bool other = k == 2 || k == 6;
        if (!other) CHECK(elbo >= before - 1e-9 * (1 + std::abs(elbo)));
        before = elbo;
      }
      // A state saved without factors of items is loaded into one that has none either.
      REQUIRE(state.step(&twice) == 0);
      const std::vector<std::byte> saved = state.save();
      test::State blank(library, library.sizes());
      REQUIRE(blank.init(nullptr, 0) == 0);
      REQUIRE(blank.load(saved) == 0);
      REQUIRE(blank.step(&once) == 0);
      REQUIRE(blank.elbo(elbo) == 0);
    }
  }
}

TEST_CASE("a saved state goes on where it was, and its globals fit other data") {
  for (const char* name :
       {"gmm", "lda", "hmm_gaussian", "hmm_discrete", "poisson_factorisation", "logistic_regression"}) {
    DYNAMIC_SECTION(name) {
      auto& [p, library] = built(test::model_file(name));
      const loops::Interface io = interface_of(*p);
      const Fields data = library.data(), twice = library.data(2);
      test::State one(library, library.sizes()), other(library, library.sizes()), larger(library, library.sizes(2));
      REQUIRE(one.init(&data, 5) == 0);
      for (int k = 0; k < 4; ++k)
        REQUIRE(one.step() == 0);
      const std::vector<std::byte> saved = one.save();
      REQUIRE_FALSE(saved.empty());
      REQUIRE(other.init(nullptr, 0) == 0);
      CHECK(other.step(&data) != 0);
      REQUIRE(other.load(saved) == 0);
      REQUIRE(one.step() == 0);
      REQUIRE(other.step(&data) == 0);
      for (const EmbeddedParameter& parameter : library.embedding().parameters) {
        const auto a = one.get(parameter.name), b = other.get(parameter.name);
        INFO(parameter.name);
        CHECK((a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0));
      }
      REQUIRE(larger.init(&twice, 9) == 0);
      REQUIRE(larger.load(saved) == 0);
      REQUIRE(larger.step(&twice) == 0);
    }
  }
}
