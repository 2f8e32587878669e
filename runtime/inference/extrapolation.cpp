// Anderson acceleration. Plain sweeps alternate with extrapolated ones, so that each extrapolation follows a movement
// without one. An extrapolation that is undone ends the use of the sweeps before it, and increases the damping.
#include "runtime/inference/extrapolation.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

#include "runtime/abi.h"
#include "runtime/inference/coordinates.h"
#include "runtime/parallel/snapshot_checks.h"

namespace lehr {
namespace {

constexpr std::size_t kWindow = 9, kNarrow = 5;  // sweeps whose movements are combined: most, and least
constexpr std::size_t kCoordinates = 1 << 23;  // coordinates that all of these may have, if there are more than kNarrow
constexpr std::size_t kRecent = 4;             // ELBOs in which gained() looks for a rise
constexpr double kSlow = 0.7;                  // ratio of successive movements above which convergence is slow
constexpr double kLonger = 8;                  // factor by which the trust length changes
constexpr double kShortestTrust = 4;           // least trust length
constexpr double kDamping = 1e-8, kMoreDamping = 100, kLessDamping = 10;  // least damping, and how it changes
constexpr double kSingular = 1e-14;    // eigenvalues of the least squares that count as 0, relative to the largest
constexpr double kLeastPart = 0.1;     // least part of a step that is tried
constexpr Eigen::Index kBlock = 1024;  // coordinates that are multiplied together
/// Below this fraction of the largest of its array, a positive point is on its way to 0, and nothing is extrapolated.
/// As a concentration goes to 0, terms of the ELBO grow without bound and cancel, so that it loses digits.
constexpr double kVanishing = 1e-4;
constexpr double kElboRounding = 1e-12;  // falls of the ELBO relative to it that are rounding
constexpr double kMovement = 1e-7;       // movements of a sweep that may be rounding, in units of coordinates

using machine::Parameter;
using machine::ParameterRow;
using Vector = Eigen::VectorXd;

/// Returns the coordinates of the numbers in place.
std::vector<double> coordinates_of(const Engine& e) { return coordinates(e, arrays_before_sweep(e)); }

/// Returns the weights of squared steps in the coordinates.
std::vector<double> weights_of(const Engine& e) {
  std::vector<double> out;
  for (const CoordinateArray& a : arrays_before_sweep(e)) {
    const std::span<double> x = e.reals(a.buffer);
    const std::size_t begin = out.size();
    out.resize(begin + x.size());
    const std::span<double> weights = std::span(out).subspan(begin);
    // Weights are 0 at first, which is right for statistics: they follow from the parameters.
    if (!a.row || weigh_by_spread(e, a, weights)) continue;
    const double size = Eigen::Map<const Eigen::ArrayXd>(x.data(), count_of(x)).square().sum();
    std::ranges::fill(weights, size > 0 ? 1 / size : 0);
  }
  return out;
}

/// Returns true if a point that is a positive number is on its way to 0.
bool vanishes(const Engine& e) {
  return std::ranges::any_of(machine::parameters_of(e.model()), [&](const ParameterRow& row) {
    if (row.by_stage || row.parameter != Parameter::value || row.support != machine::Support::positive) return false;
    const std::span<const double> x = e.reals(row.buffer);
    return !x.empty() && std::ranges::min(x) < kVanishing * std::ranges::max(x);
  });
}

/// Returns how many sweeps are combined.
std::size_t most_sweeps(const Engine& e) {
  std::size_t n = 1;
  for (const CoordinateArray& a : arrays_before_sweep(e))
    n += e.reals(a.buffer).size();
  return std::clamp(kCoordinates / n, kNarrow, kWindow);
}

/// Returns the coefficients c that make |f - D c| smallest, damped. `products` are those of the columns of D and f.
Vector least_squares(const Eigen::MatrixXd& products, double damping) {
  const Eigen::Index m = products.rows() - 1;
  Vector scale = products.diagonal().head(m);
  for (double& s : scale)
    s = s > 0 ? 1 / std::sqrt(s) : 0;
  const Eigen::MatrixXd scaled = scale.asDiagonal() * products.topLeftCorner(m, m) * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  const Vector& values = eigen.eigenvalues();
  const double largest = values.maxCoeff();
  Vector y = eigen.eigenvectors().transpose() * (scale.asDiagonal() * products.col(m).head(m));
  for (Eigen::Index i = 0; i < m; ++i)
    y[i] = values[i] > kSingular * largest ? y[i] / (values[i] + damping * largest) : 0;
  return scale.asDiagonal() * (eigen.eigenvectors() * y);
}

/// Returns the differences of two snapshots of coordinates, from `begin` on.
Eigen::ArrayXd difference(const Snapshot& a, const Snapshot& b, Eigen::Index begin, Eigen::Index count) {
  using Map = Eigen::Map<const Eigen::ArrayXd>;
  return Map(b->front().data() + begin, count) - Map(a->front().data() + begin, count);
}

}  // namespace

void Extrapolation::note_sweep() {
  if (after_ == 0) return;
  ++sweeps_;
  ++since_;
  if (undone_ && since_ == 1) return;  // the state is that of the sweep before, which was noted
  undone_ = false;
  const Snapshot from = start_ ? std::exchange(start_, nullptr) : end_;
  end_ = e_.snapshot([&] { return Arrays{coordinates_of(e_)}; });
  if (!from) return;
  last_.push_back({from, end_});
  if (last_.size() > most_sweeps(e_)) last_.pop_front();
}

void Extrapolation::note_change() {
  if (after_ == 0) return;
  end_ = e_.snapshot([&] { return Arrays{coordinates_of(e_)}; });
  start_ = nullptr;
  if (!last_.empty()) last_.back().to = end_;
}

void Extrapolation::forget() {
  last_.clear();
  end_ = nullptr;
  start_ = nullptr;
}

double Extrapolation::movement() const {
  const Sweep& now = last_.back();
  const std::vector<double> weights = weights_of(e_);
  const Arrays lengths{weights};
  expect_same_lengths(*now.from, lengths);
  expect_same_lengths(*now.to, lengths);
  const Eigen::Index n = count_of(weights);
  const Eigen::Map<const Eigen::ArrayXd> w(weights.data(), n);
  return std::sqrt((w * difference(now.from, now.to, 0, n).square()).sum());
}

double Extrapolation::slowness() const {
  const Sweep &before = last_[last_.size() - 2], &now = last_.back();
  const std::vector<double> weights = weights_of(e_);
  const Arrays lengths{weights};
  for (const Snapshot& x : {before.from, before.to, now.from, now.to})
    expect_same_lengths(*x, lengths);
  const Eigen::Index n = count_of(weights);
  const Eigen::Map<const Eigen::ArrayXd> w(weights.data(), n);
  const double earlier = (w * difference(before.from, before.to, 0, n).square()).sum();
  const double last = (w * difference(now.from, now.to, 0, n).square()).sum();
  return earlier > 0 ? std::sqrt(last / earlier) : 0;
}

bool Extrapolation::try_extrapolation(const Elbo& elbo) {
  if (after_ == 0 || sweeps_ < after_) return false;
  if (!undone_) elbos_.push_back(elbo.value);
  if (elbos_.size() > kRecent) elbos_.pop_front();
  if (last_.size() < 2 || since_ < 2) return false;
  // Where the ELBO stands still and the parameters hardly move, an extrapolation would only follow rounding errors.
  const auto [least, most] = std::ranges::minmax(elbos_);
  const bool stands = elbos_.size() == kRecent && most - least <= kElboRounding * (1 + std::abs(most));
  if (stands && e_.recorded([&] { return !(movement() > kMovement); })) return false;
  if (e_.recorded([&] { return vanishes(e_); })) return false;
  const bool begins = count_.accepted + count_.refused == 0;
  if (begins && !(e_.recorded([&] { return slowness(); }) > kSlow)) return false;
  before_ = e_.snapshot_state();
  elbo_ = elbo;
  const Step step = e_.recorded([&] { return extrapolate(); });
  limited_ = step.limited;
  if (step.moved) start_ = e_.snapshot([&] { return Arrays{coordinates_of(e_)}; });
  else e_.revert(before_);
  return step.moved;
}

/// The products are summed over blocks of the coordinates, which fit into the cache.
Extrapolation::Step Extrapolation::extrapolate() const {
  const std::vector<double> weights = weights_of(e_);
  const Arrays lengths{weights};
  for (const Sweep& s : last_) {
    expect_same_lengths(*s.from, lengths);
    expect_same_lengths(*s.to, lengths);
  }
  const Eigen::Index n = count_of(weights), m = static_cast<Eigen::Index>(last_.size()) - 1;
  const Eigen::Map<const Eigen::ArrayXd> w(weights.data(), n);
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(m + 1, m + 1), block;
  for (Eigen::Index begin = 0; begin < n; begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, n - begin);
    block.resize(count, m + 1);
    for (Eigen::Index j = 0; j <= m; ++j) {
      const Sweep& s = last_[static_cast<std::size_t>(j)];
      block.col(j) = w.segment(begin, count).sqrt() * difference(s.from, s.to, begin, count);
      if (j > 0) block.col(j - 1) = block.col(j) - block.col(j - 1);
    }
    products.selfadjointView<Eigen::Lower>().rankUpdate(block.transpose());
  }
  products = Eigen::MatrixXd(products.selfadjointView<Eigen::Lower>());
  const Vector c = least_squares(products, damping_);
  Eigen::ArrayXd step = Eigen::ArrayXd::Zero(n);
  for (Eigen::Index begin = 0; begin < n; begin += kBlock) {
    const Eigen::Index count = std::min(kBlock, n - begin);
    for (std::size_t j = 0; j + 1 < last_.size(); ++j)
      step.segment(begin, count) -=
          c[static_cast<Eigen::Index>(j)] * difference(last_[j].to, last_[j + 1].to, begin, count);
  }
  const double along = (w * step * difference(last_.back().from, last_.back().to, 0, n)).sum();
  const double length = std::sqrt((w * step.square()).sum() / products(m, m));
  if (!(length > 0) || !std::isfinite(length)) return {};
  const std::vector<CoordinateArray> arrays = arrays_before_sweep(e_);
  const Arrays now = numbers(e_, arrays);
  const double factor = (along < 0 ? -1 : 1) * std::min(1.0, longest_ / length);
  for (double part = 1; part > kLeastPart; part /= 2) {
    if (!shift(e_, arrays, now, step, factor * part)) continue;
    e_.invalidate_sums();
    return {e_.call(e_.model().global_expectations) == 0, length > longest_};
  }
  return {};
}

void Extrapolation::accept_or_undo(bool succeeded, Elbo& elbo) {
  since_ = 0;
  undone_ = !succeeded || elbo.value < elbo_.value - kElboRounding * (1 + std::abs(elbo_.value));
  if (!undone_) {
    ++count_.accepted;
    damping_ = std::max(kDamping, damping_ / kLessDamping);
    if (limited_) longest_ *= kLonger;
    e_.drop(before_);
    return;
  }
  ++count_.refused;
  damping_ = std::min(1.0, damping_ * kMoreDamping);
  longest_ = std::max(kShortestTrust, longest_ / kLonger);
  last_.erase(last_.begin(), last_.end() - 1);
  start_ = nullptr;
  e_.revert(before_);
  elbo = elbo_;
}

}  // namespace lehr
