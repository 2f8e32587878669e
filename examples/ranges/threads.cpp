// The program of openmp.c with threads of C++: the same numbers.
//
//   lehr build models/mixtures/gmm.lehr -o gmm --set K=8 --sizes dim=2
//   c++ -std=c++20 -O2 -pthread -I. examples/ranges/threads.cpp gmm.o -lm -o ranges_threads
//   ./ranges_threads 32
//
// A second argument is the number of threads.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "gmm.hpp"

namespace {

constexpr int kPoints = 100000, kSweeps = 20, kDim = GMM_SIZE_dim;

/// Four squares of points.
std::vector<double> points() {
  std::vector<double> x(kPoints * kDim);
  std::uint32_t state = 1;
  for (int i = 0; i < kPoints * kDim; ++i) {
    state = state * 1664525u + 1013904223u;
    const int square = i / kDim % 4;
    x[static_cast<std::size_t>(i)] = (i % kDim ? square / 2 : square % 2) * 3.0 + state / 4294967296.0;
  }
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranges = argc > 1 ? std::atoi(argv[1]) : 32;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency();
  const auto on_threads = [&](const auto& work) {
    std::atomic<int> next = 0;
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) {
      running.emplace_back([&] {
        for (int k = next++; k < ranges; k = next++)
          work(k);
      });
    }
  };
  const std::vector<double> x = points();
  gmm::State state({.abi = GMM_ABI, .n = kPoints}, {.n = kPoints, .x = x.data()}, 1);
  for (int k = 0; k < kSweeps; ++k)
    state.step_in_ranges(ranges, on_threads);
  std::printf("%d sweeps in %d ranges: ELBO %.17g\n", kSweeps, ranges, state.elbo());
}
