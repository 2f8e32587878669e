// models/factors/poisson_factorisation.lehr as one writes it at once: the source of a count is proportional to a
// product of two weights, which are exponentials of expected logarithms, and counts of 0 have none. Compiled for
// FACTORS, and with BOUND for the ELBO after each sweep, which tells when to stop.
#include "../native/bench.h"

constexpr int K = FACTORS;

// What a Gamma variable adds to the ELBO, its prior Gamma(shape = 0.3, rate).
double gain(double s, double r, double rate) {
  const double log_mean = bench::digamma(s) - std::log(r);
  return 0.3 * std::log(rate) - std::lgamma(0.3) + (0.3 - s) * log_mean + (r - rate) * s / r + std::lgamma(s) -
         s * std::log(r);
}

int main(int count, char** values) {
  bench::arguments(count, values);
  const auto y = bench::reals("Y");
  auto taste_shape = bench::reals("taste.shape"), taste_rate = bench::reals("taste.rate"),
       shape = bench::reals("quality.shape"), rate = bench::reals("quality.rate");
  const int I = static_cast<int>(shape.size()) / K, U = static_cast<int>(y.size()) / I;
  std::vector<double> weight(I * K), sums(I * K);
  double elbo = 0, permutations = 0;
  for (double x : y)
    permutations += std::lgamma(x + 1);
  bench::time_sweeps([&] {
    double quality[K] = {}, taste_sum[K] = {};
    for (int k = 0; k < K; k++)
      for (int i = 0; i < I; i++) {
        quality[k] += shape[k * I + i] / rate[k * I + i];
        weight[i * K + k] = std::exp(bench::digamma(shape[k * I + i])) / rate[k * I + i];
        sums[i * K + k] = 0;
      }
    for (int u = 0; u < U; u++) {
      double w[K], into[K] = {};
      auto weigh = [&] {
        for (int k = 0; k < K; k++)
          w[k] = std::exp(bench::digamma(taste_shape[u * K + k])) / taste_rate[u * K + k];
      };
      weigh();
      for (int i = 0; i < I; i++) {
        if (y[u * I + i] == 0) continue;
        double total = 0;
        for (int k = 0; k < K; k++)
          total += w[k] * weight[i * K + k];
        for (int k = 0; k < K; k++)
          into[k] += y[u * I + i] / total * w[k] * weight[i * K + k];
      }
      for (int k = 0; k < K; k++) {
        taste_shape[u * K + k] = 0.3 + into[k];
        taste_rate[u * K + k] = 1 + quality[k];
        taste_sum[k] += taste_shape[u * K + k] / taste_rate[u * K + k];
      }
      weigh();
      for (int i = 0; i < I; i++) {
        if (y[u * I + i] == 0) continue;
        double total = 0;
        for (int k = 0; k < K; k++)
          total += w[k] * weight[i * K + k];
        for (int k = 0; k < K; k++)
          sums[i * K + k] += y[u * I + i] / total * w[k] * weight[i * K + k];
      }
    }
    for (int k = 0; k < K; k++)
      for (int i = 0; i < I; i++)
        shape[k * I + i] = 0.3 + sums[i * K + k], rate[k * I + i] = 0.3 + taste_sum[k];
#ifdef BOUND
    elbo = -permutations;
    for (int k = 0; k < K; k++) {
      double of_items = 0;
      for (int i = 0; i < I; i++) {
        const double s = shape[k * I + i], r = rate[k * I + i];
        of_items += s / r;
        weight[i * K + k] = std::exp(bench::digamma(s)) / r;
        elbo += gain(s, r, 0.3);
      }
      elbo -= taste_sum[k] * of_items;
    }
    for (int u = 0; u < U; u++) {
      double w[K];
      for (int k = 0; k < K; k++) {
        const double s = taste_shape[u * K + k], r = taste_rate[u * K + k];
        w[k] = std::exp(bench::digamma(s)) / r;
        elbo += gain(s, r, 1);
      }
      for (int i = 0; i < I; i++) {
        if (y[u * I + i] == 0) continue;
        double total = 0;
        for (int k = 0; k < K; k++)
          total += w[k] * weight[i * K + k];
        elbo += y[u * I + i] * std::log(total);
      }
    }
#endif
  });
  bench::write("quality.shape", shape);
  bench::write("quality.rate", rate);
#ifdef BOUND
  bench::write("elbo", {elbo});
#endif
}
