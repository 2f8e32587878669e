// What one thread of this processor can do: PEAK prints, as JSON, operations a second of fused multiplications and
// additions on registers, of doubles and of floats, and bytes a second read from 16 KB, 512 KB and 256 MB. The best of
// several tries of each.
#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "bench.h"

namespace {

constexpr int kTries = 7;

template <class Work>
double best_rate(double amount, Work&& work) {
  double best = 0;
  for (int i = 0; i < kTries; i++) {
    const double before = bench::cpu_seconds();
    work();
    best = std::max(best, amount / (bench::cpu_seconds() - before));
  }
  return best;
}

template <class T>
double arithmetic() {
  constexpr int kLanes = EIGEN_MAX_ALIGN_BYTES / sizeof(T), kVectors = 16;
  constexpr long kTurns = 20'000'000;
  typedef T Vector __attribute__((vector_size(EIGEN_MAX_ALIGN_BYTES)));
  Vector sums[kVectors] = {};
  const Vector factor = Vector{} + T(0.999), term = Vector{} + T(0.001);
  const double rate = best_rate(2.0 * kLanes * kVectors * kTurns, [&] {
    for (long n = 0; n < kTurns; n++) {
#pragma GCC unroll 16
      for (int k = 0; k < kVectors; k++)
        sums[k] = sums[k] * factor + term;
    }
    for (auto& s : sums)
      asm volatile("" : "+m"(s));
  });
  return rate;
}

double reading(std::size_t bytes) {
  const Eigen::VectorXd values = Eigen::VectorXd::Ones(static_cast<long>(bytes / sizeof(double)));
  const long turns = std::max(1L, 2'000'000'000L / static_cast<long>(bytes));
  double sum = 0;
  const double rate = best_rate(static_cast<double>(turns) * static_cast<double>(bytes), [&] {
    for (long n = 0; n < turns; n++) {
      sum += values.sum();
      asm volatile("" : "+m"(sum) : "r"(values.data()) : "memory");
    }
  });
  return rate;
}

}  // namespace

int main() {
  std::printf("{\"double\": %.4g, \"float\": %.4g, \"near\": %.4g, \"middle\": %.4g, \"memory\": %.4g}\n",
              arithmetic<double>(), arithmetic<float>(), reading(16 << 10), reading(512 << 10), reading(256 << 20));
}
