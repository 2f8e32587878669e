// Covariances of statistics are derivatives in the natural parameters: dE[T]/d eta = Cov(T), dE[x]/d eta = Cov(T, x)
// (Bishop 2006, section 2.4). They are central differences.
//
// Locations are measured from the present one. Otherwise x and x^2 would be almost proportional to each other for a
// mean of many standard deviations, and V almost singular.
#include "compiler/fit/factor_coordinates.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lehr {
namespace {

using math::Environment;
using math::Quantity;
using math::Stat;

/// The step of a difference, in standard deviations of the statistic.
constexpr double kStep = 1e-5;

/// Returns true for statistics that are 0 and only carry a limit.
bool is_limit(Stat s) { return s == Stat::above || s == Stat::below || s == Stat::lower || s == Stat::upper; }

/// Returns true if a shift of the value shifts the location of the factor and changes nothing else.
bool has_location(const math::Factor& f) {
  return find_role(f, math::ParameterRole::location) &&
         std::ranges::none_of(f.statistics, [](const math::StatisticRow& s) {
           return is_limit(s.stat) || s.stat == Stat::switched || s.stat == Stat::switched_square;
         });
}

/// Calls `f(quantity, index, second index)` for the independent entries of the naturals that are coordinates. Of a
/// symmetric matrix these are the entries on and above the diagonal; the second index is that of the mirrored entry.
template <class Naturals, class F>
void each_independent(const math::Factor& factor, std::size_t extent, Naturals& naturals, const F& f) {
  for (const math::StatisticRow& s : factor.statistics) {
    if (is_limit(s.stat)) continue;
    auto& q = naturals.at(math::natural_name(s.stat));
    if (q.rank < 2) {
      for (std::size_t i = 0; i < q.values.size(); ++i)
        f(q, i, i);
      continue;
    }
    for (std::size_t i = 0; i < extent; ++i)
      for (std::size_t j = i; j < extent; ++j)
        f(q, i * extent + j, j * extent + i);
  }
}

/// Returns true for a Normal factor of a number or a vector, without limits.
bool is_normal(const math::Factor& f) {
  return f.statistics.size() == 2 && find_role(f, math::ParameterRole::location) &&
         find_role(f, math::ParameterRole::precision) &&
         std::ranges::all_of(f.statistics, [](const math::StatisticRow& s) {
           return s.stat == Stat::value || s.stat == Stat::square || s.stat == Stat::comp || s.stat == Stat::comp2;
         });
}

/// Views the mean and the precision of a Normal factor as a vector and a matrix.
std::pair<Eigen::VectorXd, Eigen::MatrixXd> normal_parameters(const math::Factor& f, const Environment& parameters) {
  const auto& mean = parameters.symbols.at(find_role(f, math::ParameterRole::location)->name).values;
  const auto& precision = parameters.symbols.at(find_role(f, math::ParameterRole::precision)->name).values;
  const auto n = std::ssize(mean);
  return {Eigen::Map<const Eigen::VectorXd>(mean.data(), n), Eigen::Map<const Eigen::MatrixXd>(precision.data(), n, n)};
}

/// Returns the exported parameters of a factor one after another.
std::vector<double> exported(const math::Factor& factor, const Environment& parameters) {
  std::vector<double> out;
  for (const math::FactorParameter& p : factor.parameters) {
    if (!p.exported) continue;
    const std::vector<double>& values = parameters.symbols.at(p.name).values;
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

}  // namespace

std::optional<NormalCoordinates> NormalCoordinates::make(const Eigen::VectorXd& mean,
                                                         const Eigen::MatrixXd& precision) {
  const Eigen::LLT<Eigen::MatrixXd> root(precision);
  if (root.info() != Eigen::Success || !mean.allFinite() || !precision.allFinite()) return std::nullopt;
  NormalCoordinates out;
  out.mean_ = mean;
  out.root_ = root.matrixL();
  return out;
}

Eigen::VectorXd NormalCoordinates::coordinates(const Eigen::VectorXd& mean, const Eigen::MatrixXd& precision) const {
  // The precision of z at the coordinates is I - A, with A_ij = u_ij and A_ii = sqrt 2 u_ii.
  const Eigen::Index n = mean_.size();
  const auto lower = root_.triangularView<Eigen::Lower>();
  const Eigen::MatrixXd half = lower.solve(precision);
  const Eigen::MatrixXd of_z = lower.solve(half.transpose());
  Eigen::VectorXd out(size());
  out.head(n) = of_z * (lower.transpose() * (mean - mean_));
  Eigen::Index k = n;
  for (Eigen::Index i = 0; i < n; ++i) {
    out[k++] = (1 - of_z(i, i)) / std::numbers::sqrt2;
    for (Eigen::Index j = i + 1; j < n; ++j)
      out[k++] = -of_z(i, j);
  }
  return out;
}

void NormalCoordinates::at(const Eigen::VectorXd& coordinates, Eigen::VectorXd& mean,
                           Eigen::MatrixXd& precision) const {
  const Eigen::Index n = mean_.size();
  const auto lower = root_.triangularView<Eigen::Lower>();
  Eigen::MatrixXd of_z = Eigen::MatrixXd::Identity(n, n);
  Eigen::Index k = n;
  for (Eigen::Index i = 0; i < n; ++i) {
    of_z(i, i) -= std::numbers::sqrt2 * coordinates[k++];
    for (Eigen::Index j = i + 1; j < n; ++j)
      of_z(i, j) = of_z(j, i) = -coordinates[k++];
  }
  mean = mean_ + lower.transpose().solve(of_z.ldlt().solve(coordinates.head(n)));
  const Eigen::MatrixXd half = lower * of_z;
  precision = half * root_.transpose();
  precision = (precision + precision.transpose().eval()) / 2;
}

Eigen::VectorXd NormalCoordinates::slope(Eigen::Index number) const {
  const Eigen::Index n = mean_.size();
  Eigen::VectorXd out = Eigen::VectorXd::Zero(size());
  out.head(n) = root_.triangularView<Eigen::Lower>().solve(Eigen::VectorXd::Unit(n, number));
  return out;
}

FactorCoordinates::FactorCoordinates(const math::Factor& factor, const Environment& parameters)
    : factor_(&factor), extent_(parameters.extent) {
  moments_ = factor.moments(exported(factor, parameters), parameters.extent);
  if (is_normal(factor)) {
    const auto [mean, precision] = normal_parameters(factor, parameters);
    normal_ = NormalCoordinates::make(mean, precision);
    return;
  }
  for (const math::FactorParameter& p : factor.parameters)
    if (has_location(factor) && p.exported && p.role == math::ParameterRole::location)
      location_[p.name] = parameters.symbols.at(p.name);
  present_ = independent(parameters);
  Environment centred = parameters;
  for (const auto& [name, origin] : location_)
    std::ranges::fill(centred.symbols.at(name).values, 0.0);
  natural_ = natural_from_parameters(factor, centred);
}

std::optional<FactorCoordinates> FactorCoordinates::make(const math::Factor& factor, const Environment& parameters) {
  if (!factor.moments || factor.softmax) return std::nullopt;
  FactorCoordinates out(factor, parameters);
  if (out.moments_.sd.size() != out.moments_.mean.size()) return std::nullopt;
  if (!(is_normal(factor) ? out.normal_.has_value() : out.make_by_differences())) return std::nullopt;
  return out;
}

bool FactorCoordinates::make_by_differences() {
  if (present_.size() == 0 || !present_.allFinite()) return false;
  Eigen::MatrixXd covariance, gradients;
  if (!differentiate(covariance, gradients)) return false;
  const Eigen::LLT<Eigen::MatrixXd> root(covariance);
  if (root.info() != Eigen::Success) return false;
  root_ = root.matrixL();
  slopes_ = root.matrixL().solve(gradients).transpose();
  return slopes_.allFinite();
}

Eigen::VectorXd FactorCoordinates::independent(const Environment& parameters) const {
  Environment centred = parameters;
  for (const auto& [name, origin] : location_)
    for (std::size_t i = 0; i < origin.values.size(); ++i)
      centred.symbols.at(name).values[i] -= origin.values[i];
  auto naturals = natural_from_parameters(*factor_, centred);
  std::vector<double> out;
  each_independent(*factor_, extent_, naturals,
                   [&](const Quantity& q, std::size_t i, std::size_t) { out.push_back(q.values[i]); });
  return Eigen::Map<const Eigen::VectorXd>(out.data(), std::ssize(out));
}

Environment FactorCoordinates::from_independent(const Eigen::VectorXd& independent, bool centred) const {
  auto naturals = natural_;
  Eigen::Index k = 0;
  each_independent(*factor_, extent_, naturals, [&](Quantity& q, std::size_t i, std::size_t mirrored) {
    q.values[i] = q.values[mirrored] = independent[k++];
  });
  Environment out{extent_, parameters_from_natural(*factor_, {extent_, naturals})};
  if (!centred)
    for (const auto& [name, origin] : location_)
      for (std::size_t i = 0; i < origin.values.size(); ++i)
        out.symbols.at(name).values[i] += origin.values[i];
  return out;
}

Eigen::VectorXd FactorCoordinates::coordinates(const Environment& parameters) const {
  if (!normal_) return root_.transpose() * (independent(parameters) - present_);
  const auto [mean, precision] = normal_parameters(*factor_, parameters);
  return normal_->coordinates(mean, precision);
}

Environment FactorCoordinates::at(const Eigen::VectorXd& coordinates) const {
  if (!normal_)
    return from_independent(present_ + root_.transpose().triangularView<Eigen::Upper>().solve(coordinates), false);
  Eigen::VectorXd mean;
  Eigen::MatrixXd precision;
  normal_->at(coordinates, mean, precision);
  const math::FactorParameter &of_mean = *find_role(*factor_, math::ParameterRole::location),
                              &of_precision = *find_role(*factor_, math::ParameterRole::precision);
  Environment out{extent_, {}};
  out.symbols[of_mean.name] = {of_mean.event_rank, {mean.begin(), mean.end()}};
  out.symbols[of_precision.name] = {of_precision.event_rank, {precision.data(), precision.data() + precision.size()}};
  return out;
}

Eigen::VectorXd FactorCoordinates::slope(Eigen::Index number) const {
  return normal_ ? normal_->slope(number) : Eigen::VectorXd(slopes_.row(number).transpose());
}

std::optional<Eigen::VectorXd> FactorCoordinates::expected(const Eigen::VectorXd& independent) const {
  const Environment parameters = from_independent(independent, true);
  if (!is_proper(*factor_, parameters)) return std::nullopt;
  std::map<std::string, Quantity> statistics;
  std::vector<double> out;
  for (const math::StatisticRow& s : factor_->statistics)
    statistics[math::natural_name(s.stat)] =
        evaluate_all(s.expectation, parameters, natural_.at(math::natural_name(s.stat)).rank);
  // The natural parameter of an entry beside the diagonal multiplies both of its equal statistics.
  each_independent(*factor_, extent_, statistics, [&](const Quantity& q, std::size_t i, std::size_t mirrored) {
    out.push_back(i == mirrored ? q.values[i] : q.values[i] + q.values[mirrored]);
  });
  const math::MeanAndSd moments = factor_->moments(exported(*factor_, parameters), extent_);
  out.insert(out.end(), moments.mean.begin(), moments.mean.end());
  return Eigen::Map<const Eigen::VectorXd>(out.data(), std::ssize(out));
}

bool FactorCoordinates::differentiate(Eigen::MatrixXd& covariance, Eigen::MatrixXd& gradients) const {
  const Eigen::Index n = present_.size(), numbers = std::ssize(moments_.mean);
  covariance.resize(n, n);
  gradients.resize(n, numbers);
  for (Eigen::Index i = 0; i < n; ++i) {
    // The first differences only say how large a standard deviation is.
    double step = kStep * std::max(std::abs(present_[i]), 0.01);
    std::optional<Eigen::VectorXd> slope;
    for (int trial = 0; trial < 12; ++trial) {
      Eigen::VectorXd up = present_, down = present_;
      up[i] += step, down[i] -= step;
      const double width = up[i] - down[i];
      const std::optional<Eigen::VectorXd> a = expected(up), b = expected(down);
      slope.reset();
      if (a && b && a->allFinite() && b->allFinite() && width > 0) slope = (*a - *b) / width;
      const double variance = slope ? (*slope)[i] : 0;
      const double wanted = variance > 0 ? kStep / std::sqrt(variance) : step / 10;
      if (variance > 0 && step < 3 * wanted && step > wanted / 3) break;
      step = wanted;
    }
    if (!slope) return false;
    covariance.col(i) = slope->head(n);
    gradients.row(i) = slope->tail(numbers).transpose();
  }
  covariance = (covariance + covariance.transpose().eval()) / 2;
  return covariance.allFinite() && gradients.allFinite();
}

}  // namespace lehr
