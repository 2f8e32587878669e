// Arnoldi's method on the derivative of a sweep, and the trials along the least stable direction.
#include "runtime/inference/saddle.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "runtime/inference/coordinates.h"
#include "runtime/inference/improvement_bound.h"
#include "runtime/machine/damping.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

constexpr std::int64_t kMostSaddles = 10;  // saddle points that one run leaves
constexpr Eigen::Index kVectors = 12;      // most products with the derivative
constexpr double kStep = 1e-3;             // length of a difference, in standard deviations
constexpr double kResidual = 0.01;         // residual at which the eigenvalue is good enough, relative to it
constexpr double kUnstable = 1 + 1e-3;     // eigenvalue above which a fixed point is reported as a saddle point
constexpr double kTried = 0.9;             // eigenvalue above which equal components are displaced all the same
constexpr double kLengths[] = {1, 8, 32};  // lengths of displacements, in standard deviations
constexpr std::int64_t kTrialSweeps = 50;  // most sweeps after a displacement
constexpr double kMore = 2;   // gain of a sweep that counts as a rise, in gains of a sweep at the end of the run
constexpr double kRise = 10;  // gain of a run after a saddle point from which its end is tested again, in tolerances
constexpr std::size_t kMostOfItems = 1 << 20;  // most parameters of items that are displaced
constexpr double kAlike = 1e-3;                // relative difference of components that count as equal
constexpr double kNextToZero = 0.1;            // means that count as 0, in standard deviations

using Vector = Eigen::VectorXd;

/// Ends a test of which a sweep has failed; never leaves this file.
struct Failed {};

/// Returns true if the parameters have finite ranges: probabilities, and means of spins.
bool is_bounded(const CoordinateArray& a) {
  using machine::Parameter;
  if (!a.row) return false;
  return a.row->parameter == Parameter::p || a.row->parameter == Parameter::probs ||
         a.row->support == machine::Support::spin;
}

/// Returns what the test displaces: what sweeps begin with, and those factors of items from which they go on.
std::vector<CoordinateArray> displaced_arrays(const Engine& e) {
  std::vector<CoordinateArray> out = arrays_before_sweep(e), of_items;
  std::size_t count = 0;
  for (const machine::ParameterRow& row : machine::parameters_of(e.model())) {
    if (!row.by_stage || row.streamed || row.chain) continue;
    of_items.push_back({row.buffer, &row});
    count += e.reals(row.buffer).size();
  }
  if (count <= kMostOfItems && !e.workers().is_distributed()) std::ranges::copy(of_items, std::back_inserter(out));
  return out;
}

/// Returns true if an array has equal slices along its one axis over components.
bool has_equal_slices(const Engine& e, const machine::ComponentArrayRow& a) {
  const machine::BufferRow& buffer = e.model().buffers[a.buffer];
  std::size_t inner = 1, count = 1;
  for (std::int64_t k = buffer.axes; k-- > 0;) {
    const auto extent = static_cast<std::size_t>(e.extent(e.model().axes[buffer.first_axis + k]));
    if (a.axes == std::uint64_t{1} << k) {
      count = extent;
      break;
    }
    inner *= extent;
  }
  const std::span<const double> x = e.reals(a.buffer);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double first = x[i - i / inner % count * inner];
    if (!(std::abs(x[i] - first) <= kAlike * std::abs(first) + 1e-12)) return false;
  }
  return true;
}

/// Returns true if the components of some plate are equal: a sweep then leaves them so, although their items differ.
/// The priors alone may hold them together, with an eigenvalue below 1 by little.
bool has_equal_components(const Engine& e) {
  const machine::Model& m = e.model();
  for (std::int64_t k = 0; k < m.components_count; ++k) {
    const machine::ComponentsRow& c = m.components[k];
    bool any = false, equal = e.extent(c.count) > 1;
    for (std::int64_t i = c.first_array; i < c.first_array + c.arrays && equal; ++i) {
      const machine::ComponentArrayRow& a = m.component_arrays[i];
      if (a.kind != machine::ComponentKind::factor || !std::has_single_bit(a.axes) || e.is_partial(a.buffer)) continue;
      any = true;
      equal = has_equal_slices(e, a);
    }
    if (any && equal) return true;
  }
  return false;
}

/// Returns true if a slice of two elements or more along one axis, with this extent and so many elements inside, is 0
/// throughout. `zero` has all elements of the array, row-major.
bool has_zero_slice(const std::vector<bool>& zero, std::size_t extent, std::size_t inner) {
  if (zero.size() < 2 * extent) return false;
  std::vector<bool> all(extent, true);
  for (std::size_t i = 0; i < zero.size(); ++i)
    if (!zero[i]) all[i / inner % extent] = false;
  return std::ranges::find(all, true) != all.end();
}

/// Returns true if numbers that were `now` are finite after a displacement, and those that must be positive still are.
bool is_inside(const CoordinateArray& a, std::span<const double> now, std::span<const double> x) {
  const bool positive = a.row && machine::stays_positive(*a.row);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]) || (positive && now[i] > 0 && !(x[i] > 0))) return false;
  return true;
}

