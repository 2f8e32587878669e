// Regresses a number on the sufficient statistics of its factor. Covariances are derivatives in the natural parameters:
// dE[T]/d eta = Cov(T), dE[x]/d eta = Cov(T, x) (Bishop 2006, section 2.4). They are taken by central differences.
#include "compiler/diagnose/perturbation_direction.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace lehr {
namespace {

/// Factors with more statistics have no direction.
constexpr std::size_t kMaxStatistics = 200;
/// The step of a difference, relative to the natural parameter.
constexpr double kStep = 1e-5;

using math::Environment;
using Naturals = std::map<std::string, math::Quantity>;

/// Expectations under a factor.
struct Expected {
  Eigen::VectorXd statistics;  // E[T]
  double mean = 0;             // the mean of the value's component
};

/// A factor whose natural parameters can be moved.
class Moved {
 public:
  Moved(const math::Factor& f, const Environment& parameters, std::size_t k)
      : factor_(f), extent_(parameters.extent), k_(k), naturals_(natural_from_parameters(f, parameters)) {
    for (const math::StatisticRow& s : f.statistics)
      names_.push_back(math::natural_name(s.stat));
  }

  /// Returns the number of natural parameters.
  std::size_t size() const {
    std::size_t n = 0;
    for (const std::string& name : names_)
      n += naturals_.at(name).values.size();
    return n;
  }

  /// Returns the expectations with natural parameter i moved; nullopt if the factor is then improper.
  std::optional<Expected> at(std::size_t i, double by) const {
    Naturals naturals = naturals_;
    natural(naturals, i) += by;
    const Environment parameters{extent_, parameters_from_natural(factor_, {extent_, naturals})};
    if (!is_proper(factor_, parameters)) return std::nullopt;
    std::vector<double> flat, statistics;
    for (const math::FactorParameter& p : factor_.parameters) {
      if (!p.exported) continue;
      const std::vector<double>& values = parameters.symbols.at(p.name).values;
      flat.insert(flat.end(), values.begin(), values.end());
    }
    for (const math::StatisticRow& s : factor_.statistics) {
      const std::vector<double> values = evaluate_all(s.expectation, parameters, math::event_rank(s.stat)).values;
      statistics.insert(statistics.end(), values.begin(), values.end());
    }
    const math::MeanAndSd moments = factor_.moments(flat, extent_);
    return Expected{Eigen::Map<Eigen::VectorXd>(statistics.data(), std::ssize(statistics)), moments.mean.at(k_)};
  }

  /// Returns natural parameter i.
  double natural(std::size_t i) const {
    Naturals naturals = naturals_;
    return natural(naturals, i);
  }

  /// Splits a vector over all statistics by statistic.
  std::vector<std::vector<double>> by_statistic(const Eigen::VectorXd& all) const {
    std::vector<std::vector<double>> out;
    Eigen::Index at = 0;
    for (const std::string& name : names_) {
      const auto n = std::ssize(naturals_.at(name).values);
      out.emplace_back(all.data() + at, all.data() + at + n);
      at += n;
    }
    return out;
  }

 private:
  /// Returns a reference to number i among all natural parameters.
  double& natural(Naturals& naturals, std::size_t i) const {
    for (const std::string& name : names_) {
      std::vector<double>& values = naturals.at(name).values;
      if (i < values.size()) return values[i];
      i -= values.size();
    }
    return naturals.begin()->second.values.front();
  }

  const math::Factor& factor_;
  std::size_t extent_, k_;
  Naturals naturals_;
  std::vector<std::string> names_;
};

}  // namespace

std::optional<PerturbationDirection> perturbation_direction(const math::Factor& f, const Environment& parameters,
                                                            std::size_t k) {
  const bool matrix =
      std::ranges::any_of(f.statistics, [](const math::StatisticRow& s) { return math::event_rank(s.stat) > 1; });
  if (matrix || !f.moments || f.softmax) return std::nullopt;
  const Moved moved(f, parameters, k);
  const std::size_t n = moved.size();
  if (n == 0 || n > kMaxStatistics) return std::nullopt;
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd covariance(size, size);
  Eigen::VectorXd gradient(size);
  for (std::size_t i = 0; i < n; ++i) {
    // A step that leaves the domain of the factor is shortened.
    double h = kStep * std::max(std::abs(moved.natural(i)), 0.01);
    std::optional<Expected> up, down;
    for (int shorter = 0; shorter < 8 && !(up && down); ++shorter, h /= 10) {
      up = moved.at(i, h), down = moved.at(i, -h);
      if (up && down) {
        covariance.col(static_cast<Eigen::Index>(i)) = (up->statistics - down->statistics) / (2 * h);
        gradient[static_cast<Eigen::Index>(i)] = (up->mean - down->mean) / (2 * h);
      }
    }
    if (!up || !down) return std::nullopt;
  }
  const Eigen::VectorXd beta = covariance.fullPivLu().solve(gradient);
  const double explained = beta.dot(gradient);
  if (!beta.allFinite() || !(explained > 0) || !std::isfinite(explained)) return std::nullopt;
  return PerturbationDirection{moved.by_statistic(beta), explained};
}

}  // namespace lehr
