// Numbers of one factor taken together: the steps of Gaussian chains, and variances of weighted sums. The variance of a
// sum over a Normal vector is |R w|^2, R the root of its covariance; adding variances and covariances one by one would
// lose digits.
#include <cmath>
#include <numeric>

#include "compiler/model/walk.h"
#include "compiler/posterior/posterior_moments.h"

namespace lehr {

using namespace model;
using Kind = Atom::Kind;

namespace {

/// Returns |R w|^2 for a row-major square matrix R.
double squared_norm(const std::vector<double>& root, const std::vector<double>& weights) {
  double out = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto row = root.begin() + static_cast<std::ptrdiff_t>(k * weights.size());
    const double x = std::inner_product(weights.begin(), weights.end(), row, 0.0);
    out += x * x;
  }
  return out;
}

}  // namespace

StepCoordinate PosteriorMoments::step_of(const Atom& a) {
  const JointCovariance* joint = model_[a.variable].joint ? joint_of(block_of(a)) : nullptr;
  if (!joint) return {element(a).position, component(a)};
  const auto [step, coordinate] = joint->position_of(a.variable, a.number);
  return {step, coordinate};
}

const StepCovariance* PosteriorMoments::steps_of(conditionals::BlockId id) {
  auto it = steps_.find(id);
  if (it == steps_.end()) {
    std::optional<StepCovariance> steps = steps_from_model(id);
    it = steps_.emplace(id, std::move(steps)).first;
  }
  return it->second ? &*it->second : nullptr;
}

std::optional<StepCovariance> PosteriorMoments::steps_from_model(conditionals::BlockId id) {
  const conditionals::Block& b = analysed_.schedule.conditionals[id];
  if (!b.chain || b.chain->factor == conditionals::ChainFactor::categories || b.point) return std::nullopt;
  ChainLayout chain;
  chain.at = [this](VariableId v, std::size_t number) { return step_of({v, number}); };
  std::vector<std::vector<double>> means, roots;
  if (is_joint(analysed_.model[b.variable])) {
    const JointCovariance* joint = joint_of(id);
    if (!joint) return std::nullopt;
    for (const Member& m : analysed_.model[b.variable].auxiliary->members)
      chain.members.push_back(m.variable);
    chain.extent = joint->extent();
    means = joint->means();
    roots = joint->roots();
  } else {
    chain.members = {b.variable};
    chain.extent = symbolic_.forward().width(b.variable);
    for (std::size_t e = 0; e < symbolic_.forward().elements(b.variable); ++e) {
      const ElementMarginal* law = is_d_connected({b.variable, e}) ? find(Element{b.variable, e}) : nullptr;
      means.push_back(law ? law->mean : std::vector<double>());
      roots.push_back(law ? law->spread().root : std::vector<double>());
    }
  }
  const std::optional<PrecisionBlocks> links =
      precision_blocks(chain, symbolic_, d_connected_, [this](const Polynomial& p) { return mean(p); });
  return links ? StepCovariance::make(std::move(means), roots, *links) : std::nullopt;
}

/// Linear terms are grouped by Normal vector and by chain. Different vectors are independent. Terms that are not linear
/// are paired with all others, one covariance each.
std::optional<double> PosteriorMoments::variance(const Polynomial& p) {
  std::map<const std::vector<double>*, std::vector<double>> vectors;
  std::map<const StepCovariance*, std::map<std::size_t, std::vector<double>>> chains;
  std::map<const JointCovariance*, std::map<std::size_t, double>> sparse;  // weights by coordinate
  std::map<FactorKey, const std::vector<double>*> alone;                   // steps of chains without covariances
  std::vector<const Monomial*> summed, others;
  for (const Monomial& m : p) {
    if (m.atoms.empty()) continue;
    if (const JointCovariance* joint = sparse_of(m)) {
      const Atom& a = m.atoms[0];
      summed.push_back(&m);
      sparse[joint][joint->position_of(a.variable, a.number).second] +=
          (a.kind == Kind::complement ? -1 : 1) * m.coefficient;
      continue;
    }
    const auto [root, at] = root_of(m);
    if (!root) {
      others.push_back(&m);
      continue;
    }
    summed.push_back(&m);
    const Atom& a = m.atoms[0];
    const bool chain = is_d_connected(element(a)) && analysed_.schedule.conditionals[block_of(a)].chain;
    const StepCovariance* steps = chain ? steps_of(block_of(a)) : nullptr;
    // Two steps of a chain whose covariances are not available: there is no variance.
    if (chain && !steps && alone.emplace(key(a), root).first->second != root) return std::nullopt;
    std::vector<double>& weights = steps ? chains[steps][step_of(a).step] : vectors[root];
    weights.resize(static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(root->size())))));
    weights[at] += (a.kind == Kind::complement ? -1 : 1) * m.coefficient;
  }
  double out = 0;
  for (const auto& [root, w] : vectors)
    out += squared_norm(*root, w);
  for (const auto& [steps, w] : chains)
    out += steps->variance(w);
  for (const auto& [joint, w] : sparse)
    out += joint->variance(w);
  for (std::size_t i = 0; i < others.size(); ++i) {
    for (std::size_t j = 0; j < i + 1 + summed.size(); ++j) {
      const std::optional<double> x = covariance(*others[i], j <= i ? *others[j] : *summed[j - i - 1]);
      if (!x) return std::nullopt;
      out += (i == j ? 1 : 2) * *x;
    }
  }
  return out;
}

}  // namespace lehr
