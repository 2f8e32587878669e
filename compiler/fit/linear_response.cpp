// A fit is a fixed point eta = f(eta) of updates of its global factors, after the items have been inferred. A change c
// of the naturals moves it by (I - J)^-1 c, with J = df / d eta = H V. In the coordinates u = L' eta of the factors,
// where V = L L', J becomes the symmetric matrix L' H L: a check of the differences.
//
// J times a direction: move all factors along it, infer the items and all else that has no coordinates, update each
// global block from that state, and read its coordinates. Blocks whose elements are updated one after another are
// corrected, since a later element reads what an earlier one has just become (without_order).
//
// Variances need (I - J)^-1 g for the gradient g of each mean. It lies in the space of g, J g, J J g, ..., which soon
// grows no more: the factor of hundreds of Normal numbers reacts to other factors in a few directions only. So J is
// found on a basis of that space (block Lanczos: Golub & Underwood 1977).
#include "compiler/fit/linear_response.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "compiler/fit/checks/cancellation.h"
#include "compiler/fit/movable_fit.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/saved_factor.h"

namespace lehr {
namespace {

using conditionals::Block;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The differences are not those of a maximum if entries of the symmetric matrix differ by more than this.
constexpr double kAsymmetric = 1e-3;
/// Factors with less than this fraction of the standard deviation by linear response are too narrow.
constexpr double kNarrow = 0.8;
/// What takes little work: half of the sweeps of the fit, or so many operations; and so many operations of algebra. For
/// many numbers, and for a warning alone, it is less.
constexpr std::int64_t kFewNumbers = 200, kSweepsToOne = 2;
constexpr double kFewOperations = 5e9, kFewerOperations = 2e9;
/// The most moves by which the variance of one number is estimated, the least square of a residual that another one is
/// worth, and the most numbers of a variable that are estimated.
constexpr std::int64_t kMostMoves = 20, kMostOfOne = 3;
constexpr double kSolved = 1e-4;
/// Visits of the items for each direction; directions for each number if precisions react to means; and rounds of a
/// visit where several steps infer the rest.
constexpr std::int64_t kVisits = 2, kDirections = 3, kRoundsOfOthers = 3;
/// A direction joins the basis if more than this of its unit length is outside. The error of variances is of the order
/// of its square.
constexpr double kOutside = 1e-5;
/// The least reciprocal condition number of equations that have a solution.
constexpr double kSingular = 1e-7;
/// Eigenvalues of I - J below which a direction may be curved: the ELBO is next to flat along it.
constexpr double kFlat = 0.05;
/// The least eigenvalue that differences tell from 0; in a direction with less, a move is as long as with this one.
constexpr double kLeastEigenvalue = 1e-4;
/// A direction is curved if what drives the factors back, one standard deviation away, is so many times as large as
/// near the fit.
constexpr double kCurved = 4;
/// The part of a curved direction that names a variable.
constexpr double kMuch = 0.3;

/// Returns how many numbers that have a standard deviation of their own a value has.
std::size_t numbers_of(math::Support support, std::size_t extent) {
  const int rank = math::event_rank(support);
  return rank == 0 ? 1 : rank == 1 ? extent : extent * (extent + 1) / 2;
}

/// What the copies of an element (`times`) have on their own: how one of them reacts if the others move the other way,
/// so that what is outside the copies stays.
class AloneCopies {
 public:
  /// Finds the reactions of all elements with copies. There is a reason in failure() if that fails.
  explicit AloneCopies(MovableFit& solution);
  /// Returns why there is no result; empty: there is one.
  const std::string& failure() const { return failure_; }
  /// Returns x' (I - J)^-1 y, with the part of J within an element, for slopes of two numbers of it.
  double covariance(std::size_t part, std::size_t element, const Vector& x, const Vector& y) const {
    return x.dot(alone_[part][element].solve(y));
  }

