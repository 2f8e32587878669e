// What collapsed Gibbs sampling would gain: plain and collapsed samplers of a Gaussian mixture and of LDA, written by
// hand over the same counts, with effective draws per CPU second of the worst of a few sums. Nothing of Lehr is in it.
//   g++ -std=c++20 -O3 -march=native -ffast-math bench/collapsed.cpp -o collapsed && ./collapsed
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using Numbers = std::vector<double>;

std::mt19937_64 bits(1);
double uniform() { return std::uniform_real_distribution<>()(bits); }
double normal() { return std::normal_distribution<>()(bits); }
double gamma_draw(double shape) { return std::gamma_distribution<>(shape)(bits); }
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int pick(std::span<const double> weights, double total) {
  double left = uniform() * total;
  for (std::size_t k = 0; k < weights.size(); ++k)
    if ((left -= weights[k]) < 0) return static_cast<int>(k);
  return static_cast<int>(weights.size()) - 1;
}

/// Effective size of a chain as a share of its length: initial monotone sequence (Geyer 1992).
double effective_share(const Numbers& x) {
  const std::size_t n = x.size();
  double mean = 0;
  for (double v : x)
    mean += v / static_cast<double>(n);
  const auto covariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < n; ++i)
      sum += (x[i] - mean) * (x[i + lag] - mean);
    return sum / static_cast<double>(n);
  };
  double total = 0, before = 1e300;
  for (std::size_t lag = 0; lag < n / 2; lag += 2) {
    const double pair = std::min(before, covariance(lag) + covariance(lag + 1));
    if (pair <= 0) break;
    total += before = pair;
  }
  return covariance(0) / (2 * total - covariance(0));
}

/// `sweep` once for each draw, the first tenth dropped; `watched` what is kept of it.
template <class Sweep, class Watched>
void report(const char* what, int sweeps, const Sweep& sweep, const Watched& watched) {
  std::vector<Numbers> kept;
  double seconds = 0;
  for (int s = 0; s < sweeps; ++s) {
    const double start = cpu_seconds();
    sweep();
    seconds += cpu_seconds() - start;
    const Numbers now = watched();
    kept.resize(now.size());
    for (std::size_t k = 0; k < now.size() && s >= sweeps / 10; ++k)
      kept[k].push_back(now[k]);
  }
  double worst = 1;
  for (const Numbers& x : kept)
    worst = std::min(worst, effective_share(x));
  std::printf("%-44s %9.4f ms a sweep, %7.4f effective draws a sweep, %9.1f a second\n", what, 1e3 * seconds / sweeps,
              worst, worst * sweeps / seconds);
}

struct Mixture {  // unit variances in two dimensions, means Normal(0, 3), weights Dirichlet(1)
  static constexpr int kK = 3;
  std::vector<std::pair<double, double>> x;
  std::vector<int> z;
  double count[kK] = {}, sum_x[kK] = {}, sum_y[kK] = {};

  Mixture(int n, double apart) : x(static_cast<std::size_t>(n)), z(x.size()) {
    const double at[kK][2] = {{-apart, 0}, {apart, 0}, {0, 1.5 * apart}};
    for (std::size_t i = 0; i < x.size(); ++i) {
      z[i] = i % 10 < 5 ? 0 : i % 10 < 8 ? 1 : 2;
      x[i] = {at[z[i]][0] + normal(), at[z[i]][1] + normal()};
      put(i, 1);
    }
  }
  void put(std::size_t i, double sign) {
    count[z[i]] += sign;
    sum_x[z[i]] += sign * x[i].first;
    sum_y[z[i]] += sign * x[i].second;
  }
  /// `log_weight` of a component at a point.
  template <class F>
  void draw(std::size_t i, const F& log_weight) {
    double p[kK], top = -1e300, total = 0;
    for (int k = 0; k < kK; ++k)
      top = std::max(top, p[k] = log_weight(k));
    for (double& v : p)
      total += v = std::exp(v - top);
    z[i] = pick(p, total);
  }
  void plain() {
    double w[kK], a[kK], b[kK];
    for (int k = 0; k < kK; ++k) {
      const double precision = count[k] + 1.0 / 3, sd = 1 / std::sqrt(precision);
      w[k] = std::log(gamma_draw(1 + count[k]));
      a[k] = sum_x[k] / precision + sd * normal();
      b[k] = sum_y[k] / precision + sd * normal();
      count[k] = sum_x[k] = sum_y[k] = 0;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      draw(i, [&](int k) {
        const double dx = x[i].first - a[k], dy = x[i].second - b[k];
        return w[k] - (dx * dx + dy * dy) / 2;
      });
      put(i, 1);
    }
  }
  void collapsed() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      put(i, -1);
      draw(i, [&](int k) {
        const double precision = count[k] + 1.0 / 3, variance = 1 + 1 / precision;
        const double dx = x[i].first - sum_x[k] / precision, dy = x[i].second - sum_y[k] / precision;
        return std::log((1 + count[k]) / variance) - (dx * dx + dy * dy) / (2 * variance);
      });
      put(i, 1);
    }
  }
  Numbers watched() const { return {count[0], count[2], sum_x[0] / (1 + count[0]), sum_x[1] / (1 + count[1])}; }
};