/// The test of one fixed point, whose factors are in the engine.
class EndTest {
 public:
  EndTest(const Engine& e, const CaviOptions& options, double elbo)
      : e_(e), options_(options), elbo_(elbo), arrays_(displaced_arrays(e)), end_(e.save()) {
    smooth_ = options;
    // One pass over the local blocks of an item is smooth in the factors; a number of passes that they choose is not.
    smooth_.local_iterations = 1;
    smooth_.item_parameters = true;
  }

  /// Tests the fixed point. Leaves the factors after a displacement from which the ELBO has risen, or as they were.
  Saddle run() {
    Saddle out{.elbo = elbo_};
    try {
      Elbo elbo;
      make(options_, &elbo);  // also writes what the sweeps of the run may have left out
      gain_ = std::abs(elbo.value - elbo_);
      base_ = e_.save();
      now_ = numbers(e_, arrays_);
      weigh();
      find_direction();
      out.eigenvalue = eigenvalue_;
      e_.load(base_);
      const bool tried = eigenvalue_ > kUnstable || (eigenvalue_ > kTried && has_equal_components(e_));
      out.left = tried && try_lengths();
    } catch (const Failed&) {
    }
    if (!out.left) e_.load(end_);
    out.sweeps = sweeps_;
    return out;
  }

 private:
  /// Computes the unit of each coordinate: a standard deviation, or the size of what has none.
  void weigh() {
    std::vector<double> weights;
    for (const CoordinateArray& a : arrays_) {
      const std::span<double> x = e_.reals(a.buffer);
      const std::size_t begin = weights.size();
      weights.resize(begin + x.size());
      const std::span<double> of_array = std::span(weights).subspan(begin);
      if (!is_bounded(a) && weigh_by_spread(e_, a, of_array)) continue;
      const auto count = static_cast<Eigen::Index>(x.size());
      const double size = Eigen::Map<const Eigen::ArrayXd>(x.data(), count).square().sum();
      std::ranges::fill(of_array, is_bounded(a) || !(size > 0) ? 1 : static_cast<double>(x.size()) / size);
    }
    unit_ = Eigen::Map<const Eigen::ArrayXd>(weights.data(), std::ssize(weights)).max(1e-300).rsqrt();
  }

