// Properties that every row of the family table must have, each tested in a loop over the rows. For example, densities
// have mass one, draws follow the density, and expected statistics are the gradient of the log normaliser. Masses are
// computed without the row's own normaliser; otherwise a density that lacks a constant would agree with itself.
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "compiler/math/factor_draw.h"
#include "tests/math/integrate.h"
#include "tests/math/samples.h"

using namespace lehr;
using namespace lehr::math;
using namespace lehr::math::test;

namespace {

/// Calls f(row, parameters) for every proper row and parameter set.
template <class F>
void for_all_rows(const F& f) {
  for (const FamilyRow& row : families()) {
    for (int set = 0; set < kParameterSets && !row.improper; ++set) {
      INFO(row.name << ", parameter set " << set);
      f(row, sample_parameters(row, set));
    }
  }
}

/// f(row, parameters of the factor) likewise, away from the symmetric point where a density has only one
/// (Spin).
template <class F>
void for_all_factors(const F& f) {
  for_all_rows([&](const FamilyRow& row, const Environment& density) {
    if (!row.factor) return;
    const Environment start{density.extent, parameters_from_density(*row.factor, density)};
    Environment natural{density.extent, natural_from_parameters(*row.factor, start)};
    for (auto& [name, q] : natural.symbols) {
      for (double& v : q.values)
        v = 1.05 * v + (q.rank < 2 && v >= 0.0 ? 0.1 : 0.0);
    }
    const Environment parameters{density.extent, parameters_from_natural(*row.factor, natural)};
    REQUIRE(is_proper(*row.factor, parameters));
    f(row, parameters);
  });
}

Environment natural_environment(const Factor& factor, const Environment& parameters) {
  return {parameters.extent, natural_from_parameters(factor, parameters)};
}

/// Running mean and standard error.
struct Average {
  double count = 0.0, mean = 0.0, scatter = 0.0;
  void add(double x) {
    count += 1.0;
    const double off = x - mean;
    mean += off / count;
    scatter += off * (x - mean);
  }
  double error() const { return std::sqrt(scatter / count / (count - 1.0)); }
};

/// The error of sums over a grid if a density has a kink between two points.
constexpr double kKink = 1e-4;

double bounded(double x) { return x / (1.0 + std::abs(x)); }

/// Returns all numbers of a value mapped into (-1, 1), so that every moment exists.
std::vector<double> squashed(const std::map<std::string, Quantity>& value) {
  std::vector<double> result;
  for (const char* name : {"x", "x_precision"}) {
    const auto found = value.find(name);
    if (found == value.end()) continue;
    for (double v : found->second.values)
      result.push_back(bounded(v));
  }
  return result;
}

std::vector<double> expectations(const StatisticRow& s, const Environment& parameters) {
  return evaluate_all(s.expectation, parameters, free_event_rank(s.natural)).values;
}

/// Returns true if the parameters satisfy the condition that Factor::mode states.
bool has_interior_mode(const Factor& factor, const Environment& parameters) {
  bool interior = true;
  for (const StatisticRow& s : factor.statistics) {
    if (s.stat == Stat::inverse) return true;
    if (s.stat != Stat::log && s.stat != Stat::log1m && s.stat != Stat::log_comp && s.stat != Stat::logdet) continue;
    for (double n : evaluate_all(s.natural, parameters, free_event_rank(s.natural)).values)
      interior = interior && n > 0.0;
  }
  return interior;
}

}  // namespace

TEST_CASE("densities have mass one") {
  for_all_rows([](const FamilyRow& row, const Environment& parameters) {
    const Estimate mass = integrate(row, parameters, 1.0, [](const Environment&) { return 1.0; });
    CHECK(mass.error < 0.02);
    CHECK(std::abs(mass.value - 1.0) < 5.0 * mass.error + kKink);
  });
}

