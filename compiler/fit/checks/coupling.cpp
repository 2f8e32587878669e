// Measures couplings by perturbing the means of two factors and evaluating the ELBO four times:
//
//   H_ab sd_a sd_b  ~  (ELBO(+,+) - ELBO(+,-) - ELBO(-,+) + ELBO(-,-)) / 4
//
// Each sign says whether a mean is moved up or down by one standard deviation of its factor.
#include "compiler/fit/checks/coupling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "compiler/fit/checks/cancellation.h"
#include "compiler/instance/members.h"
#include "compiler/model/walk.h"
#include "compiler/pipeline.h"
#include "compiler/posterior/saved_factor.h"
#include "compiler/support/printing.h"

namespace lehr {
namespace {

using conditionals::Block;
using math::ParameterRole;

/// A Normal or MvNormal factor.
struct NormalFactor {
  model::VariableId variable;     // of the factor; a joint variable stands for its members
  std::string name;               // of the variable
  NamedArray mean;                // its means
  std::vector<double> precision;  // by number: the diagonal of its precision
  std::size_t width = 1;          // numbers of one element

  std::vector<MemberLayout> members = {};  // of a joint variable: where each member's numbers are

  /// Returns the standard deviation of a number given the others of its element.
  double scale(std::size_t k) const { return 1 / std::sqrt(precision[k]); }
  /// Returns the name of a number; of a joint variable, that of the member which it belongs to.
  std::string element(std::size_t k) const {
    for (const MemberLayout& x : members) {
      const auto at = std::ranges::find(x.at, k);
      if (at != x.at.end()) return x.name + subscripts(x.shape, static_cast<std::size_t>(at - x.at.begin()));
    }
    return name + subscripts(mean.shape, k);
  }
};

/// Returns the factor of a block with its parameters, or nullopt if it is not a plain Normal factor in `posterior`.
std::optional<NormalFactor> located(const Block& block, const model::Model& m,
                                    const std::vector<NamedArray>& posterior) {
  if (block.point || block.drawn || block.chain || block.mean) return std::nullopt;
  // Each trial would factor a sparse precision again.
  if (m[block.variable].support == math::Support::sparse) return std::nullopt;
  const auto* mean = math::find_role(*block.factor, ParameterRole::location);
  const auto* precision = math::find_role(*block.factor, ParameterRole::precision);
  if (!mean || !precision) return std::nullopt;
  const std::string name = m[block.variable].name;
  const NamedArray *means = find_array(posterior, name + "." + mean->name),
                   *all = find_array(posterior, name + "." + precision->name);
  if (!means || !all) return std::nullopt;
  const std::size_t width = mean->event_rank == 0 ? 1 : static_cast<std::size_t>(means->shape.back());
  NormalFactor out{block.variable, name, *means, {}, width};
  if (model::is_joint(m[block.variable]))
    out.members = members_of(m, block.variable, sizes_of_members(m, block.variable, by_variable(posterior)));
  for (std::size_t k = 0; k < means->values.size(); ++k) {
    const std::size_t row = k * (precision->event_rank == 2 ? width : 1);
    out.precision.push_back(all->values[row + (precision->event_rank == 2 ? k % width : 0)]);
  }
  return out;
}

/// The number of pairs that are tried in all. If there are more pairs of variables, one is tried for each.
constexpr std::size_t kTried = 100;

/// Pairs of positions in the means of two factors.
using Pairs = std::set<std::pair<std::size_t, std::size_t>>;

/// Returns the index variables of an atom, event axes last.
std::vector<density::IndexId> indices(const density::Atom& a) {
  std::vector<density::IndexId> out = a.axes;
  out.insert(out.end(), a.event.begin(), a.event.end());
  return out;
}

/// Adds the pairs of elements that two atoms of one term refer to at the same time: where both use the same index
/// variable, their positions agree. Stops after kMaxPairs.
void add_pairs(const NormalFactor& a, const NormalFactor& b, const density::Atom& of_a, const density::Atom& of_b,
               Pairs& to) {
  const auto i = indices(of_a), j = indices(of_b);
  const bool all_axes = i.size() == a.mean.shape.size() && j.size() == b.mean.shape.size();
  for (std::size_t k = 0; k < a.mean.values.size() && to.size() <= kMaxPairs; ++k) {
    const std::vector<std::size_t> at_a = unravel(a.mean.shape, k);
    for (std::size_t l = 0; l < b.mean.values.size() && to.size() <= kMaxPairs; ++l) {
      const std::vector<std::size_t> at_b = unravel(b.mean.shape, l);
      // Of one variable, each pair of different elements counts once. Numbers of one vector share a factor.
      bool together = a.variable != b.variable || k / a.width < l / a.width;
      for (std::size_t x = 0; all_axes && x < i.size(); ++x)
        for (std::size_t y = 0; y < j.size(); ++y)
          together = together && (i[x] != j[y] || at_a[x] == at_b[y]);
      if (together) to.insert({k, l});
    }
  }
}

/// Returns the pairs of elements of two factors that occur together in some term of the log joint.
Pairs pairs_of(const density::Density& d, const NormalFactor& a, const NormalFactor& b) {
  Pairs out;
  for (const density::Term& t : d.terms) {
    for (const density::Atom& first : t.atoms) {
      for (const density::Atom& second : t.atoms) {
        if (&first != &second && first.variable == a.variable && second.variable == b.variable)
          add_pairs(a, b, first, second, out);
      }
    }
  }
  return out;
}

/// Evaluates the ELBO at other means. Restores the factors when it goes out of scope.
class ElboAtMeans {
 public:
  /// Saves the current factors.
  explicit ElboAtMeans(Instance& instance) : instance_(instance), before_(instance.engine().save()) {}
  ~ElboAtMeans() { instance_.engine().load(before_); }
  ElboAtMeans(const ElboAtMeans&) = delete;
  ElboAtMeans& operator=(const ElboAtMeans&) = delete;

