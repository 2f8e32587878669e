// What operations cost on this machine: COSTS prints, as JSON, the numbers of compiler/analysis/cost_model.h by row.
// Times are parts of that of a plain statement on vectors, s[k] += a[k] * b[k], in the first-level cache. The best of
// several tries of each. Compiled with -ffast-math, so that exp is a vector function of the C library.
#include <unistd.h>

#include <algorithm>

#include "bench.h"

namespace {

// Doubles in a vector, and registers for vectors, of the instructions that the compiler uses here.
#if defined(__AVX512F__)
constexpr int kWidth = 8, kRegisters = 32;
#elif defined(__AVX__)
constexpr int kWidth = 4, kRegisters = 16;
#elif defined(__aarch64__)
constexpr int kWidth = 2, kRegisters = 32;
#else
constexpr int kWidth = 2, kRegisters = 16;
#endif
constexpr int kTries = 9, kLanes = 8, kSize = 1024, kStride = 16;
typedef double Vector __attribute__((vector_size(8 * kLanes)));
typedef long Order __attribute__((vector_size(8 * kLanes)));

alignas(64) double a[kSize], b[kSize], s[kSize], distant[kSize * kStride];
alignas(64) long at[kSize];

/// Returns the seconds that `work` takes, repeated so that the clock can tell.
template <class Work>
double seconds(long repetitions, Work&& work) {
  double best = 1e9;
  for (int i = 0; i < kTries; i++) {
    const double before = bench::cpu_seconds();
    for (long r = 0; r < repetitions; r++) {
      work();
      asm volatile("" : : "r"(a), "r"(b), "r"(s), "r"(distant), "r"(at) : "memory");
    }
    best = std::min(best, (bench::cpu_seconds() - before) / repetitions);
  }
  return best;
}

template <class Element>
double loop(Element&& element) {
  return seconds(20'000, [&] {
    for (int k = 0; k < kSize; k++)
      s[k] += element(k);
  });
}

/// Transposes squares of 8 x 8 from a to b, as the generated code does.
void transpose() {
  for (int first = 0; first < kSize; first += kLanes * kLanes) {
    Vector rows[kLanes];
    for (int r = 0; r < kLanes; r++)
      rows[r] = *reinterpret_cast<Vector*>(a + first + r * kLanes);
    const Order even[3] = {{0, 8, 2, 10, 4, 12, 6, 14}, {0, 1, 8, 9, 4, 5, 12, 13}, {0, 1, 2, 3, 8, 9, 10, 11}};
    const Order odd[3] = {{1, 9, 3, 11, 5, 13, 7, 15}, {2, 3, 10, 11, 6, 7, 14, 15}, {4, 5, 6, 7, 12, 13, 14, 15}};
#pragma GCC unroll 3
    for (int stage = 0; stage < 3; stage++)
#pragma GCC unroll 8
      for (int i = 0; i < kLanes; i++) {
        if (i & 1 << stage) continue;
        const Vector x = rows[i], y = rows[i + (1 << stage)];
        rows[i] = __builtin_shuffle(x, y, even[stage]);
        rows[i + (1 << stage)] = __builtin_shuffle(x, y, odd[stage]);
      }
    for (int r = 0; r < kLanes; r++)
      *reinterpret_cast<Vector*>(b + first + r * kLanes) = rows[r];
  }
}

}  // namespace

int main() {
  for (int k = 0; k < kSize; k++) {
    a[k] = 1 + k * 1e-3;
    b[k] = 2 + k * 1e-3;
    at[k] = k * 7 % kSize * kStride;
    distant[at[k]] = a[k];
  }
  const double plain = loop([](int k) { return a[k] * b[k]; });
  std::printf(
      "{\"lanes\": %d, \"line\": %ld, \"cache\": %ld, \"registers\": %d, \"division\": %.3g, \"function\": %.3g, ",
      kWidth, sysconf(_SC_LEVEL1_DCACHE_LINESIZE), sysconf(_SC_LEVEL1_DCACHE_SIZE) / 8 / 4, kRegisters,
      loop([](int k) { return a[k] / b[k]; }) / plain, loop([](int k) { return std::exp(a[k]); }) / plain);
  // By element and by vector: a plain statement takes the time of a vector.
  std::printf("\"transposition\": %.3g, \"gather\": %.3g}\n", seconds(20'000, transpose) / plain / kLanes,
              (loop([](int k) { return distant[at[k]]; })) / plain / kLanes);
}