 private:
  std::vector<std::vector<Eigen::PartialPivLU<Matrix>>> alone_;  // of I - J, by part and element; empty: no copies
  std::string failure_;
};

/// Elements of a part react to themselves alone as long as what all items share stays, so that one move of all of them
/// shows a column for each.
AloneCopies::AloneCopies(MovableFit& solution) : alone_(solution.parts().size()) {
  for (std::size_t k = 0; k < alone_.size(); ++k) {
    const MovablePart& part = solution.parts()[k];
    if (!part.has_copies()) continue;
    std::vector<Matrix> own;
    for (const FactorCoordinates& c : part.elements)
      own.push_back(Matrix::Identity(c.size(), c.size()));
    for (Eigen::Index i = 0; i < part.elements[0].size(); ++i) {
      Vector direction = Vector::Zero(solution.size()), response, means;
      for (std::size_t e = 0; e < own.size(); ++e)
        direction[part.first[e] + i] = 1;
      failure_ = solution.respond(direction, response, means);
      if (!failure_.empty()) return;
      for (std::size_t e = 0; e < own.size(); ++e)
        own[e].col(i) -= response.segment(part.first[e], own[e].rows());
    }
    for (const Matrix& x : own)
      alone_[k].emplace_back(x);
  }
}

/// Returns a direction in coordinates that are not scaled by the roots of copies; those of no copies have none.
Vector unscaled(const Vector& x, const Vector& roots) {
  return (roots.array() > 0).select(x.array() / roots.array(), 0);
}

/// Returns the rounds of a visit, which are several if several steps infer what has no coordinates.
std::int64_t rounds_of_visit(const Instance& instance, const Analysed& analysed) {
  const std::vector<Block>& blocks = analysed.schedule.conditionals.blocks;
  const auto others = std::ranges::count_if(instance.engine().steps(), [&](const StepRow& s) {
    const auto block = static_cast<std::size_t>(s.block);
    const bool moved = !s.stage && s.block >= 0 && !analysed.schedule.stage_of[block] &&
                       why_no_coordinates(blocks[block]).empty() && !is_led(instance, analysed, block);
    return !moved && !s.refresh;
  });
  return others > 1 ? kRoundsOfOthers : 1;
}

/// J on a space that contains the gradients of all means, and whatever the factors do in reaction to a move in it.
class ResponseSpace {
 public:
  /// Finds the space of these gradients. There is a reason in failure() unless I - J is positive definite on it.
  /// `most`: directions that it may have.
  ResponseSpace(MovableFit& solution, const std::vector<Vector>& gradients, std::int64_t most);

  /// Returns why there is no response; empty: there is one.
  const std::string& failure() const { return failure_; }
  /// Returns true if there is none because it would have too many directions.
  bool costly() const { return costly_; }
  /// Returns the coordinates of a gradient in the space.
  Vector project(const Vector& gradient) const;
  /// Returns the derivatives of the mean of number k of all followers in these coordinates.
  Vector followed(Eigen::Index k) const { return followed_.row(k); }
  /// Returns how a coordinate of a barren element follows a move in these coordinates.
  Vector following(Eigen::Index coordinate) const { return unscaled_.row(coordinate); }
  /// Returns (I - J)^-1 x in these coordinates.
  Vector solve(const Vector& x) const { return solver_.solve(x); }
  /// Returns the directions that are left out, since the ELBO is curved along them.
  const std::vector<Vector>& curved() const { return curved_; }

 private:
  bool add(Vector direction);
  bool is_curved(MovableFit& solution, const Vector& direction, double eigenvalue) const;
  void straighten(MovableFit& solution, Matrix& equations);

