// models/factors/factorial_mixture.lehr as one writes it at once. Compiled for FEATURES.
#include "../native/bench.h"

constexpr int K = FEATURES;

int main(int count, char** values) {
  bench::arguments(count, values);
  const auto x = bench::reals("x");
  auto a = bench::reals("p.a"), b = bench::reals("p.b"), precision = bench::reals("mu.precision"),
       mean = bench::reals("mu.mean"), z = bench::reals("z.p");
  double lambda_shape = bench::reals("lambda.shape")[0], lambda_rate = bench::reals("lambda.rate")[0];
  double tau_shape = bench::reals("tau.shape")[0], tau_rate = bench::reals("tau.rate")[0];
  const int P = static_cast<int>(mean.size()) / K, N = static_cast<int>(x.size()) / P;
  double square = 0;
  for (double v : x)
    square += v * v;
  bench::time_sweeps([&] {
    double tau = tau_shape / tau_rate, bias[K], gram[K][K] = {};
    std::vector<double> by_pixel(P * K), xz(P * K);
    for (int f = 0; f < K; f++) {
      bias[f] = bench::digamma(a[f]) - bench::digamma(b[f]);
      for (int p = 0; p < P; p++) {
        const double m = mean[f * P + p];
        by_pixel[p * K + f] = m;
        bias[f] -= 0.5 * tau * (m * m + 1 / precision[f * P + p]);
        for (int g = 0; g < f; g++)
          gram[f][g] = gram[g][f] += m * mean[g * P + p];
      }
    }
    double s[K] = {}, zz[K][K] = {};
    for (int n = 0; n < N; n++) {
      double dot[K] = {}, *zn = &z[n * K];
      const double* xn = &x[n * P];
      for (int p = 0; p < P; p++)
        for (int f = 0; f < K; f++)
          dot[f] += xn[p] * by_pixel[p * K + f];
      for (int f = 0; f < K; f++) {
        double others = 0;
        for (int g = 0; g < K; g++)
          others += gram[f][g] * zn[g];
        zn[f] = 1 / (1 + std::exp(-(bias[f] + tau * (dot[f] - others))));
      }
      for (int f = 0; f < K; f++) {
        s[f] += zn[f];
        for (int g = 0; g < K; g++)
          zz[f][g] += zn[f] * zn[g];
      }
      for (int p = 0; p < P; p++)
        for (int f = 0; f < K; f++)
          xz[p * K + f] += xn[p] * zn[f];
    }
    for (int f = 0; f < K; f++)
      a[f] = 1 + s[f], b[f] = 1 + N - s[f], zz[f][f] = 0;
    lambda_shape = 1 + 0.5 * K * P, lambda_rate = 0.01;
    for (int i = 0; i < K * P; i++)
      lambda_rate += 0.5 * (mean[i] * mean[i] + 1 / precision[i]);
    for (int f = 0; f < K; f++)
      for (int p = 0; p < P; p++) {
        double left = xz[p * K + f];
        for (int g = 0; g < K; g++)
          left -= zz[f][g] * mean[g * P + p];
        precision[f * P + p] = lambda_shape / lambda_rate + tau * s[f];
        mean[f * P + p] = tau * left / precision[f * P + p];
      }
    double error = square;
    for (int f = 0; f < K; f++)
      for (int p = 0; p < P; p++) {
        const double m = mean[f * P + p];
        error += s[f] * (m * m + 1 / precision[f * P + p]) - 2 * xz[p * K + f] * m;
        for (int g = 0; g < K; g++)
          error += zz[f][g] * m * mean[g * P + p];
      }
    tau_shape = 1 + 0.5 * N * P, tau_rate = 1 + 0.5 * error;
  });
  bench::write("mu.mean", mean);
  bench::write("p.a", a);
  bench::write("tau.rate", {tau_rate});
}
