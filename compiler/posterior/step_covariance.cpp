// Builds a Markov chain from marginals and neighbouring precisions. Everything is done in standardised numbers L^-1 (x
// - m), whose covariance between neighbours is R, by the formulas in the header.
#include "compiler/posterior/step_covariance.h"

#include <cmath>
#include <set>

namespace lehr {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

std::optional<StepCovariance> StepCovariance::make(std::vector<std::vector<double>> mean,
                                                   const std::vector<std::vector<double>>& root,
                                                   const PrecisionBlocks& links) {
  StepCovariance out;
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const auto n = std::ssize(mean[k]);
    if (std::ssize(root[k]) != n * n) return std::nullopt;
    // `root` is row-major with R' R the covariance; read as column-major it is L = R'.
    out.steps_.push_back(
        {Eigen::Map<const Vector>(mean[k].data(), n), Eigen::Map<const Matrix>(root[k].data(), n, n), {}, {}, {}});
  }
  // Each step has at most one predecessor and one successor.
  std::set<std::size_t> followed;
  for (const auto& [pair, block] : links) {
    Step &first = out.steps_[pair.first], &second = out.steps_[pair.second];
    if (second.predecessor || !followed.insert(pair.first).second) return std::nullopt;
    const Eigen::JacobiSVD<Matrix> svd(second.root.transpose() * block * first.root,
                                       Eigen::ComputeFullU | Eigen::ComputeFullV);
    const auto m = svd.singularValues().array();
    const Vector r = -2 * m / (1 + (1 + 4 * m.square()).sqrt());
    second.predecessor = pair.first;
    second.correlation = svd.matrixU() * r.asDiagonal() * svd.matrixV().transpose();
    second.innovation_root = svd.matrixU() * (1 - r.array().square()).max(0).sqrt().matrix().asDiagonal();
  }
  return out;
}

double StepCovariance::between(StepCoordinate a, StepCoordinate b) const {
  if (a.step < b.step) std::swap(a, b);
  // Multiplies the correlations along the path from the later step back to the earlier one.
  Eigen::RowVectorXd across = steps_[a.step].root.row(static_cast<Eigen::Index>(a.coordinate));
  std::size_t at = a.step;
  while (at > b.step && steps_[at].predecessor) {
    across = across * steps_[at].correlation;
    at = *steps_[at].predecessor;
  }
  return at == b.step ? across.dot(steps_[at].root.row(static_cast<Eigen::Index>(b.coordinate))) : 0;
}

double StepCovariance::variance(const std::map<std::size_t, std::vector<double>>& weights) const {
  if (weights.empty()) return 0;
  double out = 0;
  // By the last step of each sequence so far: the covariance of L^-1 (x - m) with the sum up to that step.
  std::map<std::size_t, Vector> across;
  for (std::size_t k = weights.begin()->first; k <= weights.rbegin()->first; ++k) {
    const Step& s = steps_[k];
    const auto w = weights.find(k);
    Vector own = Vector::Zero(s.mean.size());
    if (w != weights.end()) own = s.root.transpose() * Eigen::Map<const Vector>(w->second.data(), s.mean.size());
    const auto before = s.predecessor ? across.find(*s.predecessor) : across.end();
    Vector earlier = Vector::Zero(s.mean.size());
    if (before != across.end()) {
      earlier = s.correlation * before->second;
      across.erase(before);
    }
    out += own.squaredNorm() + 2 * own.dot(earlier);
    across.emplace(k, own + earlier);
  }
  return out;
}

std::vector<std::vector<double>> StepCovariance::draw(const std::function<Rng&(std::size_t step)>& rng_of) const {
  // The standardised numbers of each step.
  std::vector<Vector> standard;
  std::vector<std::vector<double>> out;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Step& s = steps_[k];
    Vector z(s.mean.size());
    for (double& x : z)
      x = draw_normal(rng_of(k));
    standard.push_back(s.predecessor ? Vector(s.correlation * standard[*s.predecessor] + s.innovation_root * z) : z);
    const Vector x = s.mean + s.root * standard.back();
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

}  // namespace lehr