  std::vector<Vector> basis_;  // orthonormal
  Matrix followed_;            // of the means of followers, a column for each direction of the basis
  Matrix unscaled_;            // the responses of all coordinates, without the roots of copies, likewise
  Eigen::LLT<Matrix> solver_;  // of I - J
  std::vector<Vector> curved_;
  std::string failure_;
  bool costly_ = false;
};

/// Makes the part of a direction outside the space a part of its basis, if there is much of it.
bool ResponseSpace::add(Vector direction) {
  for (int pass = 0; pass < 2; ++pass)
    for (const Vector& b : basis_)
      direction -= b.dot(direction) * b;
  const double length = direction.norm();
  if (!(length > kOutside) || std::ssize(basis_) == direction.size()) return false;
  basis_.push_back(direction / length);
  return true;
}

/// Returns true if the factors are driven back by much more, one standard deviation along a direction of unit length,
/// than near the fit, where it is the eigenvalue times the length.
bool ResponseSpace::is_curved(MovableFit& solution, const Vector& direction, double eigenvalue) const {
  const double near = std::max(eigenvalue, kLeastEigenvalue);
  const Vector roots = solution.roots_of_copies();
  Vector response, means;
  const std::string failed = solution.respond(unscaled(direction, roots), response, means, 1 / std::sqrt(near));
  response.array() *= roots.array();
  return failed.empty() && response.allFinite() && 1 - direction.dot(response) > kCurved * near;
}

/// Replaces the eigenvalues of curved directions by 1: along these each factor has its own variance.
void ResponseSpace::straighten(MovableFit& solution, Matrix& equations) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(equations);
  for (Eigen::Index k = 0; k < equations.rows() && eigen.eigenvalues()[k] < kFlat; ++k) {
    if (eigen.eigenvalues()[k] < -kLeastEigenvalue) return;
    const Vector at = eigen.eigenvectors().col(k);
    Vector direction = Vector::Zero(basis_[0].size());
    for (Eigen::Index i = 0; i < at.size(); ++i)
      direction += at[i] * basis_[static_cast<std::size_t>(i)];
    if (!is_curved(solution, direction, eigen.eigenvalues()[k])) continue;
    equations += (1 - eigen.eigenvalues()[k]) * at * at.transpose();
    curved_.push_back(std::move(direction));
  }
}

ResponseSpace::ResponseSpace(MovableFit& solution, const std::vector<Vector>& gradients, std::int64_t most) {
  for (const Vector& g : gradients)
    if (g.norm() > 0) add(g / g.norm());
  if (basis_.empty()) {  // no data reach any of them
    Eigen::Index means = 0;
    for (const Follower& f : solution.followers())
      means += std::ssize(f.sd);
    followed_.resize(means, 0);
    unscaled_.resize(solution.size(), 0);
    solver_.compute(Matrix(0, 0));
    return;
  }
  const std::int64_t first = std::ssize(basis_);
  const Vector roots = solution.roots_of_copies();
  std::vector<Vector> moved, followed, unscaled_responses;
  for (std::size_t k = 0; k < basis_.size(); ++k) {
    Vector response, means;
    failure_ = solution.respond(unscaled(basis_[k], roots), response, means);
    unscaled_responses.push_back(response);
    response.array() *= roots.array();
    if (failure_.empty() && !response.allFinite()) failure_ = "the factors are not at a maximum of the ELBO";
    if (!failure_.empty()) return;
    // If the first move makes other coordinates react, the others will.
    const bool reacts = add(response);
    costly_ = (k == 0 && reacts ? kDirections * first : std::ssize(basis_)) > most;
    if (costly_) return;
    moved.push_back(std::move(response));
    followed.push_back(std::move(means));
  }
  const auto size = std::ssize(basis_);
  followed_.resize(size > 0 ? followed[0].size() : 0, size);
  unscaled_.resize(solution.size(), size);
  for (Eigen::Index j = 0; j < size; ++j) {
    followed_.col(j) = followed[static_cast<std::size_t>(j)];
    unscaled_.col(j) = unscaled_responses[static_cast<std::size_t>(j)];
  }
  Matrix all(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    for (Eigen::Index j = 0; j < size; ++j)
      all(i, j) = basis_[static_cast<std::size_t>(i)].dot(moved[static_cast<std::size_t>(j)]);
  if ((all - all.transpose()).cwiseAbs().maxCoeff() > kAsymmetric * std::max(1.0, all.cwiseAbs().maxCoeff())) {
    failure_ = "the factors are not at a maximum of the ELBO";
    return;
  }
  Matrix equations = Matrix::Identity(size, size) - (all + all.transpose()) / 2;
  solver_.compute(equations);
  if (solver_.info() != Eigen::Success || solver_.rcond() < kFlat) {
    straighten(solution, equations);
    solver_.compute(equations);
  }
  if (solver_.info() != Eigen::Success || solver_.rcond() < kSingular)
    failure_ = "some direction of the factors leaves the ELBO as it is, or the fit is no maximum of it";
}

Vector ResponseSpace::project(const Vector& gradient) const {
  Vector out(std::ssize(basis_));
  for (Eigen::Index k = 0; k < out.size(); ++k)
    out[k] = basis_[static_cast<std::size_t>(k)].dot(gradient);
  return out;
}

/// The covariance of barren elements, which follow what others do, and barren parents of theirs. Their coordinates u
/// move by S v + B u with the coordinates v of the space, so that their covariance is K (I + S (I - J)^-1 S') K' with
/// K = (I - B)^-1.
class BarrenElements {
 public:
  /// Finds how barren elements of all parts follow. There is a reason in failure() if that fails.
  BarrenElements(MovableFit& solution, const ResponseSpace& space);
  /// Returns why there is no result; empty: there is one.
  const std::string& failure() const { return failure_; }
  /// Returns x' C y for slopes of two numbers of a barren element, with C the covariance of its coordinates.
  double covariance(std::size_t part, std::size_t element, const Vector& x, const Vector& y) const {
    const Eigen::Index at = first_.at({part, element});
    return x.dot(covariance_.block(at, at, x.size(), y.size()) * y);
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, Eigen::Index> first_;  // by part and element, in covariance_
  Matrix covariance_;                                                  // of the coordinates of all barren elements
  std::string failure_;
};

BarrenElements::BarrenElements(MovableFit& solution, const ResponseSpace& space) {
  std::vector<Eigen::Index> at;
  std::set<std::size_t> parts;
  bool ordered = false;
  for (std::size_t k = 0; k < solution.parts().size(); ++k) {
    const MovablePart& part = solution.parts()[k];
    for (std::size_t e = 0; e < part.barren.size(); ++e) {
      if (!part.barren[e]) continue;
      first_[{k, e}] = std::ssize(at);
      for (Eigen::Index i = 0; i < part.elements[e].size(); ++i)
        at.push_back(part.first[e] + i);
      parts.insert(k);
      ordered = ordered || solution.is_ordered(part);
    }
  }
  const auto size = std::ssize(at);
  covariance_ = Matrix::Identity(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const Vector moved = space.solve(space.following(at[static_cast<std::size_t>(i)]));
    for (Eigen::Index j = 0; j < size; ++j)
      covariance_(i, j) += space.following(at[static_cast<std::size_t>(j)]).dot(moved);
  }
  if (parts.size() < 2 && !ordered) return;  // none follows another
  Matrix equations = Matrix::Identity(size, size);
  for (Eigen::Index j = 0; j < size; ++j) {
    Vector response, means;
    failure_ = solution.respond(Vector::Unit(solution.size(), at[static_cast<std::size_t>(j)]), response, means);
    if (!failure_.empty()) return;
    equations.col(j) -= response(at);
  }
  const Eigen::PartialPivLU<Matrix> solver(equations);
  covariance_ = solver.solve(solver.solve(covariance_).transpose().eval()).eval();
}

/// Returns the derivatives of the mean of a number in all coordinates. Of a number with copies it is that of their
/// average.
Vector gradient_of(const MovableFit& solution, const FactorNumbers& n, std::size_t k) {
  const auto [element, number] = n.where[k];
  const MovablePart& part = solution.parts()[n.part];
  Vector out = Vector::Zero(solution.size());
  out.segment(part.first[element], part.elements[element].size()) = part.elements[element].slope(number);
  return part.copies.empty() ? out : unscaled(out, solution.roots_of_copies());
}

/// Returns the result for one variable.
Response response_of(const MovableFit& solution, const FactorNumbers& n, const ResponseSpace& space,
                     const AloneCopies& alone, const BarrenElements& barren) {
  Response out{n.name, n.shape, {}, {}, {}, {}};
  const MovablePart& part = solution.parts()[n.part];
  std::vector<Vector> gradients, slopes;
  for (std::size_t k = 0; k < n.where.size(); ++k) {
    gradients.push_back(space.project(gradient_of(solution, n, k)));
    slopes.push_back(part.elements[n.where[k].first].slope(n.where[k].second));
  }
  for (std::size_t k = 0; k < n.where.size(); ++k) {
    const auto [element, number] = n.where[k];
    const math::MeanAndSd& moments = part.elements[element].moments();
    const double own = moments.sd[static_cast<std::size_t>(number)];
    const Vector moved = space.solve(gradients[k]);
    // The average of c copies has the variance a / c + b, each of them a + b, where a is what a copy has alone.
    const double copies = part.copies.empty() ? 1 : part.copies[element];
    const auto covariance = [&](std::size_t j) {
      if (part.is_barren(element)) return barren.covariance(n.part, element, slopes[j], slopes[k]);
      if (copies == 1) return gradients[j].dot(moved);
      const double own_part = alone.covariance(n.part, element, slopes[j], slopes[k]);
      return copies == 0 ? own_part : gradients[j].dot(moved) + own_part * (1 - 1 / copies);
    };
    out.mean.push_back(moments.mean[static_cast<std::size_t>(number)]);
    out.sd.push_back(own);
    // What the statistics do not explain is left to the factor.
    const double explained = copies == 1 ? gradients[k].squaredNorm() : slopes[k].squaredNorm();
    const double variance = covariance(k) + std::max(own * own - explained, 0.0);
    out.response.push_back(std::isfinite(own) && variance > 0 ? std::sqrt(variance) : std::nan(""));
    if (n.vector_width == 0) continue;
    const std::size_t first = k - k % n.vector_width;
    for (std::size_t j = first; j < first + n.vector_width; ++j)
      out.covariance.push_back(j == k ? variance : covariance(j));
  }
  return out;
}

/// Returns the results for variables that only follow. `first` is the number of the first one among all of them. What
/// moves them is added to the variance by their factor (Giordano, Broderick & Jordan 2018, proposition 3).
Response response_of(const Follower& f, const ResponseSpace& space, Eigen::Index first) {
  Response out{f.name, f.shape, f.mean, f.sd, {}, {}};
  for (std::size_t k = 0; k < f.sd.size(); ++k) {
    const Vector slope = space.followed(first + static_cast<Eigen::Index>(k));
    out.response.push_back(std::sqrt(f.sd[k] * f.sd[k] + slope.dot(space.solve(slope))));
  }
  return out;
}

/// How much linear response works with.
struct ResponseSizes {
  std::int64_t numbers = 0;  // numbers of global variables
  double coordinates = 0;    // coordinates of their factors
  double operations = 0;     // of moving the factors once
};

/// Returns these sizes, which the forms of the factors tell.
ResponseSizes sizes_of(Instance& instance, const Analysed& analysed) {
  constexpr double kFactorisations = 8;  // of a matrix in a factor, for each move
  ResponseSizes out;
  const model::Model& m = analysed.model;
  const std::vector<Block>& blocks = analysed.schedule.conditionals.blocks;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& b = blocks[k];
    if (analysed.schedule.stage_of[k] || !why_no_coordinates(b).empty() || is_led(instance, analysed, k)) continue;
    if (m[b.variable].auxiliary && !is_joint(m[b.variable])) continue;
    const std::optional<FactorPlace> place = place_of(instance, analysed, k);
    if (!place) continue;
    std::size_t of_one = numbers_of(m[b.variable].support, place->extent);
    if (b.mean) of_one += numbers_of(m[*b.mean].support, place->extent);
    const auto count = static_cast<double>(place->count), extent = static_cast<double>(place->extent);
    out.numbers += static_cast<std::int64_t>(place->count * of_one);
    const bool dense = m[b.variable].support != math::Support::simplex && extent > 1;
    out.coordinates += count * (dense ? extent * (extent + 3) / 2 : 2 * extent);
    out.operations += count * (dense ? kFactorisations * extent * extent * extent : extent);
  }
  return out;
}

/// Returns the operations of a visit of all items, with a move of the factors.
double operations_of_visit(const Engine& engine, const ResponseSizes& sizes) {
  double out = 1 + sizes.operations;
  for (const StepRow& s : engine.steps())
    out += static_cast<double>(s.outside) +
           (s.stage ? static_cast<double>(s.operations) * static_cast<double>(engine.extent(s.items)) : 0);
  return out;
}

/// Returns g' (I - J)^-1 g for the gradient g of a mean, or a little less, by conjugate gradients; NaN if I - J is not
/// positive definite.
double variance_along(MovableFit& solution, const Vector& g, const Vector& roots) {
  Vector x = Vector::Zero(g.size()), residual = g, direction = g;
  for (std::int64_t k = 0; k < kMostMoves; ++k) {
    const double before = residual.squaredNorm(), length = direction.norm();
    if (before <= kSolved * g.squaredNorm()) break;
    Vector response, means;
    if (!solution.respond(unscaled(direction / length, roots), response, means).empty()) return std::nan("");
    const Vector image = direction - length * response.cwiseProduct(roots);
    const double curvature = direction.dot(image);
    if (!(curvature > 0)) return std::nan("");
    x += before / curvature * direction;
    residual -= before / curvature * image;
    direction = residual + residual.squaredNorm() / before * direction;
  }
  return g.dot(x);
}

}  // namespace

std::int64_t response_numbers(Instance& instance, const Analysed& analysed) {
  return sizes_of(instance, analysed).numbers;
}

std::int64_t cheap_visits(Instance& instance, const Analysed& analysed, std::int64_t sweeps) {
  if (analysed.schedule.conditionals.blocks.size() < 2) return 0;  // a factor alone is the posterior
  const ResponseSizes sizes = sizes_of(instance, analysed);
  if (sizes.numbers == 0) return 0;
  const Engine& engine = instance.engine();
  const double operations = sizes.numbers > kFewNumbers ? kFewerOperations : kFewOperations;
  const auto visits = static_cast<std::int64_t>(operations / operations_of_visit(engine, sizes));
  const std::int64_t of_one = kVisits * rounds_of_visit(instance, analysed),
                     most = std::max(sweeps / kSweepsToOne, visits),
                     // Each direction is made orthogonal to all before, twice.
      directions = static_cast<std::int64_t>(std::sqrt(kFewOperations / (2 * sizes.coordinates)));
  return of_one * sizes.numbers <= most && sizes.numbers <= directions ? std::min(most, of_one * directions) : 0;
}

LinearResponse sampled_response(Instance& instance, const Analysed& analysed) {
  LinearResponse out;
  const ResponseSizes sizes = sizes_of(instance, analysed);
  if (sizes.numbers > kMostNumbers) return out;
  auto left = static_cast<std::int64_t>(kFewerOperations / operations_of_visit(instance.engine(), sizes));
  const std::int64_t of_one = kMostMoves * kVisits * rounds_of_visit(instance, analysed);
  if (left < of_one) return out;
  MovableFit solution(instance, analysed);
  if (solution.parts().empty() || !solution.converge().empty() || !solution.find_orders().empty()) return out;
  const Vector roots = solution.roots_of_copies();
  std::vector<FactorNumbers> all = solution.numbers();
  std::ranges::stable_sort(all, {}, [](const FactorNumbers& n) { return n.where.size(); });
  for (const FactorNumbers& n : all) {
    const MovablePart& part = solution.parts()[n.part];
    if (n.where.empty() || !part.copies.empty()) continue;
    Response of{n.name, n.shape, {}, {}, std::vector<double>(n.where.size(), std::nan("")), {}};
    for (const auto& [element, number] : n.where)
      of.sd.push_back(part.elements[element].moments().sd[static_cast<std::size_t>(number)]);
    const std::size_t step = (n.where.size() + kMostOfOne - 1) / kMostOfOne;
    for (std::size_t k = 0; k < of.sd.size() && left >= of_one; k += step) {
      if (part.is_barren(n.where[k].first)) continue;
      const Vector g = gradient_of(solution, n, k);
      const double own = of.sd[k],
                   variance = variance_along(solution, g, roots) + std::max(own * own - g.squaredNorm(), 0.0);
      if (std::isfinite(own) && variance > 0) of.response[k] = std::sqrt(variance);
      left -= of_one;
    }
    out.variables.push_back(std::move(of));
  }
  return out;
}

std::string left_as_they_are(const LinearResponse& response) {
  if (response.curved.empty()) return "";
  return fmt::format(
      "the ELBO is next to flat along changes of {}, as of rotations, and the standard deviations leave these out: "
      "they "
      "are those of what such changes leave alone",
      fmt::join(response.curved, ", "));
}

std::string narrowed(const LinearResponse& response) {
  double least = kNarrow;
  std::string narrowest, of;
  std::vector<std::string> names;
  for (const Response& r : response.variables) {
    bool narrow = false;
    for (std::size_t k = 0; k < r.sd.size(); ++k) {
      const double ratio = r.sd[k] / r.response[k];
      narrow = narrow || ratio < kNarrow;
      if (!(ratio < least)) continue;
      least = ratio;
      of = r.name;
      narrowest = r.name + subscripts(r.shape, k);
    }
    if (narrow) names.push_back(r.name);
  }
  std::erase(names, of);
  if (narrowest.empty()) return "";
  return fmt::format("the standard deviation of {} is too small, {:.2f} of that by linear response{}", narrowest, least,
                     names.empty() ? "" : fmt::format("; so are some of {}", fmt::join(names, ", ")));
}

std::vector<NamedArray> arrays_of(const LinearResponse& response) {
  std::vector<NamedArray> out;
  for (const Response& r : response.variables) {
    out.push_back({r.name + ".sd", r.shape, r.response});
    if (r.covariance.empty()) continue;
    std::vector<std::int64_t> shape = r.shape;
    shape.push_back(shape.back());
    out.push_back({r.name + ".covariance", std::move(shape), r.covariance});
  }
  return out;
}

LinearResponse linear_response(Instance& instance, const Analysed& analysed, std::int64_t most, std::int64_t visits) {
  LinearResponse out;
  const auto too_often = [&out](bool costly) {
    if (costly) out.failure = "it would visit the items too often";
    return out.costly = costly;
  };
  if (too_often(visits == 0)) return out;
  if (const std::int64_t numbers = response_numbers(instance, analysed); numbers > most) {
    out.failure = fmt::format("the global variables have {} numbers, of {} at most", numbers, most);
    return out;
  }
  MovableFit solution(instance, analysed);
  if (!solution.parts().empty()) out.failure = solution.converge();
  out.left_out = solution.left_out();
  if (solution.parts().empty()) return out;
  if (out.failure.empty()) out.failure = solution.find_orders();
  if (!out.failure.empty()) return out;
  const std::vector<FactorNumbers> numbers = solution.numbers();
  std::vector<Vector> gradients;
  for (const FactorNumbers& n : numbers)
    for (std::size_t k = 0; k < n.where.size(); ++k)
      gradients.push_back(gradient_of(solution, n, k));
  const ResponseSpace space(solution, gradients, visits / (kVisits * rounds_of_visit(instance, analysed)));
  out.failure = space.failure();
  if (too_often(space.costly())) return out;
  if (!out.failure.empty()) return out;
  for (const FactorNumbers& n : numbers) {
    const MovablePart& part = solution.parts()[n.part];
    const auto moves = [&](const Vector& direction) {
      return direction.segment(part.first.front(), part.first.back() - part.first.front()).norm() > kMuch;
    };
    if (std::ranges::any_of(space.curved(), moves)) out.curved.push_back(n.name);
  }
  const AloneCopies alone(solution);
  const BarrenElements barren(solution, space);
  out.failure = alone.failure().empty() ? barren.failure() : alone.failure();
  if (!out.failure.empty()) return out;
  for (const FactorNumbers& n : numbers)
    out.variables.push_back(response_of(solution, n, space, alone, barren));
  Eigen::Index first = 0;
  for (const Follower& f : solution.followers()) {
    out.variables.push_back(response_of(f, space, first));
    first += std::ssize(f.sd);
  }
  return out;
}

}  // namespace lehr
