// The library in several threads: models that are compiled and fitted at the same time give the results that each gives
// alone.
#include <thread>

#include "tests/library/models.h"

using namespace lehr;
using namespace lehr::test;

namespace {

/// As test::require_ok, but for threads, where Catch must not be used. Returns an empty result after a failure.
std::vector<double> fitted(const char* model, const DataView& data, const FitOptions& options) {
  const Compilation c = compile(model);
  if (!c) return {};
  const Result<Fit> fit = c.program->fit({data}, options);
  return fit ? numbers(*fit) : std::vector<double>();
}

std::vector<double> mixture() {
  const std::vector<double> x = points(60);
  return fitted(kMixture, view("x", x), {.temper = "global:max=5,levels=10", .restarts = 2});
}

std::vector<double> coin() {
  const std::vector<std::int64_t> x{1, 0, 1, 1};
  return fitted(kCoin, view("x", x), {});
}

}  // namespace

TEST_CASE("programs in threads do not know of each other") {
  const std::vector<double> first = mixture(), second = coin();
  REQUIRE(first.size() == 9);  // pi, means and precisions
  REQUIRE(second.size() == 2);
  std::vector<std::vector<double>> found(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&found, t] { found[t] = t % 2 == 0 ? mixture() : coin(); });
  for (std::thread& t : threads)
    t.join();
  for (std::size_t t = 0; t < found.size(); ++t) {
    INFO("thread " << t);
    CHECK(found[t] == (t % 2 == 0 ? first : second));
  }
}

TEST_CASE("one program is fitted by several threads") {
  const Program p = require_ok(kMixture);
  const std::vector<double> x = points(60);
  std::vector<double> elbos(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < elbos.size(); ++t) {
    threads.emplace_back([&, t] {
      const Result<Fit> fit = p.fit({view("x", x)});
      elbos[t] = fit ? fit->elbo() : NAN;
    });
  }
  for (std::thread& t : threads)
    t.join();
  CHECK(elbos[0] == elbos[1]);
  CHECK(elbos[0] == elbos[2]);
}