TEST_CASE("draws follow the density") {
  for_all_rows([](const FamilyRow& row, const Environment& parameters) {
    Rng rng(3);
    const std::size_t numbers = squashed(draw_value(row, parameters, rng)).size();
    std::vector<Average> first(numbers), second(numbers);
    for (int i = 0; i < 20000; ++i) {
      const std::vector<double> x = squashed(draw_value(row, parameters, rng));
      for (std::size_t j = 0; j < numbers; ++j)
        first[j].add(x[j]), second[j].add(x[j] * x[j]);
    }
    const std::vector<Estimate> moments = integrate_all(row, parameters, 1.0, [&](const Environment& e) {
      const std::vector<double> x = squashed(e.symbols);
      const auto values = Eigen::Map<const Eigen::ArrayXd>(x.data(), std::ssize(x));
      Eigen::ArrayXd out(2 * values.size());
      out << values, values.square();
      return out;
    });
    for (std::size_t j = 0; j < numbers; ++j) {
      INFO("component " << j);
      const Estimate mean = moments[j], square = moments[numbers + j];
      CHECK(std::abs(first[j].mean - mean.value) < 5.0 * std::hypot(first[j].error(), mean.error));
      CHECK(std::abs(second[j].mean - square.value) < 5.0 * std::hypot(second[j].error(), square.error));
    }
  });
}

TEST_CASE("draws match the expected statistics") {
  for_all_rows([](const FamilyRow& row, const Environment& density) {
    if (!row.factor) return;
    const Environment parameters{density.extent, parameters_from_density(*row.factor, density)};
    for (const StatisticRow& s : row.factor->statistics) {
      INFO(name_of(s.stat));
      const std::vector<double> expected = expectations(s, parameters);
      std::vector<Average> averages(expected.size());
      Rng rng(5);
      for (int i = 0; i < 20000; ++i) {
        const std::vector<double> t = statistic(s.stat, draw_value(row, density, rng), density.extent);
        REQUIRE(t.size() == expected.size());
        for (std::size_t j = 0; j < t.size(); ++j)
          averages[j].add(t[j]);
      }
      for (std::size_t j = 0; j < expected.size(); ++j)
        CHECK(std::abs(averages[j].mean - expected[j]) < 5.0 * averages[j].error() + 1e-12);
    }
  });
}

TEST_CASE("means and standard deviations are those of draws") {
  for_all_rows([](const FamilyRow& row, Environment density) {
    if (!row.factor) return;
    for (const Spelling& s : row.spellings) {  // away from parameters without moments
      if (s.convert || s.domain != Support::positive) continue;
      for (double& v : density.symbols.at(s.name).values)
        v += 8.0;
    }
    const auto exported = parameters_from_density(*row.factor, density);
    std::vector<double> flat;
    for (const FactorParameter& p : row.factor->parameters) {
      if (p.exported) flat.insert(flat.end(), exported.at(p.name).values.begin(), exported.at(p.name).values.end());
    }
    REQUIRE(row.factor->moments);
    const MeanAndSd m = row.factor->moments(flat, density.extent);
    CHECK(m.sd.empty() == is_discrete(row.support));
    std::vector<Average> first(m.mean.size()), second(m.mean.size());
    Rng rng(23);
    for (int i = 0; i < 20000; ++i) {
      std::vector<double> x;
      const auto drawn = draw_value(row, density, rng);
      if (row.support == Support::category) {
        x.resize(m.mean.size());
        x.at(static_cast<std::size_t>(drawn.at("x").values[0])) = 1.0;
      } else {
        for (const auto& [name, q] : drawn)
          x.insert(x.end(), q.values.begin(), q.values.end());
      }
      REQUIRE(x.size() == m.mean.size());
      for (std::size_t j = 0; j < x.size(); ++j) {
        first[j].add(x[j]);
        second[j].add((x[j] - m.mean[j]) * (x[j] - m.mean[j]));
      }
    }
    for (std::size_t j = 0; j < m.mean.size(); ++j) {
      INFO("component " << j);
      CHECK(std::abs(first[j].mean - m.mean[j]) < 5.0 * first[j].error() + 1e-12);
      if (!m.sd.empty()) CHECK(std::abs(second[j].mean - m.sd[j] * m.sd[j]) < 5.0 * second[j].error());
    }
    if (const Factor* point = point_factor(row)) {
      const MeanAndSd alone = point->moments(flat, density.extent);
      CHECK(alone.mean == flat);
      CHECK(alone.sd.empty());
    }
  });
}

