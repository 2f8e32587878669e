// models/regression/logistic_regression.lehr as one writes it at once.
#include "../native/bench.h"

int main(int count, char** values) {
  bench::arguments(count, values);
  const auto temperature = bench::reals("temperature");
  const auto damaged = bench::integers("damaged");
  auto bound = bench::reals("damaged.bound.value");
  double pa = bench::reals("a.precision")[0], a = bench::reals("a.mean")[0], pb = bench::reals("b.precision")[0],
         b = bench::reals("b.mean")[0];
  bench::time_sweeps([&] {
    double l0 = 0, l1 = 0, l2 = 0, y0 = 0, y1 = 0;  // sums of lambda(bound) t^i and of (y - 1/2) t^i
    for (std::size_t n = 0; n < bound.size(); n++) {
      const double t = temperature[n] - 70, lambda = std::tanh(0.5 * bound[n]) / (4 * bound[n]), y = damaged[n] - 0.5;
      l0 += lambda, l1 += lambda * t, l2 += lambda * t * t;
      y0 += y, y1 += y * t;
    }
    pa = 0.04 + 2 * l0;
    a = (y0 - 2 * l1 * b) / pa;
    pb = 0.04 + 2 * l2;
    b = (y1 - 2 * l1 * a) / pb;
    for (std::size_t n = 0; n < bound.size(); n++) {
      const double t = temperature[n] - 70;
      bound[n] = std::sqrt(a * a + 1 / pa + 2 * t * a * b + t * t * (b * b + 1 / pb));
    }
  });
  bench::write("a.mean", {a});
  bench::write("b.mean", {b});
  bench::write("b.precision", {pb});
}
