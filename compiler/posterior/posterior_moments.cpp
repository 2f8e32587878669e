// Moments under a factorised posterior. The mean of a product of atoms is the product over the independent factors that
// the atoms belong to; within one factor there are moments up to the second. The variance of a sum over a Normal vector
// is |R w|^2, R the root of its covariance; adding variances and covariances one by one would lose digits.
#include "compiler/posterior/posterior_moments.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/evaluate/limits.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/saved_factor.h"

namespace lehr {
namespace {

using namespace model;
using Kind = Atom::Kind;

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

/// The position in the key of a factor that covers a whole block.
constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

/// Returns the inverse moments of a value that is fixed: a number, or a square matrix of this extent.
math::Spread spread_of_point(std::span<const double> x, int rank, std::size_t extent) {
  math::Spread s;
  if (rank == 0) {
    s.inverse = {1 / x[0]};
    s.inverse_square = {1 / (x[0] * x[0])};
  }
  if (rank == 2) {
    const auto n = static_cast<Eigen::Index>(extent);
    const Eigen::MatrixXd inverse = Eigen::Map<const Eigen::MatrixXd>(x.data(), n, n).inverse();
    s.inverse.assign(inverse.data(), inverse.data() + inverse.size());
  }
  return s;
}

/// Makes a marginal from the functions of a family's row and the parameters of one element. The element's numbers are
/// `width` of those of the factor, from `first` on.
std::optional<ElementMarginal> law_of(const math::FamilyRow& row, const math::Factor& factor,
                                      const std::map<std::string, math::Quantity>& parameters, std::size_t extent,
                                      std::size_t first, std::size_t width) {
  std::vector<double> flat;
  for (const math::FactorParameter& p : factor.parameters) {
    if (!p.exported) continue;
    const auto it = parameters.find(p.name);
    if (it == parameters.end()) return std::nullopt;
    flat.insert(flat.end(), it->second.values.begin(), it->second.values.end());
  }
  // A point factor: every number is a value.
  if (&factor != &*row.factor) {
    std::vector<math::ScalarMarginal> margins;
    for (const double x : flat)
      margins.push_back({math::ScalarMarginal::Kind::value, x});
    if (flat.size() != width) return std::nullopt;
    return ElementMarginal(flat, std::move(margins), true, [flat, rank = event_rank(row.support), extent] {
      return spread_of_point(flat, rank, extent);
    });
  }
  if (!factor.moments || !row.spread) return std::nullopt;
  const auto own = [&](auto all) {
    using All = decltype(all);
    if (all.size() < first + width) return All();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return All(begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  std::vector<double> mean = own(factor.moments(flat, extent).mean);
  std::vector<math::ScalarMarginal> margins =
      row.margins ? own(row.margins(flat, extent)) : std::vector<math::ScalarMarginal>(width);
  if (mean.size() != width) return std::nullopt;
  return ElementMarginal(std::move(mean), std::move(margins), false, [&row, flat, extent, width] {
    math::Spread out = row.spread(flat, extent);
    // The root of the variance of a single number.
    if (width == 1 && out.root.empty() && out.covariance.size() == 1) out.root = {std::sqrt(out.covariance[0])};
    return out;
  });
}

/// Returns nullopt for NaN, else the number; moments may be infinite.
std::optional<double> finite_or_infinite(double x) { return std::isnan(x) ? std::nullopt : std::optional<double>(x); }

}  // namespace

PosteriorMoments::PosteriorMoments(const Analysed& analysed, const std::map<std::string, SavedVariable>& posterior,
                                   const std::vector<std::vector<bool>>& d_connected, const Symbolic& symbolic)
    : analysed_(analysed),
      model_(symbolic.forward().model()),
      posterior_(posterior),
      d_connected_(d_connected),
      symbolic_(symbolic) {}

Element PosteriorMoments::element(const Atom& a) const {
  return {a.variable, a.number / symbolic_.forward().width(a.variable)};
}

std::size_t PosteriorMoments::component(const Atom& a) const {
  return a.number % symbolic_.forward().width(a.variable);
}

FactorKey PosteriorMoments::key(const Atom& a) const {
  const conditionals::BlockId b = analysed_.schedule.conditionals.block_of[a.variable.index()];
  const Element e = element(a);
  // Elements of a chain or of a joint factor depend on each other; those that are not d-connected are independent given
  // their parents.
  const bool whole = analysed_.schedule.conditionals[b].chain || model_[e.variable].joint;
  return {b.index(), whole && is_d_connected(e) ? kWhole : e.position};
}

/// In a factor of a mean and its precision, the covariance of the mean given the precision is a multiple of the inverse
/// precision. The inverse becomes an atom of its own.
std::optional<Monomial> PosteriorMoments::covariance_given_precision(const Atom& a, const Atom& b) {
  if (key(a) != key(b)) return Monomial{0, {}};
  const Element mean = element(a), other = element(b);
  if (!is_d_connected(mean) || !is_d_connected(other)) return std::nullopt;
  if (model_[a.variable].joint) {
    const JointCovariance* joint = joint_of(block_of(a));
    return joint ? joint->covariance_given_precision(a.variable, a.number, b.variable, b.number) : std::nullopt;
  }
  const conditionals::Conditionals& c = analysed_.schedule.conditionals;
  const conditionals::Block& block = c[c.block_of[mean.variable.index()]];
  const ElementMarginal* law = find(mean);
  if (mean != other || block.mean != mean.variable || !law) return std::nullopt;
  const std::size_t extent = symbolic_.forward().width(mean.variable);
  const Atom inverse =
      model_[block.variable].event.empty()
          ? Atom{block.variable, mean.position, Kind::inverse}
          : Atom{block.variable, (mean.position * extent + component(a)) * extent + component(b), Kind::matrix_inverse};
  return Monomial{law->spread().inverse_precision_factor, {inverse}};
}

const ElementMarginal* PosteriorMoments::find(Element e) {
  const bool d_connected = is_d_connected(e);
  auto& cache = d_connected ? of_factors_ : given_parents_;
  auto it = cache.find(e);
  if (it == cache.end()) it = cache.emplace(e, d_connected ? of_factor(e) : given_parents(e)).first;
  return it->second ? &*it->second : nullptr;
}

std::optional<ElementMarginal> PosteriorMoments::of_factor(Element e) const {
  if (model_[e.variable].joint) return of_member(e);
  const conditionals::Conditionals& c = analysed_.schedule.conditionals;
  const conditionals::Block& b = c[c.block_of[e.variable.index()]];
  const auto saved = posterior_.find(model_[b.mean.value_or(b.variable)].name);
  const auto precision = posterior_.find(model_[b.variable].name);
  if (saved == posterior_.end() || precision == posterior_.end()) return std::nullopt;
  const std::optional<SavedFactor> source =
      saved_factor(*b.family, saved->second, b.mean ? &precision->second : nullptr);
  const std::optional<FactorLayout> layout = source ? layout_of(*source) : std::nullopt;
  if (!layout || e.position >= layout->count) return std::nullopt;
  // The numbers of a joint factor are those of the mean, then those of the precision.
  const bool is_precision = b.mean && e.variable == b.variable;
  const std::size_t first = is_precision ? symbolic_.forward().width(*b.mean) : 0;
  return law_of(*b.family, source->factor, parameters_of(*source, *layout, e.position).symbols, layout->extent, first,
                symbolic_.forward().width(e.variable));
}

/// The marginal of a member under a joint Normal factor. A number whose distribution a category chooses is left to
/// draws.
std::optional<ElementMarginal> PosteriorMoments::of_member(Element e) const {
  const Model& m = analysed_.model;
  const conditionals::Conditionals& c = analysed_.schedule.conditionals;
  const auto saved = posterior_.find(m[e.variable].name);
  if (saved == posterior_.end() || c[c.block_of[e.variable.index()]].family->support == math::Support::switched)
    return std::nullopt;
  const math::FamilyRow& row = conditionals::family_of(m, c, e.variable);
  const std::optional<SavedFactor> source = saved_factor(row, saved->second, nullptr);
  const std::optional<FactorLayout> layout = source ? layout_of(*source) : std::nullopt;
  if (!layout || e.position >= layout->count) return std::nullopt;
  return law_of(row, source->factor, parameters_of(*source, *layout, e.position).symbols, layout->extent, 0,
                symbolic_.forward().width(e.variable));
}

std::optional<ElementMarginal> PosteriorMoments::given_parents(Element e) const {
  const ModelEvaluator& f = symbolic_.forward();
  const Statement& s = model_[model_[e.variable].statement];
  if (is_within_limits(model_, e.variable)) return std::nullopt;
  const IndexValues at = f.at(e);
  const Distribution& d = f.distribution(s, at);
  const auto is_latent = [&](const Parameter& p) { return symbolic_.is_latent(p.value); };
  if (!d.family->factor || std::ranges::any_of(d.parameters, is_latent)) return std::nullopt;
  const math::Environment parameters = f.parameters(s, at);
  if (f.unknown()) return std::nullopt;
  const math::Factor& factor = *d.family->factor;
  return law_of(*d.family, factor, math::parameters_from_density(factor, parameters), parameters.extent, 0,
                f.width(e.variable));
}

/// The groups are sorted by key, so that two monomials can be compared factor by factor.
std::vector<std::pair<FactorKey, Atoms>> PosteriorMoments::by_factor(const Monomial& m) const {
  std::vector<std::pair<FactorKey, Atoms>> out;
  for (const Atom& a : m.atoms) {
    const FactorKey k = key(a);
    auto it = std::ranges::lower_bound(out, k, {}, &std::pair<FactorKey, Atoms>::first);
    if (it == out.end() || it->first != k) it = out.insert(it, {k, {}});
    it->second.push_back(a);
  }
  return out;
}

std::optional<double> PosteriorMoments::moment(const Atoms& atoms) {
  if (atoms.empty()) return 1.0;
  // One atom: the mean of x, 1 - x or an inverse.
  if (atoms.size() == 1) {
    const ElementMarginal* law = find(atoms[0]);
    const std::size_t c = component(atoms[0]);
    if (!law) return std::nullopt;
    switch (atoms[0].kind) {
      case Kind::value:
        return finite_or_infinite(law->mean[c]);
      case Kind::complement:
        return finite_or_infinite(1 - law->mean[c]);
      default: {
        const std::vector<double>& inverse = law->spread().inverse;
        return c < inverse.size() ? finite_or_infinite(inverse[c]) : std::nullopt;
      }
    }
  }
  // Several atoms: a product of values if all are points, otherwise a second moment if there are two.
  double product = 1;
  bool fixed = true;
  for (const Atom& a : atoms) {
    const ElementMarginal* law = find(a);
    if (!law) return std::nullopt;
    fixed = fixed && law->fixed;
    const std::optional<double> x = fixed ? moment(Atoms{a}) : 1.0;
    if (!x) return std::nullopt;
    product *= *x;
  }
  if (fixed) return product;
  return atoms.size() == 2 ? pair(atoms[0], atoms[1]) : std::nullopt;
}

std::optional<double> PosteriorMoments::within_factor(const Atom& a, const Atom& b) {
  const bool plain = a.kind <= Kind::complement && b.kind <= Kind::complement;
  if (!plain || key(a) != key(b) || !is_d_connected(element(a)) || !is_d_connected(element(b))) return std::nullopt;
  // Cov(x, 1 - y) = -Cov(x, y).
  const double sign = a.kind == b.kind ? 1 : -1;
  const conditionals::BlockId id = block_of(a);
  const JointCovariance* joint = model_[a.variable].joint ? joint_of(id) : nullptr;
  if (const std::optional<double> x = joint ? joint->between(a.variable, a.number, b.variable, b.number) : std::nullopt)
    return sign * *x;
  const StepCovariance* steps = steps_of(id);
  if (!steps) return std::nullopt;
  return sign * steps->between(step_of(a), step_of(b));
}

const JointCovariance* PosteriorMoments::joint_of(conditionals::BlockId id) {
  auto it = joint_.find(id);
  if (it == joint_.end()) {
    const conditionals::Block& b = analysed_.schedule.conditionals[id];
    it = joint_.emplace(id, JointCovariance::make(analysed_.model, b, posterior_)).first;
  }
  return it->second ? &*it->second : nullptr;
}

std::pair<const std::vector<double>*, std::size_t> PosteriorMoments::root_of(const Monomial& m) {
  if (m.atoms.size() != 1 || m.atoms[0].kind > Kind::complement) return {};
  const Atom& a = m.atoms[0];
  if (model_[a.variable].joint && is_d_connected(element(a))) {
    const JointCovariance* joint = joint_of(block_of(a));
    return joint ? joint->root_at(a.variable, a.number) : std::pair<const std::vector<double>*, std::size_t>();
  }
  const ElementMarginal* law = find(a);
  if (!law || law->fixed || law->spread().root.size() != law->mean.size() * law->mean.size()) return {};
  return {&law->spread().root, component(a)};
}

const JointCovariance* PosteriorMoments::sparse_of(const Monomial& m) {
  if (m.atoms.size() != 1 || m.atoms[0].kind > Kind::complement) return nullptr;
  const Atom& a = m.atoms[0];
  if (!model_[a.variable].joint || !is_d_connected(element(a))) return nullptr;
  const JointCovariance* joint = joint_of(block_of(a));
  return joint && joint->is_sparse() ? joint : nullptr;
}

std::optional<double> PosteriorMoments::pair(const Atom& a, const Atom& b) {
  if (element(a) != element(b)) {
    const std::optional<double> x = moment(Atoms{a}), y = moment(Atoms{b}), cov = within_factor(a, b);
    return x && y && cov ? std::optional<double>(*cov + *x * *y) : std::nullopt;
  }
  const bool plain_a = a.kind <= Kind::complement, plain_b = b.kind <= Kind::complement;
  if (plain_a && plain_b) {
    const std::optional<double> x = moment(Atoms{a}), y = moment(Atoms{b}), cov = centred(Atoms{a}, Atoms{b});
    return x && y && cov ? std::optional<double>(*cov + *x * *y) : std::nullopt;
  }
  const ElementMarginal* law = find(a);
  if (a.number != b.number || a.kind == Kind::matrix_inverse || b.kind == Kind::matrix_inverse) return std::nullopt;
  if (a.kind == Kind::inverse && b.kind == Kind::inverse)
    return law->spread().inverse_square.empty() ? std::nullopt : finite_or_infinite(law->spread().inverse_square[0]);
  // The same number and its inverse: E[x * 1/x] = 1, and E[(1 - x) / x] = E[1/x] - 1.
  if (a.kind == Kind::value || b.kind == Kind::value) return 1.0;
  const std::optional<double> inverse = moment(Atoms{a.kind == Kind::inverse ? a : b});
  return inverse ? std::optional<double>(*inverse - 1) : std::nullopt;
}

/// Returns E[a b] - E[a] E[b] for products of atoms of one factor.
std::optional<double> PosteriorMoments::centred(const Atoms& a, const Atoms& b) {
  const auto is_plain = [](const Atoms& x) { return x.size() == 1 && x[0].kind <= Kind::complement; };
  if (is_plain(a) && is_plain(b) && element(a[0]) == element(b[0])) {
    const ElementMarginal* law = find(a[0]);
    if (!law) return std::nullopt;
    if (law->fixed) return 0.0;
    const std::size_t n = law->mean.size(), at = component(a[0]) * n + component(b[0]);
    if (law->spread().covariance.size() != n * n) return std::nullopt;
    return finite_or_infinite((a[0].kind == b[0].kind ? 1 : -1) * law->spread().covariance[at]);
  }
  if (is_plain(a) && is_plain(b))
    if (const std::optional<double> cov = within_factor(a[0], b[0])) return cov;
  Atoms both = a;
  both.insert(both.end(), b.begin(), b.end());
  const std::optional<double> together = moment(both), x = moment(a), y = moment(b);
  return together && x && y ? finite_or_infinite(*together - *x * *y) : std::nullopt;
}

std::optional<double> PosteriorMoments::moment(const Monomial& m) {
  double out = m.coefficient;
  for (const auto& [key, atoms] : by_factor(m)) {
    const std::optional<double> x = moment(atoms);
    if (!x) return std::nullopt;
    out *= *x;
  }
  return finite_or_infinite(out);
}

std::optional<double> PosteriorMoments::mean(const Polynomial& p) {
  double out = 0;
  for (const Monomial& m : p) {
    const std::optional<double> x = moment(m);
    if (!x) return std::nullopt;
    out += *x;
  }
  return finite_or_infinite(out);
}

/// Let u be the covariance and v the product of means within each factor. The covariance is the product over factors of
/// (u + v), minus the product of all v. It is computed as a sum in which nothing cancels, by the loop over factors
/// below.
std::optional<double> PosteriorMoments::covariance(const Monomial& a, const Monomial& b) {
  const auto of_a = by_factor(a), of_b = by_factor(b);
  double out = 0, before = a.coefficient * b.coefficient;
  auto x = of_a.begin();
  auto y = of_b.begin();
  const Atoms none;
  while (x != of_a.end() || y != of_b.end()) {
    // Visits the factors of both monomials in the order of their keys.
    const bool take_a = y == of_b.end() || (x != of_a.end() && x->first <= y->first);
    const bool take_b = x == of_a.end() || (y != of_b.end() && y->first <= x->first);
    const Atoms &in_a = take_a ? x->second : none, &in_b = take_b ? y->second : none;
    const std::optional<double> mean_a = moment(in_a), mean_b = moment(in_b);
    const std::optional<double> cov = take_a && take_b ? centred(in_a, in_b) : std::optional<double>(0.0);
    if (!mean_a || !mean_b || !cov) return std::nullopt;
    const double v = *mean_a * *mean_b;
    // Before this line, `out` is the covariance over the factors so far, and `before` the product of their u + v.
    out = out * v + before * *cov;
    before *= *cov + v;
    if (take_a) ++x;
    if (take_b) ++y;
  }
  return finite_or_infinite(out);
}

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
