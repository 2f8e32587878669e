// Anderson acceleration. Plain sweeps alternate with extrapolated ones, so that each extrapolation follows a movement
// without one. An extrapolation that is undone ends the use of the sweeps before it, and increases the damping.
#include "runtime/inference/extrapolation.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

#include "runtime/abi.h"
#include "runtime/parallel/snapshot_checks.h"

namespace lehr {
namespace {

constexpr std::size_t kWindow = 9, kNarrow = 5;  // sweeps whose movements are combined: most, and least
constexpr std::size_t kCoordinates = 1 << 23;  // coordinates that all of these may have, if there are more than kNarrow
constexpr std::size_t kRecent = 4;             // ELBOs in which gained() looks for a rise
constexpr double kSlow = 0.7;                  // ratio of successive movements above which convergence is slow
constexpr double kLonger = 8;                  // factor by which the trust length changes
constexpr double kShortest = 4;                // least trust length
constexpr double kDamping = 1e-8, kMoreDamping = 100, kLessDamping = 10;  // least damping, and how it changes
constexpr double kSingular = 1e-14;    // eigenvalues of the least squares that count as 0, relative to the largest
constexpr double kLeast = 0.1;         // least part of a step that is tried
constexpr Eigen::Index kBlock = 1024;  // coordinates that are multiplied together
/// Below this fraction of the largest of its array, a positive point is on its way to 0, and nothing is extrapolated.
/// As a concentration goes to 0, terms of the ELBO grow without bound and cancel, so that it loses digits.
constexpr double kVanishing = 1e-4;
constexpr double kRounding = 1e-12;  // falls of the ELBO relative to it that are rounding

using machine::Parameter;
using machine::ParameterRow;
using Vector = Eigen::VectorXd;
using MapOf = Eigen::Map<Eigen::ArrayXd>;

/// An array of numbers that a sweep begins with.
struct Array {
  std::int64_t buffer = 0;            // the numbers
  const ParameterRow* row = nullptr;  // the parameters that they are; null: statistics
};

/// Returns the number of elements as Eigen counts them.
Eigen::Index count_of(std::span<const double> x) { return static_cast<Eigen::Index>(x.size()); }

/// Returns what the next sweep depends on: the global parameters, and statistics that it reads before it computes them.
std::vector<Array> arrays_of(const Engine& e) {
  std::vector<Array> out;
  for (const ParameterRow& row : machine::parameters_of(e.model())) {
    if (!row.by_stage) out.push_back({row.buffer, &row});
  }
  if (!machine::reads_statistics_first(e.model())) return out;
  for (const StepRow& step : e.steps()) {
    if (!step.stage || step.refresh) continue;
    for (const std::int64_t b : machine::statistics_of(e.model(), step)) {
      if (!e.is_partial(b)) out.push_back({b});
    }
  }
  return out;
}

/// Returns true if the coordinates of the array are logarithms.
bool is_logarithmic(const Array& a) {
  if (!a.row) return false;
  switch (a.row->parameter) {
    case Parameter::precision:
    case Parameter::rate:
      return a.row->event_rank < 2;
    case Parameter::df:
    case Parameter::shape_like:
      return true;
    case Parameter::value:
      return a.row->support == machine::Support::positive;
    default:
      return false;
  }
}

/// Returns true if positive numbers of the array must stay positive, besides logarithmic ones.
bool has_limit(const Array& a) {
  return a.row && a.row->event_rank < 2 && a.row->parameter != Parameter::mean &&
         !(a.row->parameter == Parameter::value &&
           (a.row->support == machine::Support::real || a.row->support == machine::Support::vector));
}

/// Returns the coordinates of the numbers in place.
std::vector<double> coordinates(const Engine& e) {
  std::vector<double> out;
  for (const Array& a : arrays_of(e)) {
    const std::span<double> x = e.reals(a.buffer);
    const std::size_t begin = out.size();
    out.insert(out.end(), x.begin(), x.end());
    if (!is_logarithmic(a)) continue;
    MapOf u(out.data() + begin, count_of(x));
    u = u.max(1e-300).log();
  }
  return out;
}

/// Returns the precision of the mean with this index. `event` is the length of one mean. 0: the arrays do not fit.
double precision_of(std::span<const double> precision, std::size_t means, std::size_t event, std::size_t index) {
  const std::size_t at = index / event, inside = index % event, diagonal = inside * (event + 1);
  if (precision.size() == means) return precision[index];
  if (precision.size() == means * event) return precision[at * event * event + diagonal];
  if (precision.size() == event * event) return precision[diagonal];
  if (precision.size() * event == means) return precision[at];
  return precision.size() == 1 ? precision[0] : 0;
}

/// Writes the weights of the squared steps of means, in units of their standard deviations. Returns false if they have
/// no precisions.
bool weigh_means(const Engine& e, const ParameterRow& row, std::span<double> weights) {
  if (row.parameter != Parameter::mean || row.partner < 0) return false;
  const std::span<const double> precision = e.reals(e.model().parameters[row.partner].buffer);
  const std::size_t event =
      row.event_rank == 1 ? std::max<std::size_t>(1, static_cast<std::size_t>(e.extent(row.event))) : 1;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double p = precision_of(precision, weights.size(), event, i);
    if (!(p > 0) || p >= kPointPrecision) return false;
    weights[i] = p;
  }
  return true;
}

/// Writes the weights of the squared steps of one array.
void weigh(const Engine& e, const Array& a, std::span<double> weights) {
  const std::span<double> x = e.reals(a.buffer);
  const MapOf values(x.data(), count_of(x));
  MapOf w(weights.data(), count_of(weights));
  if (!a.row) w = 0;  // they follow from the parameters
  else if (is_logarithmic(a)) {
    if (a.row->parameter == Parameter::shape_like) w = values.max(0.1);
    else w = a.row->parameter == Parameter::rate ? 1 : 0.5;
  } else if (!weigh_means(e, *a.row, weights)) {
    const double size = values.square().sum();
    w = size > 0 ? 1 / size : 0;
  }
}

/// Returns the weights of squared steps in the coordinates.
std::vector<double> weights_of(const Engine& e) {
  std::vector<double> out;
  for (const Array& a : arrays_of(e)) {
    const std::size_t begin = out.size(), n = e.reals(a.buffer).size();
    out.resize(begin + n);
    weigh(e, a, std::span(out).subspan(begin, n));
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
  for (const Array& a : arrays_of(e))
    n += e.reals(a.buffer).size();
  return std::clamp(kCoordinates / n, kNarrow, kWindow);
}

/// Returns the numbers in place.
Arrays numbers(const Engine& e) {
  Arrays out;
  for (const Array& a : arrays_of(e)) {
    const std::span<double> x = e.reals(a.buffer);
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

/// Adds the step, times `factor`, to the numbers `now` that were in place. Returns false if one leaves its range.
bool shift(const Engine& e, const Arrays& now, const Eigen::ArrayXd& step, double factor) {
  bool inside = true;
  Eigen::Index begin = 0;
  std::size_t k = 0;
  for (const Array& a : arrays_of(e)) {
    const std::span<double> x = e.reals(a.buffer);
    const Eigen::Index n = count_of(x);
    const Eigen::Map<const Eigen::ArrayXd> from(now[k++].data(), n);
    MapOf to(x.data(), n);
    if (is_logarithmic(a)) to = from * (factor * step.segment(begin, n)).exp();
    else to = from + factor * step.segment(begin, n);
    inside = inside && to.isFinite().all();
    if (is_logarithmic(a) || has_limit(a)) inside = inside && (from > 0 && to <= 0).count() == 0;
    begin += n;
  }
  return inside;
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
  end_ = e_.snapshot([&] { return Arrays{coordinates(e_)}; });
  if (!from) return;
  last_.push_back({from, end_});
  if (last_.size() > most_sweeps(e_)) last_.pop_front();
}

void Extrapolation::note_change() {
  if (after_ > 0) start_ = e_.snapshot([&] { return Arrays{coordinates(e_)}; });
}

void Extrapolation::forget() {
  last_.clear();
  end_ = nullptr;
  start_ = nullptr;
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
  // Where the ELBO stands still, an extrapolation would only follow rounding errors.
  const auto [least, most] = std::ranges::minmax(elbos_);
  if (elbos_.size() == kRecent && most - least <= kRounding * (1 + std::abs(most))) return false;
  if (e_.recorded([&] { return vanishes(e_); })) return false;
  const bool begins = count_.accepted + count_.refused == 0;
  if (begins && !(e_.recorded([&] { return slowness(); }) > kSlow)) return false;
  before_ = e_.snapshot_state();
  elbo_ = elbo;
  const Step step = e_.recorded([&] { return extrapolate(); });
  limited_ = step.limited;
  if (step.moved) start_ = e_.snapshot([&] { return Arrays{coordinates(e_)}; });
  else e_.load(before_);
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
  const Arrays now = numbers(e_);
  const double factor = (along < 0 ? -1 : 1) * std::min(1.0, longest_ / length);
  for (double part = 1; part > kLeast; part /= 2) {
    if (!shift(e_, now, step, factor * part)) continue;
    e_.invalidate_sums();
    return {e_.call(e_.model().global_expectations) == 0, length > longest_};
  }
  return {};
}

void Extrapolation::accept_or_undo(bool succeeded, Elbo& elbo) {
  since_ = 0;
  undone_ = !succeeded || elbo.value < elbo_.value - kRounding * (1 + std::abs(elbo_.value));
  if (!undone_) {
    ++count_.accepted;
    damping_ = std::max(kDamping, damping_ / kLessDamping);
    if (limited_) longest_ *= kLonger;
    before_ = nullptr;
    return;
  }
  ++count_.refused;
  damping_ = std::min(1.0, damping_ * kMoreDamping);
  longest_ = std::max(kShortest, longest_ / kLonger);
  last_.erase(last_.begin(), last_.end() - 1);
  start_ = nullptr;
  e_.load(std::exchange(before_, nullptr));
  elbo = elbo_;
}

}  // namespace lehr
