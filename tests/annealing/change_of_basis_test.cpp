// Changes of basis that leave the likelihood alone: the best ones against closed forms and against a gradient that is
// computed here, and their gain against the ELBO of generated code.
#include "runtime/inference/change_of_basis.h"

#include <Eigen/LU>
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "compiler/instance/instance.h"
#include "runtime/inference/invariance.h"
#include "runtime/inference/sweep.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Returns J of change_of_basis.h, written out for one change.
double objective(const BasisProblem& p, const MatrixXd& change) {
  double out = 0;
  std::vector<VectorXd> rates;
  for (const RescaledSums& s : p.scales)
    rates.push_back(s.rest);
  for (std::size_t v = 0; v < p.variables.size(); ++v) {
    const TransformedSums& x = p.variables[v];
    const MatrixXd m = x.inverse ? MatrixXd(change.transpose().inverse()) : change;
    out += x.count * std::log(std::abs(m.determinant()));
    for (Eigen::Index k = 0; k < p.components; ++k) {
      const double first = x.first.size() > 0 ? m.row(k).dot(x.first) : 0;
      if (x.linear.size() > 0) out += x.linear[k] * first;
      for (Eigen::Index l = 0; l < p.components; ++l) {
        const double second = x.second.size() > 0 ? m.row(k).dot(x.second * m.row(l).transpose()) : 0;
        if (x.quadratic.size() > 0) out += x.quadratic(k, l) * second;
        for (std::size_t s = 0; s < p.scales.size(); ++s) {
          double& rate = rates[s][rates[s].size() > 1 ? k : 0];
          if (l == k && p.scales[s].quadratic[v].size() > 0) rate += p.scales[s].quadratic[v][k] * second;
          if (l == k && p.scales[s].linear[v].size() > 0) rate += p.scales[s].linear[v][k] * first;
        }
      }
    }
  }
  for (std::size_t s = 0; s < p.scales.size(); ++s) {
    for (Eigen::Index k = 0; k < rates[s].size(); ++k)
      out -= p.scales[s].shape[k] * std::log(rates[s][k]);
  }
  return out;
}

/// Returns sums of `count` random vectors.
MatrixXd random_moments(std::mt19937& random, Eigen::Index size, int count) {
  std::normal_distribution<double> normal;
  MatrixXd x(count, size);
  for (double& entry : x.reshaped())
    entry = normal(random);
  for (Eigen::Index k = 0; k < size; ++k)
    x.col(k) *= 1 + 0.5 * static_cast<double>(k);
  return x.transpose() * x;
}

/// Returns a problem as of a factor analysis: `kind` 0 has precisions for each component, 1 one for all, 2 neither, and
/// 3 has prior means.
BasisProblem factor_problem(unsigned seed, Eigen::Index size, int kind) {
  std::mt19937 random(seed);
  const int items = 200, rows = 12;
  const MatrixXd one = MatrixXd::Identity(size, size);
  BasisProblem p{size, false, {}, {}};
  p.variables.push_back({true, items, {}, random_moments(random, size, items), {}, -one / 2});
  p.variables.push_back(
      {false, rows, {}, random_moments(random, size, rows), {}, kind < 2 ? MatrixXd() : MatrixXd(-one)});
  if (kind == 3) {
    p.variables[0].first = VectorXd::LinSpaced(size, 20, 40);
    p.variables[0].linear = VectorXd::LinSpaced(size, 0.5, -0.5);
  }
  const Eigen::Index scales = kind == 0 ? size : 1;
  const VectorXd shape = VectorXd::Constant(scales, 0.01 + rows * static_cast<double>(kind == 0 ? 1 : size) / 2);
  if (kind < 2)
    p.scales.push_back({shape,
                        VectorXd::Constant(scales, 0.01),
                        shape,
                        VectorXd::Constant(scales, 3),
                        {VectorXd(), VectorXd()},
                        {VectorXd(), VectorXd::Constant(size, 0.5)}});
  return p;
}

