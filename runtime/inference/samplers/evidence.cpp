// Thermodynamic integration. The integral over the power b is computed over log b, where the integrand from a wide
// prior is nearly linear. Between two powers it is the integral of a cubic through values and slopes; the part below
// the first power above 0 is an importance sampling estimate from the prior.
#include "runtime/inference/samplers/evidence.h"

#include <algorithm>
#include <cmath>

#include "runtime/inference/samplers/diagnostics.h"

namespace lehr {
namespace {

/// Mean and variance of the log likelihood at one power.
struct Moments {
  double mean = 0, variance = 0;
};

/// Returns the mean and the variance of draws.
Moments moments(const std::vector<double>& x) {
  Moments out;
  const auto n = static_cast<double>(x.size());
  for (const double v : x)
    out.mean += v / n;
  for (const double v : x)
    out.variance += (v - out.mean) * (v - out.mean) / std::max(1.0, n - 1);
  return out;
}

/// Returns the log of the mean of exp(b x).
double log_mean_exp(const std::vector<double>& x, double b) {
  const double top = b * *std::ranges::max_element(x);
  double sum = 0;
  for (const double v : x)
    sum += std::exp(b * v - top);
  return top + std::log(sum / static_cast<double>(x.size()));
}

/// Returns the integral between the powers a and b, over the logarithm of the power. The cubic goes through power *
/// mean at both ends, with the slopes power * mean + power^2 * variance.
double between(double a, const Moments& at_a, double b, const Moments& at_b) {
  const double h = std::log(b / a);
  const auto slope = [](double power, const Moments& m) { return power * m.mean + power * power * m.variance; };
  return h / 2 * (a * at_a.mean + b * at_b.mean) - h * h / 12 * (slope(b, at_b) - slope(a, at_a));
}

/// Returns the integral from the first power above 0 to 1, over the powers 1, 1 + step, ...
double over_rungs(const std::vector<double>& b, const std::vector<Moments>& m, std::size_t step) {
  double sum = 0;
  for (std::size_t i = 1; i + 1 < b.size();) {
    const std::size_t j = std::min(i + step, b.size() - 1);
    sum += between(b[i], m[i], b[j], m[j]);
    i = j;
  }
  return sum;
}

/// Returns a series, one number a draw, whose mean is the estimate to first order; so both have the same standard
/// error.
std::vector<double> influence(const std::vector<double>& b, const std::vector<std::vector<double>>& energy,
                              const std::vector<Moments>& m, double first) {
  std::vector<double> out(energy[0].size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    std::vector<Moments> here;
    for (std::size_t r = 0; r < b.size(); ++r) {
      const double off = energy[r][t] - m[r].mean;
      here.push_back({energy[r][t], off * off});
    }
    out[t] = std::exp(b[1] * energy[0][t] - first) + over_rungs(b, here, 1);
  }
  return out;
}

/// Returns the sd of a Normal variable with the same interquartile range. The prior's own sd need not exist.
double middle_half(std::vector<double> x) {
  std::ranges::sort(x);
  return (x[x.size() * 3 / 4] - x[x.size() / 4]) / 1.349;
}

}  // namespace

Evidence integrate(const std::vector<double>& powers, const std::vector<std::vector<double>>& energy,
                   double log_states) {
  Evidence out;
  std::vector<Moments> m;
  for (const std::vector<double>& e : energy)
    m.push_back(moments(e));
  out.powers = powers;
  for (const Moments& x : m) {
    out.mean.push_back(x.mean);
    out.sd.push_back(std::sqrt(x.variance));
  }
  const double first = log_mean_exp(energy[0], powers[1]), fine = over_rungs(powers, m, 1);
  const std::vector<double> series = influence(powers, energy, m, first);
  // The quadrature error is of fourth order: with half the powers it is sixteen times as large.
  const double quadrature = (fine - over_rungs(powers, m, 2)) / 15;
  out.log_evidence = log_states + first + fine;
  out.error = std::hypot(diagnose({series}).mcse, quadrature);
  return out;
}

Evidence combine_chains(const std::vector<Evidence>& chains) {
  Evidence out = chains.at(0);
  std::vector<double> estimates;
  double squares = 0;
  for (const Evidence& c : chains) {
    estimates.push_back(c.log_evidence);
    squares += c.error * c.error;
    out.exchanged = std::min(out.exchanged, c.exchanged);
  }
  const Moments m = moments(estimates);
  const auto n = static_cast<double>(chains.size());
  out.log_evidence = m.mean;
  // The disagreement between chains counts if it is larger than their own errors: they have then not mixed.
  out.error = std::max(std::sqrt(squares) / n, std::sqrt(m.variance / n));
  return out;
}

std::vector<double> equal_length_powers(const std::vector<double>& powers,
                                        const std::vector<std::vector<double>>& energy) {
  struct Rung {
    double power, sd, length = 0;
  };
  std::vector<Rung> rungs;
  for (std::size_t i = 0; i < powers.size(); ++i)
    rungs.push_back({powers[i], i == 0 ? middle_half(energy[0]) : std::sqrt(moments(energy[i]).variance)});
  // If the first power is too large for the prior, a power in between is inserted. It resembles the first one: the sd
  // falls in proportion to the power.
  if (const double near = 1 / rungs[0].sd; near < rungs[1].power)
    rungs.insert(rungs.begin() + 1, Rung{near, std::min(rungs[0].sd, rungs[1].power * rungs[1].sd / near)});
  // Within an interval powers are geometric, except in the first one, since 0 has no logarithm.
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    const Rung &a = rungs[i - 1], &b = rungs[i];
    rungs[i].length =
        a.length + (i == 1 ? b.power * b.sd : (a.power * a.sd + b.power * b.sd) / 2 * std::log(b.power / a.power));
  }
  const double whole = rungs.back().length, steps = static_cast<double>(powers.size() - 1);
  if (!(whole > 0) || !std::isfinite(whole)) return powers;
  std::vector<double> out = powers;
  for (std::size_t i = 1, at = 1; i + 1 < out.size(); ++i) {
    const double wanted = whole * static_cast<double>(i) / steps;
    while (rungs[at].length < wanted)
      ++at;
    const Rung &a = rungs[at - 1], &b = rungs[at];
    const double part = (wanted - a.length) / (b.length - a.length);
    out[i] = at == 1 ? part * b.power : a.power * std::pow(b.power / a.power, part);
  }
  return out;
}

}  // namespace lehr
