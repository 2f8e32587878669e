// Agreement of starts. A point of the path with the same ELBO as the run is interpolated between two stored ones.
#include "runtime/search/agreement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/abi.h"
#include "runtime/parallel/snapshot_checks.h"

namespace lehr {
namespace {

constexpr double kPathBytes = 1e8;        // most bytes of the points of a path
constexpr std::size_t kFewestPoints = 4;  // points of a path however large they are
constexpr std::size_t kMostPoints = 128;  // points of a path however small they are
constexpr double kBeside = 0.1;           // relative distance from the path that counts as on it
constexpr double kNegligible = 1e-2;      // distance of an array from the end of the path that counts as none
constexpr double kLeft = 0.9;             // part of the way that is left when a run has joined
constexpr double kNear = 0.05;            // distance from the end at which a run that comes closer has arrived
constexpr double kNearElbo = 1e-4;        // relative difference from the last ELBO, of a run that has arrived
constexpr double kCloser = 0.95;    // ratio of distances from the end after and before a sweep that brings it closer
constexpr int kSweepsCloser = 3;    // successive sweeps that bring a run closer before it has arrived
constexpr double kSameElbo = 1e-6;  // relative difference of ELBOs that count as the same

/// Largest distance between the entries of two arrays, relative to the sizes of those in `end`. Entries of
/// kPointPrecision stand for infinite ones and do not count.
class Distance {
 public:
  explicit Distance(const std::vector<double>& end) : end_(end) {
    double sum = 0, count = 0;
    for (const double x : end) {
      if (!(std::abs(x) < kPointPrecision)) continue;
      sum += std::abs(x);
      ++count;
    }
    mean_ = sum / (count + 1e-300) + 1e-300;
  }
  /// Returns the distance of a + weight (b - a) from c.
  double between(const std::vector<double>& a, const std::vector<double>& b, double weight,
                 const std::vector<double>& c) const {
    double out = 0;
    for (std::size_t i = 0; i < end_.size(); ++i) {
      const double size = std::abs(end_[i]);
      if (size < kPointPrecision) out = std::max(out, std::abs(std::lerp(a[i], b[i], weight) - c[i]) / (size + mean_));
    }
    return out;
  }
  /// Returns the distance of an array from the end.
  double from_end(const std::vector<double>& x) const { return between(x, x, 0, end_); }

 private:
  const std::vector<double>& end_;
  double mean_ = 0;  // mean size of the entries
};

}  // namespace

RunPath::RunPath(const Engine& e) : e_(e) {
  double bytes = 1;
  for (const std::int64_t b : e.global_buffers())
    bytes += 8.0 * static_cast<double>(e.reals(b).size());
  most_ = std::clamp(static_cast<std::size_t>(kPathBytes / bytes), kFewestPoints, kMostPoints);
}

void RunPath::add(double elbo) {
  last_ = {elbo, e_.snapshot_parameters()};
  if (sweeps_++ % stride_ != 0) return;
  stored_.push_back(last_);
  if (stored_.size() < most_) return;
  for (std::size_t k = 0; 2 * k < stored_.size(); ++k)
    stored_[k] = std::move(stored_[2 * k]);
  stored_.resize((stored_.size() + 1) / 2);
  stride_ *= 2;
}

std::vector<RunPath::Point> RunPath::points() const {
  std::vector<Point> out = stored_;
  if (out.back().parameters != last_.parameters) out.push_back(last_);
  return out;
}

PathFollower::Position PathFollower::position(double elbo, const Arrays& now) const {
  const Arrays& end = *path_.back().parameters;
  // The first point that is as high as the run, and the one before it.
  const auto above = std::ranges::find_if(path_, [&](const RunPath::Point& p) { return p.elbo >= elbo; });
  const bool beside = above != path_.begin() && above != path_.end();
  const RunPath::Point& high = beside ? *above : path_.back();
  const RunPath::Point& low = beside ? above[-1] : high;
  const double weight = beside ? (elbo - low.elbo) / (high.elbo - low.elbo) : 0;
  const Arrays& start = joined_at_ ? *joined_at_ : now;
  for (const Arrays* x : {&now, &start, low.parameters.get(), high.parameters.get()})
    expect_same_lengths(*x, end);
  Position out{beside ? 0 : INFINITY, 0, 0, 0};
  for (std::size_t k = 0; k < end.size(); ++k) {
    const Distance distance(end[k]);
    const double far = distance.from_end(now[k]), before = distance.from_end(start[k]);
    const double covered = distance.between(now[k], now[k], 0, start[k]);
    const double aside = distance.between((*low.parameters)[k], (*high.parameters)[k], weight, now[k]);
    out.aside = std::max(out.aside, aside / std::max(far, kNegligible));
    out.strayed = std::max(out.strayed, aside / std::max(covered, kNegligible));
    out.left = std::max(out.left, far / std::max(before, kNegligible / kLeft));
    out.far = std::max(out.far, far);
  }
  return out;
}

bool PathFollower::joins(double elbo) {
  const Snapshot now = e_.snapshot_parameters();
  const Position at = e_.recorded([&] { return position(elbo, *now); });
  closer_ = at.far <= kCloser * std::exchange(far_before_, at.far) ? closer_ + 1 : 0;
  const double top = path_.back().elbo, rest = top - elbo, size = 1 + std::abs(top);
  if (rest < -kSameElbo * size) return false;
  if (at.far <= kNear && closer_ >= kSweepsCloser && rest <= kNearElbo * size) return true;
  if (!(at.aside <= kBeside)) joined_at_.reset();
  else if (!joined_at_) joined_at_ = now;
  else return at.strayed <= kBeside && at.left <= kLeft;
  return false;
}

}  // namespace lehr