struct Lda {
  std::size_t documents, length, topics, terms;
  double alpha = 0.5, eta = 0.1;
  std::vector<std::size_t> w, z;
  Numbers of_document, of_term, of_topic;

  Lda(std::size_t d, std::size_t l, std::size_t k, std::size_t v)
      : documents(d),
        length(l),
        topics(k),
        terms(v),
        w(d * l),
        z(d * l),
        of_document(d * k),
        of_term(v * k),
        of_topic(k) {
    std::vector<Numbers> beta(k, Numbers(v));
    for (Numbers& row : beta)
      for (double& p : row)
        p = gamma_draw(eta);
    for (std::size_t i = 0; i < w.size(); ++i) {
      static Numbers theta;
      if (i % length == 0) {
        theta.assign(k, 0);
        for (double& p : theta)
          p = gamma_draw(alpha);
      }
      z[i] = static_cast<std::size_t>(pick(theta, sum(theta)));
      w[i] = static_cast<std::size_t>(pick(beta[z[i]], sum(beta[z[i]])));
      put(i, 1);
    }
  }
  static double sum(const Numbers& x) {
    double out = 0;
    for (double v : x)
      out += v;
    return out;
  }
  void put(std::size_t i, double sign) {
    of_document[i / length * topics + z[i]] += sign;
    of_term[w[i] * topics + z[i]] += sign;
    of_topic[z[i]] += sign;
  }
  void plain() {
    Numbers theta(of_document), beta(of_term), total(topics), p(topics);
    for (double& x : theta)
      x = gamma_draw(alpha + x);
    for (std::size_t i = 0; i < beta.size(); ++i)
      total[i % topics] += beta[i] = gamma_draw(eta + beta[i]);
    for (std::size_t i = 0; i < beta.size(); ++i)
      beta[i] /= total[i % topics];
    for (Numbers* counts : {&of_document, &of_term, &of_topic})
      std::fill(counts->begin(), counts->end(), 0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      double all = 0;
      for (std::size_t k = 0; k < topics; ++k)
        all += p[k] = theta[i / length * topics + k] * beta[w[i] * topics + k];
      z[i] = static_cast<std::size_t>(pick(p, all));
      put(i, 1);
    }
  }
  void collapsed() {
    Numbers p(topics);
    for (std::size_t i = 0; i < w.size(); ++i) {
      put(i, -1);
      double all = 0;
      for (std::size_t k = 0; k < topics; ++k)
        all += p[k] = (of_document[i / length * topics + k] + alpha) * (of_term[w[i] * topics + k] + eta) /
                      (of_topic[k] + eta * static_cast<double>(terms));
      z[i] = static_cast<std::size_t>(pick(p, all));
      put(i, 1);
    }
  }
  Numbers watched() const { return of_topic; }
};

template <class Model>
void both(const char* name, const Model& start, int sweeps) {
  Model plain = start, collapsed = start;
  report((std::string(name) + ", plain").c_str(), sweeps, [&] { plain.plain(); }, [&] { return plain.watched(); });
  report((std::string(name) + ", collapsed").c_str(), sweeps, [&] { collapsed.collapsed(); },
         [&] { return collapsed.watched(); });
}

}  // namespace

int main() {
  both("mixture, 1000 points, well apart", Mixture(1000, 3), 4000);
  both("mixture, 1000 points, overlapping", Mixture(1000, 1.2), 20000);
  both("mixture, 10000 points, overlapping", Mixture(10000, 1.5), 2000);
  both("LDA, 200 x 50 tokens, K = 5", Lda(200, 50, 5, 100), 6000);
  both("LDA, 500 x 100 tokens, K = 20", Lda(500, 100, 20, 1000), 2000);
}