  /// Returns the ELBO in nats at these means, or NaN if it cannot be evaluated.
  double elbo(const std::vector<NamedArray>& means) {
    Elbo out;
    if (!instance_.set(means, "") || instance_.engine().elbo(out) != 0) return NAN;
    return out.value;
  }

 private:
  Instance& instance_;
  std::vector<std::vector<double>> before_;
};

/// Returns the coupling of two numbers, by the second difference described above.
double correlation(ElboAtMeans& at, const NormalFactor& a, std::size_t k, const NormalFactor& b, std::size_t l) {
  double out = 0;
  for (const double up : {1.0, -1.0}) {
    for (const double right : {1.0, -1.0}) {
      std::vector<NamedArray> means{a.mean};
      if (a.variable != b.variable) means.push_back(b.mean);
      means.front().values[k] += up * a.scale(k);
      means.back().values[l] += right * b.scale(l);
      out += up * right * at.elbo(means);
    }
  }
  return std::abs(out) / 4;
}

/// A guide is suggested only for up to this many numbers, since the joint factor has a matrix of their covariances.
constexpr double kMaxCoordinates = 200;

/// Returns the variables of the joint factor to suggest, members of existing joint factors included; empty if there are
/// too many numbers.
std::vector<model::VariableId> joint_members(const Analysed& a, const NormalFactor& first, const NormalFactor& second) {
  const model::Model& m = a.model;
  std::vector<model::VariableId> members;
  for (const NormalFactor* x : {&first, &second}) {
    if (!model::is_joint(m[x->variable])) members.push_back(x->variable);
    else
      for (const model::Member& member : m[x->variable].auxiliary->members)
        members.push_back(member.variable);
  }
  const double count = static_cast<double>(first.mean.values.size() + second.mean.values.size());
  const bool none = first.variable == second.variable || count > kMaxCoordinates;
  return none ? std::vector<model::VariableId>() : members;
}

/// Returns true if the variable of a number has limits, which excludes some remedies.
bool between_limits(const model::Model& m, const std::string& element) {
  const auto v = std::ranges::find(m.variables, element.substr(0, element.find('[')), &model::Variable::name);
  return v != m.variables.end() && m[v->statement].limits.any();
}

}  // namespace

std::vector<CorrelatedPair> correlated_pairs(Instance& instance, const Analysed& analysed, double least) {
  const conditionals::Conditionals& c = analysed.schedule.conditionals;
  const std::vector<NamedArray> posterior = instance.posterior(false);
  std::vector<NormalFactor> factors;
  for (const Block& block : c.blocks) {
    if (std::optional<NormalFactor> f = located(block, analysed.model, posterior)) factors.push_back(std::move(*f));
  }
  struct Job {
    const NormalFactor &a, &b;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
  };
  std::vector<Job> jobs;
  for (auto a = factors.begin(); a != factors.end(); ++a) {
    for (auto b = a; b != factors.end(); ++b) {
      const Pairs pairs = pairs_of(c.density, *a, *b);
      if (!pairs.empty() && pairs.size() <= kMaxPairs) jobs.push_back({*a, *b, {pairs.begin(), pairs.end()}});
    }
  }
  std::vector<CorrelatedPair> out;
  ElboAtMeans shifted(instance);
  for (const Job& job : jobs) {
    CorrelatedPair strongest;
    // Each pair of variables gets an equal part of the trials, evenly spaced over its pairs of elements.
    const std::size_t n = std::min(job.pairs.size(), std::max<std::size_t>(1, kTried / jobs.size()));
    for (std::size_t i = 0; i < n; ++i) {
      const auto [k, l] = job.pairs[i * job.pairs.size() / n];
      const double x = correlation(shifted, job.a, k, job.b, l);
      if (x > strongest.correlation) strongest = {job.a.element(k), job.b.element(l), x, ""};
    }
    strongest.members = joint_members(analysed, job.a, job.b);
    if (!strongest.members.empty())
      strongest.guide = fmt::format(
          "guide joint({})", listed(strongest.members, [&](model::VariableId v) { return analysed.model[v].name; }));
    if (strongest.correlation > least) out.push_back(strongest);
  }
  std::ranges::stable_sort(
      out, [](const CorrelatedPair& x, const CorrelatedPair& y) { return x.correlation > y.correlation; });
  return out;
}

void drop_invalid_guides(std::vector<CorrelatedPair>& couplings, const model::Model& resolved,
                         const density::ExpandOptions& options) {
  for (CorrelatedPair& c : couplings) {
    if (c.guide.empty()) continue;
    model::Model changed = resolved;
    // The suggested factor replaces joint factors that share a variable with it.
    std::erase_if(changed.guide.joint, [&](const model::JointGuide& joint) {
      return std::ranges::any_of(c.members, [&](model::VariableId v) { return joint.has(v); });
    });
    changed.guide.joint.push_back({c.members});
    Diagnostics diagnostics;
    if (!derive_conditionals(changed, options, diagnostics)) c.guide.clear();
  }
}

std::vector<std::string> other_remedies(const std::vector<CorrelatedPair>& couplings, const Analysed& analysed) {
  std::vector<std::string> out;
  const bool limited = std::ranges::any_of(couplings, [&](const CorrelatedPair& c) {
    return c.guide.empty() && (between_limits(analysed.model, c.first) || between_limits(analysed.model, c.second));
  });
  if (!limited) out = {"one MvNormal for both", "centred covariates"};
  return out;
}

}  // namespace lehr