TEST_CASE("draws by the parameters of a factor have its expected statistics") {
  for_all_factors([](const FamilyRow& row, const Environment& parameters) {
    const Draw draw = factor_draw(row, *row.factor, parameters);
    REQUIRE(draw);
    for (const StatisticRow& s : row.factor->statistics) {
      INFO(name_of(s.stat));
      const std::vector<double> expected = expectations(s, parameters);
      std::vector<Average> averages(expected.size());
      Rng rng(31);
      for (int i = 0; i < 20000; ++i) {
        const std::vector<double> t = statistic(s.stat, as_value(row, draw(rng), parameters.extent), parameters.extent);
        REQUIRE(t.size() == expected.size());
        for (std::size_t j = 0; j < t.size(); ++j)
          averages[j].add(t[j]);
      }
      for (std::size_t j = 0; j < expected.size(); ++j)
        CHECK(std::abs(averages[j].mean - expected[j]) < 5.0 * averages[j].error() + 1e-12);
    }
  });
}

TEST_CASE("the log density is natural times statistic minus the log normaliser") {
  for_all_rows([](const FamilyRow& row, const Environment& density) {
    if (!row.factor) return;
    const Environment parameters{density.extent, parameters_from_density(*row.factor, density)};
    const Environment natural = natural_environment(*row.factor, parameters);
    Rng rng(13);
    for (int i = 0; i < 20; ++i) {
      const auto x = draw_value(row, density, rng);
      double expected = -log_normaliser(*row.factor, natural);
      for (const StatisticRow& s : row.factor->statistics) {
        const std::vector<double>& n = natural.symbols.at(natural_name(s.stat)).values;
        const std::vector<double> t = statistic(s.stat, x, density.extent);
        expected = std::inner_product(n.begin(), n.end(), t.begin(), expected);
      }
      Environment at = density;
      at.symbols.insert(x.begin(), x.end());
      CHECK(evaluate(row.log_density, at) == Approx(expected).epsilon(1e-10).margin(1e-10));
    }
  });
}

TEST_CASE("expected statistics are the gradient of the log normaliser") {
  for_all_factors([](const FamilyRow& row, const Environment& parameters) {
    const Environment natural = natural_environment(*row.factor, parameters);
    for (const StatisticRow& s : row.factor->statistics) {
      INFO(name_of(s.stat));
      const std::string name = natural_name(s.stat);
      const std::vector<double> expected = expectations(s, parameters);
      const std::size_t extent = parameters.extent;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const bool matrix = natural.symbols.at(name).rank == 2;
        const std::size_t mirror = matrix ? (i % extent) * extent + i / extent : i;
        const auto shifted = [&](double by) {
          Environment moved = natural;
          moved.symbols[name].values[i] += by;
          if (mirror != i) moved.symbols[name].values[mirror] += by;
          return log_normaliser(*row.factor, moved);
        };
        constexpr double kStep = 1e-4;
        const double gradient =
            (8.0 * (shifted(kStep) - shifted(-kStep)) - (shifted(2 * kStep) - shifted(-2 * kStep))) / (12.0 * kStep);
        CHECK(gradient ==
              Approx(mirror == i ? expected[i] : expected[i] + expected[mirror]).epsilon(1e-7).margin(1e-8));
      }
    }
  });
}

