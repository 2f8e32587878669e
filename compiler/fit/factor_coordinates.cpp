// Covariances of statistics are derivatives in the natural parameters: dE[T]/d eta = Cov(T), dE[x]/d eta = Cov(T, x)
// (Bishop 2006, section 2.4). They are central differences.
//
// Locations are measured from the present one. Otherwise x and x^2 would be almost proportional to each other for a
// mean of many standard deviations, and V almost singular.
#include "compiler/fit/factor_coordinates.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

FactorCoordinates::FactorCoordinates(const math::Factor& factor, const Environment& parameters)
    : factor_(&factor), extent_(parameters.extent) {
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
  if (out.present_.size() == 0 || !out.present_.allFinite()) return std::nullopt;
  std::vector<double> flat;
  for (const math::FactorParameter& p : factor.parameters) {
    if (!p.exported) continue;
    const std::vector<double>& values = parameters.symbols.at(p.name).values;
    flat.insert(flat.end(), values.begin(), values.end());
  }
  out.moments_ = factor.moments(flat, parameters.extent);
  if (out.moments_.sd.size() != out.moments_.mean.size()) return std::nullopt;
  Eigen::MatrixXd covariance, gradients;
  if (!out.differentiate(covariance, gradients)) return std::nullopt;
  const Eigen::LLT<Eigen::MatrixXd> root(covariance);
  if (root.info() != Eigen::Success) return std::nullopt;
  out.root_ = root.matrixL();
  out.slopes_ = root.matrixL().solve(gradients).transpose();
  if (!out.slopes_.allFinite()) return std::nullopt;
  return out;
}

std::size_t FactorCoordinates::count(const math::Factor& factor, std::size_t extent) {
  std::size_t out = 0;
  for (const math::StatisticRow& s : factor.statistics) {
    const int rank = free_event_rank(s.natural);
    if (!is_limit(s.stat)) out += rank == 0 ? 1 : rank == 1 ? extent : extent * (extent + 1) / 2;
  }
  return out;
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

Environment FactorCoordinates::at(const Eigen::VectorXd& independent, bool centred) const {
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
  return root_.transpose() * (independent(parameters) - present_);
}

Environment FactorCoordinates::along(Eigen::Index i, double step) const {
  const Eigen::VectorXd u = Eigen::VectorXd::Unit(size(), i) * step;
  return at(present_ + root_.transpose().triangularView<Eigen::Upper>().solve(u), false);
}

std::optional<Eigen::VectorXd> FactorCoordinates::expected(const Eigen::VectorXd& independent) const {
  const Environment parameters = at(independent, true);
  if (!is_proper(*factor_, parameters)) return std::nullopt;
  std::map<std::string, Quantity> statistics;
  std::vector<double> out, flat;
  for (const math::StatisticRow& s : factor_->statistics)
    statistics[math::natural_name(s.stat)] =
        evaluate_all(s.expectation, parameters, natural_.at(math::natural_name(s.stat)).rank);
  // The natural parameter of an entry beside the diagonal multiplies both of its equal statistics.
  each_independent(*factor_, extent_, statistics, [&](const Quantity& q, std::size_t i, std::size_t mirrored) {
    out.push_back(i == mirrored ? q.values[i] : q.values[i] + q.values[mirrored]);
  });
  for (const math::FactorParameter& p : factor_->parameters) {
    if (!p.exported) continue;
    const std::vector<double>& values = parameters.symbols.at(p.name).values;
    flat.insert(flat.end(), values.begin(), values.end());
  }
  const math::MeanAndSd moments = factor_->moments(flat, extent_);
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
