// Diagnostics of Markov chains, as in the paper and in Stan's implementation, so that both give the same numbers.
#include "runtime/inference/samplers/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace lehr {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Chains = std::vector<std::vector<double>>;

/// Returns the mean.
double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// Returns the variance with the divisor n - 1.
double variance_of(const std::vector<double>& x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double value : x)
    sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

/// Returns the draws of all chains in one array.
std::vector<double> joined(const Chains& chains) {
  std::vector<double> out;
  for (const std::vector<double>& c : chains)
    out.insert(out.end(), c.begin(), c.end());
  return out;
}

/// Splits each chain in halves; the middle one of an odd number of draws is left out.
Chains split(const std::vector<std::span<const double>>& chains) {
  Chains out;
  for (const std::span<const double> c : chains) {
    const std::size_t half = c.size() / 2;
    out.emplace_back(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(half));
    out.emplace_back(c.end() - static_cast<std::ptrdiff_t>(half), c.end());
  }
  return out;
}

/// Returns the quantile of the standard Normal distribution: Acklam's rational approximation and a step of Halley's
/// method.
double normal_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  if (p > 0.5) return -normal_quantile(1 - p);
  double x = 0;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
  const double u = error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x - u / (1 + x * u / 2);
}

/// Replaces each draw by the Normal score of its rank among all draws; ties get the mean rank.
Chains ranked(const Chains& chains) {
  const std::vector<double> all = joined(chains);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return all[i]; });
  std::vector<double> score(all.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t past = first;
    while (past < order.size() && all[order[past]] == all[order[first]])
      ++past;
    const double rank = 0.5 * static_cast<double>(first + 1 + past);
    const double z = normal_quantile((rank - 0.375) / (static_cast<double>(all.size()) + 0.25));
    for (; first < past; ++first)
      score[order[first]] = z;
  }
  Chains out = chains;
  std::size_t at = 0;
  for (std::vector<double>& c : out) {
    for (double& x : c)
      x = score[at++];
  }
  return out;
}

/// Returns the potential scale reduction of the chains; NaN for constant draws.
double r_hat(const Chains& chains) {
  std::vector<double> means, variances;
  for (const std::vector<double>& c : chains) {
    means.push_back(mean_of(c));
    variances.push_back(variance_of(c));
  }
  const auto n = static_cast<double>(chains[0].size());
  const double between = n * variance_of(means), within = mean_of(variances);
  if (between == 0 && within == 0) return kNaN;  // 0 / 0 has a sign that depends on the processor
  return std::sqrt((between / within + n - 1) / n);
}

/// Autocovariances averaged over the chains; each lag is computed when it is asked for.
class Autocovariance {
 public:
  explicit Autocovariance(const Chains& chains) : chains_(chains) {
    for (const std::vector<double>& c : chains)
      means_.push_back(mean_of(c));
  }
  double at(std::size_t lag) const {
    double sum = 0;
    for (std::size_t k = 0; k < chains_.size(); ++k) {
      const std::vector<double>& c = chains_[k];
      double own = 0;
      for (std::size_t i = 0; i + lag < c.size(); ++i)
        own += (c[i] - means_[k]) * (c[i + lag] - means_[k]);
      sum += own / static_cast<double>(c.size());
    }
    return sum / static_cast<double>(chains_.size());
  }
  const std::vector<double>& means() const { return means_; }

 private:
  const Chains& chains_;
  std::vector<double> means_;
};

/// Returns the effective sample size by Geyer's initial monotone sequence of autocorrelations.
double effective_size(const Chains& chains) {
  const std::size_t draws = chains[0].size();
  const auto n = static_cast<double>(draws), all = n * static_cast<double>(chains.size());
  const std::vector<double> values = joined(chains);
  const auto [low, high] = std::ranges::minmax(values);
  if (high - low < std::numeric_limits<double>::epsilon()) return all;
  const Autocovariance covariance(chains);
  const double within = covariance.at(0) * n / (n - 1);
  const double total = within * (n - 1) / n + (chains.size() > 1 ? variance_of(covariance.means()) : 0);
  const auto correlation = [&](std::size_t lag) { return 1 - (within - covariance.at(lag)) / total; };
  std::vector<double> rho(draws, 0.0);
  double even = rho[0] = 1, odd = rho[1] = correlation(1);
  std::size_t t = 1;
  for (; t + 3 < draws && even + odd > 0; t += 2) {
    even = correlation(t + 1);
    odd = correlation(t + 2);
    if (even + odd < 0) continue;
    rho[t + 1] = even;
    rho[t + 2] = odd;
  }
  // The sequence of positive pairs ends at t - 1.
  const std::size_t end = t - 1;
  if (even > 0) rho[end] = even;
  for (std::size_t k = 1; k + 3 <= end; k += 2) {
    if (rho[k + 1] + rho[k + 2] > rho[k - 1] + rho[k]) rho[k + 1] = rho[k + 2] = (rho[k - 1] + rho[k]) / 2;
  }
  double tau = -1 + rho[end];
  for (std::size_t k = 0; k < end; ++k)
    tau += 2 * rho[k];
  return all / std::max(tau, 1 / std::log10(all));
}

/// Returns the p-quantile, by linear interpolation between order statistics.
double quantile(std::vector<double> x, double p) {
  std::ranges::sort(x);
  const double at = p * static_cast<double>(x.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= x.size()) return x.back();
  return x[below] + (at - std::floor(at)) * (x[below + 1] - x[below]);
}

/// Applies f to every draw.
Chains mapped(Chains chains, const auto& f) {
  for (std::vector<double>& c : chains) {
    for (double& x : c)
      x = f(x);
  }
  return chains;
}

}  // namespace

Diagnosis diagnose(const std::vector<std::span<const double>>& chains) {
  std::vector<double> all;
  for (const std::span<const double> c : chains)
    all.insert(all.end(), c.begin(), c.end());
  Diagnosis out{kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
  if (all.empty()) return out;
  out.mean = mean_of(all);
  if (all.size() < 2) return out;
  out.sd = std::sqrt(variance_of(all));
  if (chains[0].size() < 4) return out;
  const Chains halves = split(chains);
  const Chains scores = ranked(halves);
  const double median = quantile(joined(halves), 0.5);
  out.r_hat = std::max(r_hat(scores), r_hat(ranked(mapped(halves, [&](double x) { return std::abs(x - median); }))));
  out.ess_bulk = effective_size(scores);
  out.ess_tail = std::numeric_limits<double>::infinity();
  for (const double p : {0.05, 0.95}) {
    const double threshold = quantile(all, p);
    out.ess_tail =
        std::min(out.ess_tail, effective_size(mapped(halves, [&](double x) { return x <= threshold ? 1.0 : 0.0; })));
  }
  out.mcse = out.sd / std::sqrt(effective_size(halves));
  return out;
}

}  // namespace lehr
