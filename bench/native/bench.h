// What the programs beside Lehr share: raw arrays in a directory, and the processor seconds of sweeps.
// A program is called as PROGRAM DIRECTORY SWEEPS. It reads DIRECTORY/NAME (little-endian doubles or 64-bit integers, C
// order), writes DIRECTORY/result.NAME, and prints a JSON list of the CPU seconds of its sweeps.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

inline std::string directory;
inline int sweep_count = 0;

inline void arguments(int count, char** values) {
  if (count != 3) {
    std::fprintf(stderr, "usage: %s DIRECTORY SWEEPS\n", values[0]);
    std::exit(2);
  }
  directory = values[1];
  sweep_count = std::atoi(values[2]);
}

template <class T>
std::vector<T> read(const std::string& name) {
  std::ifstream file(directory + "/" + name, std::ios::binary | std::ios::ate);
  if (!file) {
    std::fprintf(stderr, "%s/%s: cannot be read\n", directory.c_str(), name.c_str());
    std::exit(4);
  }
  std::vector<T> values(static_cast<std::size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

inline std::vector<double> reals(const std::string& name) { return read<double>(name); }
inline std::vector<long> integers(const std::string& name) { return read<long>(name); }

inline void write(const std::string& name, const std::vector<double>& values) {
  std::ofstream file(directory + "/result." + name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(double)));
}

inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Sweep>
void time_sweeps(Sweep&& sweep) {
  for (int i = 0; i < sweep_count; i++) {
    const double before = cpu_seconds();
    sweep();
    std::printf("%s%.9f", i ? ", " : "[", cpu_seconds() - before);
  }
  std::printf("]\n");
}

// For x > 0, to about 1e-15 of the larger of 1 and the result: recurrence to x + 8, then the asymptotic series.
inline double digamma(double x) {
  double below = 0;
  for (; x < 8; x += 1)
    below += 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return std::log(x) - 0.5 / x - series - below;
}

}  // namespace bench
