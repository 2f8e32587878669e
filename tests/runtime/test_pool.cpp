// The thread pool: an exception on any of its threads reaches the caller, and the pool can be used afterwards.
#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>

#include "runtime/parallel/pool.h"

TEST_CASE("exceptions of threads reach the caller of the pool") {
  constexpr std::size_t kThreads = 4;
  lehr::Pool pool(kThreads);
  REQUIRE(pool.size() == kThreads);
  for (std::size_t fails = 0; fails < kThreads; ++fails) {
    INFO("thread " << fails);
    std::atomic<std::size_t> arrived = 0;
    // All threads wait for each other, so that the one that fails takes part.
    const auto body = [&](std::size_t thread) {
      ++arrived;
      while (arrived < kThreads) {
      }
      if (thread == fails) throw std::runtime_error("of a thread");
    };
    CHECK_THROWS_WITH(pool.run(body), "of a thread");
    arrived = 0;
    CHECK_NOTHROW(pool.run([&](std::size_t) { ++arrived; }));
    CHECK(arrived >= 1);
  }
}
