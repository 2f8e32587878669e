// Builds a Markov chain from marginals and neighbouring precisions. Everything is done in standardised numbers L^-1 (x
// - m), whose covariance between neighbours is R, by the formulas in the header.
#include "compiler/posterior/step_covariance.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "compiler/posterior/chain_completion.h"

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
        {Eigen::Map<const Vector>(mean[k].data(), n), Eigen::Map<const Matrix>(root[k].data(), n, n), {}, {}, {}, {}});
  }
  if (out.link_neighbours(links)) return out;
  for (Step& s : out.steps_)
    s.predecessors.clear();
  if (!out.link_sequences(links)) return std::nullopt;
  return out;
}

bool StepCovariance::link_neighbours(const PrecisionBlocks& links) {
  std::set<std::size_t> followed;
  for (const auto& [pair, block] : links) {
    Step &first = steps_[pair.first], &second = steps_[pair.second];
    if (!second.predecessors.empty() || !followed.insert(pair.first).second) return false;
    const Eigen::JacobiSVD<Matrix> svd(second.root.transpose() * block * first.root,
                                       Eigen::ComputeFullU | Eigen::ComputeFullV);
    const auto m = svd.singularValues().array();
    const Vector r = -2 * m / (1 + (1 + 4 * m.square()).sqrt());
    second.predecessors = {pair.first};
    second.coefficients = svd.matrixU() * r.asDiagonal() * svd.matrixV().transpose();
    second.lagged = second.coefficients;
    second.innovation_root = svd.matrixU() * (1 - r.array().square()).max(0).sqrt().matrix().asDiagonal();
  }
  return true;
}

/// Sequences are the steps that links connect.
bool StepCovariance::link_sequences(const PrecisionBlocks& links) {
  std::vector<std::size_t> sequence(steps_.size());
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  for (const auto& [pair, block] : links)
    std::ranges::replace(sequence, std::size_t{sequence[pair.second]}, std::size_t{sequence[pair.first]});
  std::map<std::size_t, std::vector<std::size_t>> members;
  std::vector<std::size_t> position(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    position[k] = members[sequence[k]].size();
    members[sequence[k]].push_back(k);
  }
  std::size_t reach = 1;
  std::map<std::size_t, std::vector<ChainStep>> linked;
  for (const auto& [at, steps] : members)
    linked[at].resize(steps.size());
  for (const auto& [pair, block] : links) {
    const Step &first = steps_[pair.first], &second = steps_[pair.second];
    if (first.mean.size() != second.mean.size()) return false;
    const std::size_t lag = position[pair.second] - position[pair.first];
    std::vector<Matrix>& to = linked[sequence[pair.first]][position[pair.second]].links;
    if (to.size() < lag) to.resize(lag, Matrix::Zero(block.rows(), block.cols()));
    to[lag - 1] = second.root.transpose() * block * first.root;
    reach = std::max(reach, lag);
  }
  for (const auto& [at, steps] : members) {
    if (steps.size() == 1) continue;
    const std::optional<std::vector<StepRegression>> found =
        complete_chain(linked[at], steps_[steps[0]].mean.size(), reach);
    if (!found) return false;
    for (std::size_t k = 1; k < steps.size(); ++k) {
      Step& s = steps_[steps[k]];
      for (std::size_t j = k - std::min(k, reach); j < k; ++j)
        s.predecessors.push_back(steps[j]);
      s.coefficients = (*found)[k].coefficients;
      s.innovation_root = (*found)[k].innovation_root;
      s.lagged = (*found)[k].lagged;
    }
  }
  return true;
}

double StepCovariance::between(StepCoordinate a, StepCoordinate b) const {
  if (a.step < b.step) std::swap(a, b);
  // Weights of steps, of which the last one is replaced by its predecessors until none is later than b.
  std::map<std::size_t, Eigen::RowVectorXd> across;
  across[a.step] = steps_[a.step].root.row(static_cast<Eigen::Index>(a.coordinate));
  while (!across.empty() && across.rbegin()->first > b.step) {
    const auto last = across.extract(std::prev(across.end()));
    const Step& s = steps_[last.key()];
    Eigen::Index at = 0;
    for (const std::size_t p : s.predecessors) {
      const Eigen::Index n = steps_[p].mean.size();
      const Eigen::RowVectorXd w = last.mapped() * s.coefficients.middleCols(at, n);
      const auto [to, added] = across.try_emplace(p, w);
      if (!added) to->second += w;
      at += n;
    }
  }
  const Step& to = steps_[b.step];
  const auto row = to.root.row(static_cast<Eigen::Index>(b.coordinate));
  double out = 0;
  if (const auto own = across.find(b.step); own != across.end()) out = own->second.dot(row);
  Eigen::Index at = 0;
  for (const std::size_t p : to.predecessors) {
    const Eigen::Index n = steps_[p].mean.size();
    if (const auto w = across.find(p); w != across.end()) out += w->second.dot(row * to.lagged.middleCols(at, n));
    at += n;
  }
  return out;
}

double StepCovariance::variance(const std::map<std::size_t, std::vector<double>>& weights) const {
  if (weights.empty()) return 0;
  double out = 0;
  // By step, for the last ones of each sequence so far: the covariance of L^-1 (x - m) with the sum up to here.
  std::map<std::size_t, Vector> across;
  for (std::size_t k = weights.begin()->first; k <= weights.rbegin()->first; ++k) {
    const Step& s = steps_[k];
    const auto w = weights.find(k);
    Vector own = Vector::Zero(s.mean.size());
    if (w != weights.end()) own = s.root.transpose() * Eigen::Map<const Vector>(w->second.data(), s.mean.size());
    Vector earlier = Vector::Zero(s.mean.size());
    Eigen::Index at = 0;
    for (const std::size_t p : s.predecessors) {
      const Eigen::Index n = steps_[p].mean.size();
      const auto before = across.try_emplace(p, Vector::Zero(n)).first;
      earlier += s.coefficients.middleCols(at, n) * before->second;
      before->second += s.lagged.middleCols(at, n).transpose() * own;
      at += n;
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
    if (!s.predecessors.empty()) z = Vector(s.innovation_root * z);
    Eigen::Index at = 0;
    for (const std::size_t p : s.predecessors) {
      z += Vector(s.coefficients.middleCols(at, standard[p].size()) * standard[p]);
      at += standard[p].size();
    }
    standard.push_back(std::move(z));
    const Vector x = s.mean + s.root * standard.back();
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

}  // namespace lehr
