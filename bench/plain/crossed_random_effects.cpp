// models/hierarchical/crossed_random_effects.lehr as one writes it at once.
#include "../native/bench.h"

int main(int count, char** values) {
  bench::arguments(count, values);
  const auto y = bench::reals("diameter");
  const auto dish = bench::integers("dish"), sample = bench::integers("sample");
  auto d = bench::reals("d.mean"), dp = bench::reals("d.precision"), s = bench::reals("s.mean"),
       sp = bench::reals("s.precision");
  auto one = [](const char* name) { return bench::reals(name)[0]; };
  double mu = one("mu.mean"), mu_precision = one("mu.precision"), dish_rate = one("tau_dish.rate"),
         sample_rate = one("tau_sample.rate"), rate = one("tau.rate");
  const std::size_t N = y.size(), D = d.size(), S = s.size();
  const double dish_shape = 0.01 + 0.5 * D, sample_shape = 0.01 + 0.5 * S, shape = 0.01 + 0.5 * N;
  std::vector<double> dish_count(D), sample_count(S), left;
  for (std::size_t n = 0; n < N; n++)
    dish_count[dish[n]]++, sample_count[sample[n]]++;
  bench::time_sweeps([&] {
    double sum = 0, error = 0;
    for (double v : s)
      sum += v;
    mu_precision = 1e-4 + S * sample_shape / sample_rate;
    mu = sample_shape / sample_rate * sum / mu_precision;
    dish_rate = sample_rate = 0.01;
    for (std::size_t i = 0; i < D; i++)
      dish_rate += 0.5 * (d[i] * d[i] + 1 / dp[i]);
    for (std::size_t i = 0; i < S; i++)
      sample_rate += 0.5 * ((s[i] - mu) * (s[i] - mu) + 1 / sp[i] + 1 / mu_precision);
    for (std::size_t n = 0; n < N; n++) {
      const double e = y[n] - d[dish[n]] - s[sample[n]];
      error += e * e;
    }
    for (std::size_t i = 0; i < D; i++)
      error += dish_count[i] / dp[i];
    for (std::size_t i = 0; i < S; i++)
      error += sample_count[i] / sp[i];
    rate = 0.01 + 0.5 * error;
    const double tau = shape / rate;
    left.assign(D, 0);
    for (std::size_t n = 0; n < N; n++)
      left[dish[n]] += y[n] - s[sample[n]];
    for (std::size_t i = 0; i < D; i++)
      dp[i] = dish_shape / dish_rate + tau * dish_count[i], d[i] = tau * left[i] / dp[i];
    left.assign(S, 0);
    for (std::size_t n = 0; n < N; n++)
      left[sample[n]] += y[n] - d[dish[n]];
    for (std::size_t i = 0; i < S; i++) {
      sp[i] = sample_shape / sample_rate + tau * sample_count[i];
      s[i] = (sample_shape / sample_rate * mu + tau * left[i]) / sp[i];
    }
  });
  bench::write("d.mean", d);
  bench::write("s.mean", s);
  bench::write("tau.rate", {rate});
  bench::write("tau_dish.rate", {dish_rate});
}