TEST_CASE("natural and ordinary parameters are inverse maps") {
  for_all_factors([](const FamilyRow& row, const Environment& parameters) {
    const Environment natural = natural_environment(*row.factor, parameters);
    const auto back = parameters_from_natural(*row.factor, natural);
    REQUIRE(back.size() == parameters.symbols.size());
    for (const auto& [name, q] : parameters.symbols) {
      INFO(name);
      REQUIRE(back.at(name).values.size() == q.values.size());
      for (std::size_t i = 0; i < q.values.size(); ++i)
        CHECK(back.at(name).values[i] == Approx(q.values[i]).epsilon(1e-10).margin(1e-12));
    }
    for (const StatisticRow& s : row.factor->statistics) {
      const Quantity& n = natural.symbols.at(natural_name(s.stat));
      CHECK(n.rank == (s.stat == Stat::weighted ? event_rank(row.support) : event_rank(s.stat)));
    }
  });
}

TEST_CASE("entropy is the log normaliser minus natural times expectation") {
  for_all_factors([](const FamilyRow& row, const Environment& parameters) {
    const Environment natural = natural_environment(*row.factor, parameters);
    double expected = log_normaliser(*row.factor, natural);
    for (const StatisticRow& s : row.factor->statistics) {
      const std::vector<double>& n = natural.symbols.at(natural_name(s.stat)).values;
      const std::vector<double> t = expectations(s, parameters);
      REQUIRE(n.size() == t.size());
      for (std::size_t i = 0; i < n.size(); ++i)
        expected -= n[i] * t[i];
    }
    CHECK(evaluate(row.factor->entropy, parameters) == Approx(expected).epsilon(1e-10).margin(1e-10));
    if (row.factor->entropy_from_statistics) {
      Environment known = parameters;
      for (const StatisticRow& s : row.factor->statistics)
        known.symbols[expected_name(s.stat)] = {event_rank(s.stat), expectations(s, parameters)};
      CHECK(evaluate(*row.factor->entropy_from_statistics, known) == Approx(expected).epsilon(1e-10).margin(1e-10));
    }
    if (!row.factor->softmax)
      CHECK(evaluate(row.factor->log_normaliser, parameters) == Approx(log_normaliser(*row.factor, natural)));
  });
}

TEST_CASE("entropy is minus the mean log density of draws") {
  for_all_rows([](const FamilyRow& row, const Environment& density) {
    if (!row.factor) return;
    const Environment parameters{density.extent, parameters_from_density(*row.factor, density)};
    Rng rng(17);
    Average surprise;
    for (int i = 0; i < 20000; ++i) {
      Environment at = density;
      at.symbols.merge(draw_value(row, density, rng));
      surprise.add(-evaluate(row.log_density, at));
    }
    CHECK(std::abs(evaluate(row.factor->entropy, parameters) - surprise.mean) < 5.0 * surprise.error() + 1e-12);
  });
}

TEST_CASE("tempered normalisers are integrals of the tempered density") {
  for (const double temperature : {0.8, 1.0, 1.4, 3.0}) {
    for_all_rows([&](const FamilyRow& row, const Environment& parameters) {
      INFO("temperature " << temperature);
      if (row.compound) return;
      // The tails of inverse families at high temperatures reach beyond the grid.
      if (temperature > 1 && row.factor &&
          std::ranges::find(row.factor->statistics, Stat::inverse_entry, &StatisticRow::stat) !=
              row.factor->statistics.end())
        return;
      const double claimed = tempered_log_normaliser(row, parameters, temperature);
      if (claimed == HUGE_VAL) return;
      const Estimate mass = integrate(row, parameters, temperature, [](const Environment&) { return 1.0; });
      CHECK(std::abs(claimed - std::log(mass.value)) < 5.0 * mass.error / mass.value + kKink);
    });
  }
}

