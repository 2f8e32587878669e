// Forms sigma points in the memory of the first items, whose data are put back afterwards.
#include "runtime/search/sigma_points.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "runtime/threshold.h"

namespace lehr {
namespace {

using Eigen::Index;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<RowMajorMatrix>;

/// Operations of a sweep over all items from which sigma points may replace them.
constexpr Threshold<double> kLeastSweep("sigma_points.least_sweep", 1e6);
/// Items for each sigma point, at least.
constexpr Threshold<double> kLeastItems("sigma_points.least_items", 4);
/// Sweeps over all items that take as much work as to form the points, at most.
constexpr double kMostSweeps = 10;

/// Returns the arrays of data that have a row of real numbers for each item; nothing if other data belong to items.
std::optional<std::vector<Rows>> rows_of_items(const Engine& e) {
  const machine::Model& m = e.model();
  const machine::Extent items = machine::batch_stage(m)->items;
  std::vector<Rows> out;
  for (std::int64_t k = 0; k < m.array_count; ++k) {
    const std::int64_t b = m.arrays[k].buffer;
    const machine::BufferRow& row = m.buffers[b];
    const machine::Extent* const axes = m.axes + row.first_axis;
    if (std::count(axes, axes + row.axes, items) == 0) continue;
    if (row.integers || axes[0] != items || std::count(axes, axes + row.axes, items) > 1) return {};
    const std::span<double> x = e.reals(b);
    const auto n = static_cast<Index>(e.items());
    out.emplace_back(x.data(), n, static_cast<Index>(x.size()) / n);
  }
  return out;
}

/// Returns how many numbers each item has.
Index width_of(const std::vector<Rows>& data) {
  return std::accumulate(data.begin(), data.end(), Index(0), [](Index sum, const Rows& x) { return sum + x.cols(); });
}

/// Returns the data if sigma points can replace the items and save work.
std::optional<std::vector<Rows>> replaceable(const Engine& e, const CaviOptions& o) {
  const StepRow* const stage = machine::batch_stage(e.model());
  if (!stage || !stage->moments || !e.can_distribute() || e.machine().loader || !o.items.empty() ||
      o.slack.movement >= kSingleSlack.movement || !o.uses_invariances())
    return {};
  const auto items = static_cast<double>(e.items()), operations = static_cast<double>(stage->operations);
  const Thresholds thresholds = thresholds_of_environment();
  if (items * operations < thresholds[kLeastSweep]) return {};
  std::optional<std::vector<Rows>> out = rows_of_items(e);
  const auto width = static_cast<double>(out ? width_of(*out) : 0);
  if (width == 0 || items < thresholds[kLeastItems] * (width + 1) || width * width > kMostSweeps * operations)
    return {};
  return out;
}

/// Returns d + 1 rows of d numbers with mean 0 whose covariance is the identity: the corners of a regular simplex.
Eigen::MatrixXd corners(Index d) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(d + 1, d);
  for (Index k = 0; k < d; ++k) {
    const auto before = static_cast<double>(k + 1),
               scale = std::sqrt(static_cast<double>(d + 1) / (before * (before + 1)));
    out.col(k).head(k + 1).setConstant(scale);
    out(k + 1, k) = -before * scale;
  }
  return out;
}

/// Returns the sigma points, one a row.
Eigen::MatrixXd points_of(const std::vector<Rows>& data) {
  const Index n = data[0].rows(), d = width_of(data);
  Eigen::RowVectorXd mean(d);
  Index at = 0;
  for (const Rows& x : data) {
    mean.segment(at, x.cols()) = x.colwise().mean();
    at += x.cols();
  }
  constexpr Index kBlock = 256;  // rows that are gathered and centred together
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(d, d);
  for (Index begin = 0; begin < n; begin += kBlock) {
    RowMajorMatrix centred(std::min(kBlock, n - begin), d);
    at = 0;
    for (const Rows& x : data) {
      centred.middleCols(at, x.cols()) = x.middleRows(begin, centred.rows());
      at += x.cols();
    }
    centred.rowwise() -= mean;
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(centred.transpose(), 1 / static_cast<double>(n));
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  const Eigen::VectorXd deviations = solver.eigenvalues().cwiseMax(0).cwiseSqrt();
  Eigen::MatrixXd out = corners(d) * deviations.asDiagonal() * solver.eigenvectors().transpose();
  out.rowwise() += mean;
  return out;
}

/// While it lives, the first items have the sigma points as their data, and snapshots have the factors of these items
/// alone. Sums over the data alone stay as they are: those of the points would be the same.
class SigmaPoints {
 public:
  SigmaPoints(const Engine& e, std::vector<Rows> data) : e_(e), data_(std::move(data)) {
    const Eigen::MatrixXd points = points_of(data_);
    Index at = 0;
    for (Rows& x : data_) {
      own_.emplace_back(x.topRows(points.rows()));
      x.topRows(points.rows()) = points.middleCols(at, x.cols());
      at += x.cols();
    }
    items_.resize(static_cast<std::size_t>(points.rows()));
    std::iota(items_.begin(), items_.end(), 0);
    e_.store_items(static_cast<std::int64_t>(items_.size()));
  }
  ~SigmaPoints() {
    for (std::size_t k = 0; k < data_.size(); ++k)
      data_[k].topRows(own_[k].rows()) = own_[k];
    e_.store_items(0);
  }
  SigmaPoints(const SigmaPoints&) = delete;
  SigmaPoints& operator=(const SigmaPoints&) = delete;

  /// Returns the items that are sigma points.
  std::span<const std::int64_t> items() const { return items_; }

 private:
  const Engine& e_;
  std::vector<Rows> data_;           // the data of all items
  std::vector<RowMajorMatrix> own_;  // the data of the first items
  std::vector<std::int64_t> items_;  // the first items
};

}  // namespace

Outcome run_on_sigma_points(const Engine& e, const CaviOptions& o, const OnSweep& on_sweep,
                            const std::function<Outcome(std::span<const std::int64_t>)>& method) {
  std::optional<std::vector<Rows>> data = replaceable(e, o);
  if (!data) return method({});
  const WeightsGuard plain{e};
  const Snapshot begin = e.snapshot_state();
  Outcome out;
  {
    const SigmaPoints points(e, std::move(*data));
    out = method(points.items());
    out.tried.sigma_points = static_cast<std::int64_t>(points.items().size());
  }
  Elbo elbo;
  const bool failed = out.status == Status::numerical_failure || evaluate(e, o, elbo) != 0;
  if (failed || !(elbo.value >= out.elbo - o.tolerance * (1 + std::abs(out.elbo)))) {
    e.load(begin);
    return method({});
  }
  out.elbo = elbo.value;
  return out.status == Status::converged ? run_on(e, o, out, on_sweep) : out;
}

}  // namespace lehr
