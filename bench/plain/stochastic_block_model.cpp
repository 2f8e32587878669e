// models/networks/stochastic_block_model.lehr as one writes it at once: the ties of each member in lists, one for each
// direction. Compiled for GROUPS.
#include <algorithm>
#include "../native/bench.h"

constexpr int K = GROUPS;

struct End {
  long other;
  bool tie;
};

int main(int count, char** values) {
  bench::arguments(count, values);
  const auto from = bench::integers("a"), to = bench::integers("b"), tie = bench::integers("tie");
  auto pi = bench::reals("pi.concentration"), a = bench::reals("B.a"), b = bench::reals("B.b"),
       z = bench::reals("z.probs");
  const int M = static_cast<int>(z.size()) / K;
  std::vector<std::vector<End>> out(M), in(M);
  for (std::size_t i = 0; i < tie.size(); i++) {
    out[from[i]].push_back({to[i], tie[i] != 0});
    in[to[i]].push_back({from[i], tie[i] != 0});
  }
  bench::time_sweeps([&] {
    double log_pi[K], log_b[2][K][K], sum_pi = 0, hits[2][K][K] = {};
    for (double c : pi)
      sum_pi += c;
    for (int g = 0; g < K; g++) {
      log_pi[g] = bench::digamma(pi[g]) - bench::digamma(sum_pi);
      for (int h = 0; h < K; h++) {
        const double total = bench::digamma(a[g * K + h] + b[g * K + h]);
        log_b[1][g][h] = bench::digamma(a[g * K + h]) - total;
        log_b[0][g][h] = bench::digamma(b[g * K + h]) - total;
      }
    }
    for (int m = 0; m < M; m++) {
      double odds[K], sum = 0;
      std::copy(log_pi, log_pi + K, odds);
      for (const End& end : out[m])
        for (int g = 0; g < K; g++)
          for (int h = 0; h < K; h++)
            odds[g] += log_b[end.tie][g][h] * z[end.other * K + h];
      for (const End& end : in[m])
        for (int h = 0; h < K; h++)
          for (int g = 0; g < K; g++)
            odds[g] += log_b[end.tie][h][g] * z[end.other * K + h];
      const double top = *std::max_element(odds, odds + K);
      for (int g = 0; g < K; g++)
        sum += z[m * K + g] = std::exp(odds[g] - top);
      for (int g = 0; g < K; g++)
        z[m * K + g] /= sum;
    }
    for (int g = 0; g < K; g++) {
      pi[g] = 1;
      for (int m = 0; m < M; m++)
        pi[g] += z[m * K + g];
    }
    for (int m = 0; m < M; m++)
      for (const End& end : out[m])
        for (int g = 0; g < K; g++)
          for (int h = 0; h < K; h++)
            hits[end.tie][g][h] += z[m * K + g] * z[end.other * K + h];
    for (int g = 0; g < K; g++)
      for (int h = 0; h < K; h++)
        a[g * K + h] = 1 + hits[1][g][h], b[g * K + h] = 1 + hits[0][g][h];
  });
  bench::write("B.a", a);
  bench::write("B.b", b);
  bench::write("pi.concentration", pi);
}