TEST_CASE("every spelling means what its name says") {
  // Scaling: p(s x | s mean, s^power v) = p(x | mean, v) / s^dim, and v = 1 means a canonical parameter of 1.
  const std::map<std::string, double> power{{"sd", 1},         {"variance", 2}, {"covariance", 2},
                                            {"precision", -2}, {"scale", 1},    {"rate", -1}};
  for_all_rows([&](const FamilyRow& row, const Environment& parameters) {
    for (const Spelling& s : row.spellings) {
      if (s.convert) {
        const Environment unit{parameters.extent, {{s.name, {0, {1.0}}}}};
        for (std::size_t j = 0; j < (s.event_rank == 2 ? parameters.extent : 1); ++j)
          CHECK(evaluate(*s.convert, unit, j, j) == 1.0);
      }
      const bool continuous = row.support == Support::real || row.support == Support::positive ||
                              row.support == Support::vector || row.support == Support::spd_matrix;
      if (!power.contains(s.name) || !continuous || row.joint_precision) continue;
      if (row.name == "LogNormal") continue;  // these are parameters of its logarithm
      INFO(s.name);
      constexpr double kFactor = 1.7;
      Rng rng(19);
      const auto x = draw_value(row, parameters, rng);
      const auto log_density = [&](double factor) {
        Environment spelled = parameters;
        spelled.symbols.erase(s.canonical);
        spelled.symbols[s.name] = sample_parameters(row, 0).symbols.at(s.canonical);
        for (double& v : spelled.symbols[s.name].values)
          v *= std::pow(factor, power.at(s.name));
        if (spelled.symbols.contains("mean"))
          for (double& v : spelled.symbols["mean"].values)
            v *= factor;
        Environment at{parameters.extent, canonical_parameters(row, spelled)};
        at.symbols["x"] = x.at("x");
        for (double& v : at.symbols["x"].values)
          v *= factor;
        return evaluate(row.log_density, at);
      };
      const double extent = static_cast<double>(parameters.extent);
      const double dimensions = row.support == Support::spd_matrix ? 0.5 * extent * (extent + 1.0)
                                : row.support == Support::vector   ? extent
                                                                   : 1.0;
      CHECK(log_density(kFactor) == Approx(log_density(1.0) - dimensions * std::log(kFactor)));
    }
  });
}

TEST_CASE("the mode is a maximum of the density") {
  for_all_rows([](const FamilyRow& row, const Environment& density) {
    if (!row.factor || !row.factor->mode) return;
    const Environment parameters{density.extent, parameters_from_density(*row.factor, density)};
    Environment at = density;
    const int rank = event_rank(row.support);
    at.symbols["x"] = evaluate_all(*row.factor->mode, parameters, rank);
    const double top = evaluate(row.log_density, at);
    if (!has_interior_mode(*row.factor, parameters)) return;
    const std::vector<double> mode = at.symbols["x"].values;
    const bool discrete = row.support == Support::bit || row.support == Support::spin || row.support == Support::count;
    if (discrete) {
      for (const double x : {-1.0, 0.0, 1.0, 2.0, 5.0}) {
        if ((row.support == Support::bit && x != 0.0 && x != 1.0) ||
            (row.support == Support::spin && std::abs(x) != 1.0) || x < 0.0)
          continue;
        at.symbols["x"].values = {x};
        CHECK(evaluate(row.log_density, at) <= top);
      }
      return;
    }
    const std::size_t extent = density.extent;
    for (std::size_t i = 0; i < mode.size(); ++i) {
      for (const double step : {1e-3, -1e-3}) {
        std::vector<double> x = mode;
        x[i] += step;
        if (row.support == Support::simplex) x[(i + 1) % extent] -= step;
        if (rank == 2 && i / extent != i % extent) x[(i % extent) * extent + i / extent] += step;
        at.symbols["x"].values = x;
        const double there = evaluate(row.log_density, at);
        CHECK((there <= top || std::isnan(there)));
      }
    }
  });
}

