// Two programs compiled and run at once in several threads give what each gives alone.
#include <thread>

#include "tests/library/models.h"

using namespace lehr;
using namespace lehr::test;

namespace {

std::vector<double> mixture() {
  const std::vector<double> x = points(60);
  return numbers(
      well(well(kMixture).fit({view("x", x)}, {.anneal = "linear:from=3,over=10", .restarts = 2})));
}

std::vector<double> coin() {
  const std::vector<std::int64_t> x{1, 0, 1, 1};
  return numbers(well(well(kCoin).fit({view("x", x)})));
}

}  // namespace

TEST_CASE("programs in threads do not know of each other") {
  const std::vector<double> first = mixture(), second = coin();
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
  const Program p = well(kMixture);
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