/// Returns a problem as of a linear dynamical system with two inputs: states with products of neighbours and inputs,
/// and matrices of transitions and of effects of inputs, whose rows have prior precision 1.
BasisProblem dynamics_problem(unsigned seed, Eigen::Index size) {
  std::mt19937 random(seed);
  const int steps = 200;
  const Eigen::Index inputs = 2;
  const MatrixXd one = MatrixXd::Identity(size, size), half = VectorXd::Constant(size, -0.5), all = half * -2;
  BasisProblem p = factor_problem(seed, size, 0);
  p.variables[0] = {true, steps, {}, {}, {}, {}};
  const MatrixXd both = random_moments(random, size + inputs, steps), now = both.topLeftCorner(size, size);
  const MatrixXd lagged = 0.6 * now + 0.1 * random_moments(random, size, steps / 10) * one.rowwise().reverse();
  const MatrixXd driven = 0.5 * random_moments(random, size + inputs, steps).topRightCorner(size, inputs);
  p.forms = {{0, 0, now, -one / 2, -1, -1},
             {0, 0, lagged, all, 0, -1},
             {0, 0, now, half, 0, 0},
             {0, -1, driven, all, 1, -1},
             {0, -1, both.topRightCorner(size, inputs), -all, 0, 1},
             {-1, -1, both.bottomRightCorner(inputs, inputs), half, 1, 1}};
  const auto follower = [&](Eigen::Index entries) {
    const MatrixXd unit = MatrixXd::Identity(entries, entries);
    const auto rows = static_cast<std::size_t>(size);
    return FollowerSums{MatrixXd::Zero(size, entries),
                        std::vector<MatrixXd>(rows, -unit / 2),
                        {MatrixXd::Zero(size, entries), std::vector(rows, unit)}};
  };
  p.followers = {follower(size), follower(inputs)};
  return p;
}

}  // namespace

TEST_CASE("a best change of a basis with dynamics is a maximum") {
  for (const Eigen::Index size : {1, 2, 4}) {
    const BasisProblem p = dynamics_problem(static_cast<unsigned>(size), size);
    const BasisChange best = best_change(p, 1e-10);
    REQUIRE(best.matrix.rows() == size);
    CHECK(best.gain > 0);
    // The natural parameters of the followers, and J, are written out for one change.
    const auto natural = [&](const MatrixXd& m) {
      const MatrixXd cross = m * p.forms[4].moments;
      MatrixXd precision = MatrixXd::Identity(size + 2, size + 2), linear(size, size + 2);
      precision.topLeftCorner(size, size) += m * p.forms[2].moments * m.transpose();
      precision.topRightCorner(size, 2) += cross;
      precision.bottomLeftCorner(2, size) += cross.transpose();
      precision.bottomRightCorner(2, 2) += p.forms[5].moments;
      linear << m * p.forms[1].moments * m.transpose(), m * p.forms[3].moments;
      return std::pair(precision, linear);
    };
    const auto value = [&](const MatrixXd& change) {
      const MatrixXd m = transform_of(change, true);
      double out = objective(p, change) - (m * p.forms[0].moments * m.transpose()).trace() / 2;
      const auto [precision, linear] = natural(m);
      out += (linear * precision.inverse() * linear.transpose()).trace() / 2;
      const double blocks =
          precision.topLeftCorner(size, size).determinant() * precision.bottomRightCorner(2, 2).determinant();
      return out - static_cast<double>(size) * std::log(blocks) / 2;
    };
    const double top = value(best.matrix);
    for (Eigen::Index k = 0; k < size; ++k) {
      for (Eigen::Index l = 0; l < size; ++l) {
        MatrixXd step = MatrixXd::Zero(size, size);
        step(k, l) = 1e-3;
        CHECK(value(best.matrix + step * best.matrix) <= top + 1e-8 * std::abs(top));
        CHECK(value(best.matrix - step * best.matrix) <= top + 1e-8 * std::abs(top));
      }
    }
    const auto [precision, linear] = natural(transform_of(best.matrix, true));
    const MatrixXd mean = linear * precision.inverse();
    CHECK(best.followers[0].precision[0].isApprox(precision.topLeftCorner(size, size), 1e-9));
    CHECK(best.followers[1].precision[0].isApprox(precision.bottomRightCorner(2, 2), 1e-9));
    CHECK(best.followers[0].mean.isApprox(mean.leftCols(size), 1e-9));
    CHECK(best.followers[1].mean.isApprox(mean.rightCols(2), 1e-9));
  }
}