TEST_CASE("a point factor is where the naturals times the statistics are largest") {
  for_all_rows([](const FamilyRow& row, const Environment& density) {
    const Factor* point = point_factor(row);
    if (!point || row.factor->softmax || row.support == Support::bit || row.support == Support::spin ||
        row.support == Support::count)
      return;
    const Environment ordinary{density.extent, parameters_from_density(*row.factor, density)};
    if (!has_interior_mode(*row.factor, ordinary)) return;
    const Environment natural{density.extent, natural_from_parameters(*row.factor, ordinary)};
    Environment value{density.extent, parameters_from_natural(*point, natural)};
    REQUIRE(value.symbols.size() == 1);
    const auto energy = [&] {
      double total = 0.0;
      for (const StatisticRow& s : point->statistics) {
        const Quantity &n = natural.symbols.at(natural_name(s.stat)), t = evaluate_all(s.expectation, value, n.rank);
        for (std::size_t i = 0; i < t.values.size(); ++i)
          total += n.values[i] * t.values[i];
      }
      return total;
    };
    const double top = energy();
    std::vector<double>& x = value.symbols.at("value").values;
    const std::vector<double> mode = x;
    const std::size_t extent = density.extent;
    for (std::size_t i = 0; i < mode.size(); ++i) {
      for (const double step : {1e-3, -1e-3}) {
        x = mode;
        x[i] += step;
        if (row.support == Support::simplex) x[(i + 1) % extent] -= step;
        if (event_rank(row.support) == 2 && i / extent != i % extent) x[(i % extent) * extent + i / extent] += step;
        const double there = energy();
        CHECK((there <= top + 1e-12 * std::abs(top) || std::isnan(there)));
      }
    }
  });
}

TEST_CASE("the bound of log logistic lies below it, touches it at xi, and the update of xi makes it tightest") {
  const Factor& f = *logistic_bound().factor;
  const auto statistic = [&](std::size_t k, double xi) {
    return evaluate(f.statistics[k].expectation, {1, {{"value", {0, {xi}}}}});
  };
  for (const double xi : {0.0, 1e-3, 9.99e-3, 1.001e-2, 0.3, 2.0, 30.0}) {
    const auto bound = [&](double e) { return 0.5 * e + statistic(1, xi) - statistic(0, xi) * e * e; };
    for (double e = -30.0; e <= 30.0; e += 0.37)
      CHECK(bound(e) <= -std::log1p(std::exp(-e)) + 1e-13);
    CHECK(bound(xi) == Approx(-std::log1p(std::exp(-xi))).margin(1e-14));
    CHECK(bound(-xi) == Approx(-std::log1p(std::exp(xi))).epsilon(1e-14).margin(1e-14));
  }
  // naturals of 3 observations whose E[eta^2] sum to 5
  const Environment natural{1, {{"n_curvature", {0, {-5.0}}}, {"n_offset", {0, {3.0}}}}};
  const double best = parameters_from_natural(f, natural).at("value").values[0];
  CHECK(best == Approx(std::sqrt(5.0 / 3.0)));
  const auto energy = [&](double xi) { return 3.0 * statistic(1, xi) - 5.0 * statistic(0, xi); };
  CHECK(energy(best) > energy(best + 1e-3));
  CHECK(energy(best) > energy(best - 1e-3));
}

TEST_CASE("bounds of one number touch what they bound and lie on one side of it") {
  const auto at = [](const FamilyRow& row, std::size_t k, double point) {
    return evaluate(row.factor->statistics[k].expectation, {1, {{"value", {0, {point}}}}});
  };
  const FamilyRow &size = absolute_bound(), &gamma = log_gamma_bound();
  for (const double point : {0.03, 0.7, 2.0, 40.0}) {
    const auto above = [&](double e) { return 0.5 * (e * e * at(size, 1, point) + at(size, 0, point)); };
    const auto below = [&](double e) { return at(gamma, 1, point) + at(gamma, 0, point) * e; };
    for (double e = 0.01; e <= 50.0; e *= 1.3) {
      CHECK(above(e) >= e * (1 - 1e-12));
      CHECK(below(e) <= std::lgamma(e) + 1e-11 * (1 + std::abs(std::lgamma(e))));
    }
    CHECK(above(point) == Approx(point));
    CHECK(below(point) == Approx(std::lgamma(point)).margin(1e-12));
  }
}

