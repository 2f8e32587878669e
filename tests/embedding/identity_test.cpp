// A built object and `lehr fit` compute the same bits: every model of models/, from the same seed and data.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/instance/instance.h"
#include "runtime/methods/cavi.h"
#include "tests/embedding/state.h"

namespace {

using namespace lehr;

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEST_CASE("built objects and the JIT give the same bits on every model") {
  const auto files = test::models();
  REQUIRE(files.size() >= 33);
  for (const auto& path : files) {
    for (const bool locals : {true, false}) {
      DYNAMIC_SECTION(path.stem().string() << (locals ? " with local posteriors" : "")) {
        const auto p = test::prepare(path);
        // Only streamed categories are left out without.
        const auto& storage = p->front.schedule.storage;
        if (!locals && std::count(storage.begin(), storage.end(), schedule::Storage::streamed) == 0) continue;
        Instance jit(p->front, p->data, {locals}, Backend::native);
        REQUIRE(jit.start(7, 0));

        test::Library library(*p, locals);
        test::State state(library, library.sizes());
        const test::Fields data = library.data();
        REQUIRE(state.init(&data, 7) == 0);

        REQUIRE(prepare_statistics(jit.engine()) == 0);
        for (int k = 0; k < 3; ++k) {
          REQUIRE(sweep(jit.engine(), {}) == 0);
          REQUIRE(state.step(k == 1 ? &data : nullptr) == 0);
        }
        Elbo parts;
        REQUIRE(jit.engine().elbo(parts) == 0);
        double elbo = 0;
        REQUIRE(state.elbo(elbo) == 0);
        const double expected = parts.value;
        CHECK(same_bits({&elbo, 1}, {&expected, 1}));
        const std::vector<NamedArray> posterior = jit.posterior(true);
        REQUIRE(posterior.size() == library.embedding().parameters.size());
        for (std::size_t k = 0; k < posterior.size(); ++k) {
          INFO(posterior[k].name);
          CHECK(same_bits(state.get(library.embedding().parameters[k].name), posterior[k].values));
        }
      }
    }
  }
}