TEST_CASE("a best change of basis is a maximum") {
  for (const int kind : {0, 1, 2, 3}) {
    for (const Eigen::Index size : {1, 2, 5}) {
      const BasisProblem p = factor_problem(static_cast<unsigned>(7 * kind) + static_cast<unsigned>(size), size, kind);
      const BasisChange best = best_change(p, 1e-10);
      INFO("kind " << kind << ", size " << size);
      REQUIRE(best.matrix.rows() == size);
      const double value = objective(p, best.matrix);
      if (p.scales.empty())
        CHECK(best.gain == Approx(value - objective(p, MatrixXd::Identity(size, size))).epsilon(1e-9));
      CHECK(best.gain > 0);
      for (Eigen::Index k = 0; k < size; ++k) {
        for (Eigen::Index l = 0; l < size; ++l) {
          // Steps in either direction lose about equally much.
          MatrixXd step = MatrixXd::Zero(size, size);
          step(k, l) = 1e-3;
          const double up = objective(p, best.matrix + step * best.matrix) - value;
          const double down = objective(p, best.matrix - step * best.matrix) - value;
          CHECK(up <= 1e-9 * std::abs(value));
          CHECK(down <= 1e-9 * std::abs(value));
        }
      }
    }
  }
}

TEST_CASE("the best scale of a number solves a quadratic equation") {
  // Normal numbers: J = (D - N) log c - A / (2 c^2) - p Q c^2 / 2.
  const double items = 100, rows = 8, a = 350, q = 5, p = 2;
  const MatrixXd one = MatrixXd::Identity(1, 1);
  const BasisProblem normal{
      1, true, {{true, items, {}, a * one, {}, -one / 2}, {false, rows, {}, q * one, {}, -p * one / 2}}, {}};
  const double square = (rows - items + std::sqrt((items - rows) * (items - rows) + 4 * p * q * a)) / (2 * p * q);
  CHECK(best_change(normal, 1e-12).matrix(0, 0) == Approx(std::sqrt(square)).epsilon(1e-6));
}

TEST_CASE("the gain of a shift is that of the ELBO") {
  // The model has separate factors here: effects of dishes and of samples, whose sum alone matters to the data.
  const auto prepared = test::prepare("models/hierarchical/crossed_random_effects.lehr");
  const Analysed analysed = with_options(std::move(prepared->front), {.invariances = true});
  CHECK(analysed.schedule.invariances.empty());
  REQUIRE(analysed.schedule.shifts.size() == 1);
  Instance instance(analysed, prepared->data, {}, Backend::native);
  const Engine& e = instance.engine();
  REQUIRE(instance.start(1, 0));
  REQUIRE(prepare_statistics(e) == 0);
  Invariances invariances(e, true);
  for (int k = 0; k < 3; ++k) {
    REQUIRE(sweep(e, {}, {}) == 0);
    Elbo before, after;
    REQUIRE(e.elbo(before) == 0);
    REQUIRE(invariances.try_change(before, 1e-9));
    REQUIRE(e.elbo(after) == 0);
    CHECK(after.value - before.value == Approx(invariances.gain()).epsilon(1e-5));
    // There is no better shift from there.
    CHECK_FALSE(Invariances(e, true).try_change(after, 1e-9));
    CHECK(invariances.accept_or_undo(true, after));
  }
  CHECK(invariances.shifts().accepted == 3);
}

TEST_CASE("the gain of a change of basis is that of the ELBO") {
  // All factors are global here, so that the ELBO can be computed before the next sweep.
  const auto prepared = test::prepare("models/factors/matrix_factorisation.lehr");
  const Analysed analysed = with_options(std::move(prepared->front), {.invariances = true});
  REQUIRE(analysed.schedule.invariances.size() == 1);
  CHECK_FALSE(analysed.schedule.invariances[0].diagonal);
  Instance instance(analysed, prepared->data, {}, Backend::native);
  const Engine& e = instance.engine();
  REQUIRE(instance.start(1, 0));
  REQUIRE(prepare_statistics(e) == 0);
  Invariances invariances(e, true);
  for (int k = 0; k < 3; ++k) {
    REQUIRE(sweep(e, {}, {}) == 0);
    Elbo before, after;
    REQUIRE(e.elbo(before) == 0);
    REQUIRE(invariances.try_change(before, 1e-6));
    REQUIRE(e.elbo(after) == 0);
    CHECK(after.value > before.value);
    CHECK(after.value - before.value == Approx(invariances.gain()).epsilon(1e-6));
    Elbo next = after;
    CHECK(invariances.accept_or_undo(true, next));
  }
  CHECK(invariances.basis_changes().accepted == 3);
  // A change that lowers the ELBO is undone.
  Elbo before, after, none{};
  REQUIRE(sweep(e, {}, {}) == 0);
  REQUIRE(e.elbo(before) == 0);
  REQUIRE(invariances.try_change(before, 1e-9));
  none.value = before.value - 1;
  CHECK_FALSE(invariances.accept_or_undo(true, none));
  CHECK(none.value == before.value);
  REQUIRE(e.elbo(after) == 0);
  CHECK(after.value == before.value);
}