TEST_CASE("points of families without a normaliser are where their terms are largest") {
  struct Case {
    std::vector<Stat> statistics;
    std::vector<double> naturals;
  };
  const std::vector<Case> cases = {
      {{Stat::value, Stat::inverse, Stat::log}, {-2.0, -3.0, -4.5}},
      {{Stat::value, Stat::inverse, Stat::log}, {0.0, -3.0, -4.5}},
      {{Stat::value, Stat::inverse, Stat::log}, {-2.0, 0.0, 4.5}},
      {{Stat::square, Stat::inverse_square, Stat::log}, {-1e-3, -1e4, -40.0}},
      {{Stat::value, Stat::log_gamma}, {-9.0, -2.0}},
      {{Stat::value, Stat::log_gamma}, {7.0, -2.0}},
      {{Stat::value, Stat::log, Stat::log_gamma}, {-90.0, 0.5, -20.0}},
      {{Stat::value, Stat::value_log, Stat::log_gamma}, {-20.0 * (1 + 1e-4), 20.0, -20.0}},
      {{Stat::value, Stat::value_log, Stat::log_gamma}, {-20.0 * 9, 20.0, -20.0}},
      {{Stat::value, Stat::value_log, Stat::log, Stat::log_gamma}, {-25.0, 10.0, 3.0, -20.0}},
      {{Stat::square, Stat::log_gap}, {-40.0, 10.0}},
      {{Stat::value, Stat::square, Stat::log_gap}, {1.7e-4, -7.1e-6, 26000.0}},
      {{Stat::value, Stat::square, Stat::log_gap}, {-1e6, -3.0, 2.0}},
      {{Stat::value, Stat::square, Stat::log, Stat::log_gap}, {30.0, -4.0, 1.5, 90.0}},
      {{Stat::value, Stat::square, Stat::log}, {-3.0, -4.0, 0.5}},
      {{Stat::value, Stat::log}, {-2.0, 3.0}}};
  for (const Case& c : cases) {
    const FamilyRow& row = *point_family(Support::positive, c.statistics);
    const Factor& f = *point_factor(row);
    Environment natural{1, {}};
    for (const StatisticRow& s : f.statistics)
      natural.symbols[natural_name(s.stat)] = {0, {0.0}};
    for (std::size_t k = 0; k < c.statistics.size(); ++k)
      natural.symbols[natural_name(c.statistics[k])] = {0, {c.naturals[k]}};
    const double best = parameters_from_natural(f, natural).at("value").values[0];
    INFO(row.name << " " << best);
    const auto energy = [&](double x) {
      double out = 0;
      for (const StatisticRow& s : f.statistics)
        out += natural.symbols.at(natural_name(s.stat)).values[0] * evaluate(s.expectation, {1, {{"value", {0, {x}}}}});
      return out;
    };
    CHECK(energy(best) >= energy(best * 1.001));
    CHECK(energy(best) >= energy(best * 0.999));
  }
}

TEST_CASE("a bit with the statistics x and 1 - x is Bernoulli") {
  const Factor& factor = *switching_bit().factor;
  const auto p = [&](double one, double other) {
    const auto found = parameters_from_natural(factor, {1, {{"n_value", {0, {one}}}, {"n_complement", {0, {other}}}}});
    return found.at("p").values[0];
  };
  CHECK(std::abs(p(0.3, -0.4) - 1 / (1 + std::exp(-0.7))) < 1e-15);
  CHECK(p(0, 1e15) == 0);
  CHECK(p(0, -1e15) == 1);
  const auto expected = [&](Stat s, double at) {
    const auto row = std::ranges::find(factor.statistics, s, &StatisticRow::stat);
    return evaluate(row->expectation, {1, {{"p", {0, {at}}}}});
  };
  for (const double at : {0.0, 0.25, 1.0})
    CHECK(expected(Stat::value, at) + expected(Stat::complement, at) == 1);
}