  /// Displaces the factors from the fixed point by `factor` times this vector, in units. Returns false if they leave
  /// their ranges.
  bool displace(const Vector& by, double factor) {
    e_.load(base_);
    shift(e_, arrays_, now_, by.array() * unit_, factor);
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      const std::span<double> x = e_.reals(arrays_[k].buffer);
      if (!is_bounded(arrays_[k])) {
        if (!is_inside(arrays_[k], now_[k], x)) return false;
        continue;
      }
      // Also where a probability next to 0 has left its range.
      const double least = arrays_[k].row->support == machine::Support::spin ? -1 : 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::clamp(x[i], (now_[k][i] + least) / 2, (now_[k][i] + 1) / 2);
    }
    e_.invalidate_sums();
    e_.invalidate_parts();
    return machine::call_on_stored(e_.machine(), e_.model().expectations) == 0;
  }

  /// Makes one sweep; throws Failed if it fails.
  void make(const SweepOptions& options, Elbo* elbo) {
    ++sweeps_;
    if (sweep(e_, options, {.bound = elbo != nullptr}) != 0 || (elbo && e_.elbo(*elbo) != 0)) throw Failed();
  }

  /// Returns the coordinates after a smooth sweep, in units.
  Vector swept() {
    make(smooth_, nullptr);
    const std::vector<double> x = coordinates(e_, arrays_);
    return Eigen::Map<const Eigen::ArrayXd>(x.data(), std::ssize(x)) / unit_;
  }

  /// Returns the product of the derivative of a sweep with a vector of length 1.
  Vector product(const Vector& v) {
    if (!displace(v, kStep)) throw Failed();
    return (swept() - fixed_) / kStep;
  }

  /// Finds the largest eigenvalue of the derivative and its eigenvector by Arnoldi's method. It begins with the product
  /// with a random vector, since the images of a sweep fulfil the constraints of the parameters.
  void find_direction() {
    fixed_ = swept();
    Rng rng(options_.seed, kStream);
    Vector v(unit_.size());
    for (double& x : v)
      x = draw_normal(rng);
    v = product(v.normalized());
    if (!(v.norm() > 0)) return;
    std::vector<Vector> basis{v.normalized()};
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(kVectors + 1, kVectors);
    for (Eigen::Index m = 0; m < kVectors; ++m) {
      v = product(basis.back());
      // Twice, because rounding leaves a part of the basis in it.
      for (int k = 0; k < 2; ++k) {
        for (Eigen::Index i = 0; i <= m; ++i) {
          const double along = basis[static_cast<std::size_t>(i)].dot(v);
          h(i, m) += along;
          v -= along * basis[static_cast<std::size_t>(i)];
        }
      }
      h(m + 1, m) = v.norm();
      const double residual = read(basis, h.topLeftCorner(m + 1, m + 1)) * h(m + 1, m);
      if (!(residual > kResidual * std::abs(eigenvalue_)) || h(m + 1, m) < kRounding) return;
      basis.push_back(v.normalized());
    }
  }

  /// Reads the eigenvalue and the direction from the projected derivative. Returns the size of the last component of
  /// the projected eigenvector.
  double read(const std::vector<Vector>& basis, const Eigen::MatrixXd& h) {
    if (!h.allFinite()) throw Failed();
    const Eigen::EigenSolver<Eigen::MatrixXd> eigen(h);
    Eigen::Index largest = 0;
    eigen.eigenvalues().real().maxCoeff(&largest);
    const Vector y = eigen.eigenvectors().col(largest).real();
    eigenvalue_ = eigen.eigenvalues()[largest].real();
    direction_ = Vector::Zero(unit_.size());
    for (Eigen::Index i = 0; i < y.size(); ++i)
      direction_ += y[i] * basis[static_cast<std::size_t>(i)];
    direction_.normalize();
    return std::abs(y[y.size() - 1]);
  }

  /// Displaces the factors by several lengths, both ways, until the ELBO rises after one of them.
  bool try_lengths() {
    for (const double length : kLengths) {
      for (const double sign : {1.0, -1.0}) {
        if (displace(direction_, sign * length) && rises()) return true;
      }
    }
    return false;
  }

  /// Makes sweeps until the ELBO has risen by several tolerances above that which as many sweeps from the fixed point
  /// could reach, or will not. Returns true if it is above that at the end.
  bool rises() {
    ImprovementBound outlook;
    const double size = 1 + std::abs(elbo_);
    Elbo elbo;
    for (std::int64_t k = 0; k < kTrialSweeps; ++k) {
      try {
        make(options_, &elbo);
      } catch (const Failed&) {
        return false;
      }
      if (!machine::is_possible(elbo.value)) return false;
      const double reached = elbo_ + kMore * static_cast<double>(k + 2) * gain_,
                   target = reached + kRise * options_.tolerance * size;
      const bool above = elbo.value > reached + options_.slack.elbo * size;
      if (elbo.value > target) return above;
      if (k + 1 == kTrialSweeps || !outlook.may_reach(target, elbo.value)) return above;
    }
    return false;
  }

  static constexpr std::uint64_t kStream = 0x5ADD1E;  // of the random numbers
  static constexpr double kRounding = 1e-8;           // length of a vector that is rounding

  const Engine& e_;
  const CaviOptions& options_;
  const double elbo_;                          // ELBO of the fixed point
  const std::vector<CoordinateArray> arrays_;  // what is displaced
  const Arrays end_;                           // state at the end of the run
  Arrays base_, now_;                          // state after one more sweep, and its numbers in `arrays_`
  SweepOptions smooth_;                        // accuracy of the sweeps that are compared
  Eigen::ArrayXd unit_;                        // units of the coordinates
  Vector fixed_, direction_;                   // coordinates after one sweep, and the least stable direction, in units
  double eigenvalue_ = 0,                      // largest eigenvalue
      gain_ = 0;                               // what one more sweep gains
  std::int64_t sweeps_ = 0;                    // sweeps made
};

}  // namespace

bool can_test_end(const Engine& e) { return e.machine().stores_all_items() && !e.spills(); }

bool has_means_at_zero(const Engine& e) {
  for (const CoordinateArray& a : arrays_before_sweep(e)) {
    if (!a.row || a.row->local || a.row->parameter != machine::Parameter::mean) continue;
    const std::span<const double> x = e.reals(a.buffer);
    std::vector<double> weights(x.size());
    if (x.size() < 2 || !weigh_by_spread(e, a, weights)) continue;
    std::vector<bool> zero(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      zero[i] = x[i] * x[i] * weights[i] < kNextToZero * kNextToZero;
    if (has_zero_slice(zero, 1, 1)) return true;
    const machine::BufferRow& buffer = e.model().buffers[a.buffer];
    std::size_t inner = 1;
    for (std::int64_t k = buffer.axes; k-- > 0;) {
      const auto extent = static_cast<std::size_t>(e.extent(e.model().axes[buffer.first_axis + k]));
      if (has_zero_slice(zero, extent, inner)) return true;
      inner *= extent;
    }
  }
  return false;
}

Outcome leave_saddles(const Engine& e, const CaviOptions& options, Outcome ended, const OnSweep& on_sweep) {
  const WeightsGuard plain{e};
  while (ended.status == Status::converged && std::ssize(ended.saddles) < kMostSaddles) {
    e.set({});
    const Saddle found = e.recorded([&] { return EndTest(e, options, ended.elbo).run(); });
    if (found.left || found.eigenvalue > kUnstable) ended.saddles.push_back(found);
    if (!found.left) break;
    ended = run_on(e, options, ended, on_sweep);
    // A loose tolerance ends the run again soon.
    if (!(ended.elbo - found.elbo > kRise * options.tolerance * (1 + std::abs(found.elbo)))) break;
  }
  return ended;
}

}  // namespace lehr
