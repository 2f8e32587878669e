// Derives the conditionals: collects the statistics of each latent variable in the log joint, and finds the family that
// has them all.
//
// It also decides how each block is updated: which axes are sequential, whether one factor covers a chain, and whether
// a point estimate exists.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/conditionals/chain_lag.h"
#include "compiler/conditionals/join.h"
#include "compiler/conditionals/unbounded_point.h"
#include "compiler/density/poly.h"
#include "compiler/math/member_families.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"

namespace lehr::conditionals {

bool Block::coupled() const { return std::find(sequential.begin(), sequential.end(), true) != sequential.end(); }

namespace {

/// A set of axes, as a flag for each axis.
using Axes = std::vector<bool>;

/// Returns the number of axes in the set.
std::size_t count(const Axes& axes) { return static_cast<std::size_t>(std::count(axes.begin(), axes.end(), true)); }

/// Returns true if `l` is to be preferred: it has fewer axes, or as many and, at the last axis that only one of them
/// has, lacks it.
bool precedes(const Axes& l, const Axes& r) {
  const std::size_t a = count(l), b = count(r);
  return a != b ? a < b : std::lexicographical_compare(l.rbegin(), l.rend(), r.rbegin(), r.rend());
}

/// Finds a smallest set of axes that hits every pair of atoms: the set has at least one axis on which the pair
/// certainly differs. It is a search with backtracking: try each axis of the first pair that is not hit. Example: pairs
/// {0, 1} and {1} give the set {1}.
class HittingSet {
 public:
  /// Searches the set for `pairs`, each given by the axes on which it differs. If a pair differs on no axis for
  /// certain, all axes are the result.
  explicit HittingSet(std::set<std::vector<std::size_t>> pairs, std::size_t axes) : best_(axes, true) {
    pairs_.assign(pairs.begin(), pairs.end());
    // Pairs with few choices come first, so that pairs with one axis cause no branching.
    std::stable_sort(pairs_.begin(), pairs_.end(), [](const auto& l, const auto& r) { return l.size() < r.size(); });
    if (pairs_.empty() || !pairs_.front().empty()) extend(Axes(axes, false));
  }
  /// Returns the best set found.
  const Axes& best() const { return best_; }

 private:
  /// The search stops after this many sets, with the best one so far.
  static constexpr std::size_t kMaxSets = 20'000;

  /// Tries all sets that contain `axes`.
  void extend(Axes axes) {
    if (count(axes) > count(best_) || ++tried_ > kMaxSets) return;
    const auto open = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
      return std::none_of(pair.begin(), pair.end(), [&](std::size_t x) { return axes[x]; });
    });
    if (open == pairs_.end()) {
      if (precedes(axes, best_)) best_ = std::move(axes);
      return;
    }
    for (std::size_t x : *open) {
      axes[x] = true;
      extend(axes);
      axes[x] = false;
    }
  }

  /// The axes on which each pair differs, those with few axes first.
  std::vector<std::vector<std::size_t>> pairs_;
  /// The best set so far, at first all axes.
  Axes best_;
  /// The number of sets tried.
  std::size_t tried_ = 0;
};

}  // namespace

std::vector<bool> sequential_axes(const density::Density& d, const model::Variable& var, model::VariableId v) {
  std::set<std::vector<std::size_t>> pairs;
  for (const density::Term& t : d.terms) {
    for (std::size_t i = 0; i < t.atoms.size(); ++i) {
      if (t.atoms[i].variable != v) continue;
      for (std::size_t j = i + 1; j < t.atoms.size(); ++j) {
        if (t.atoms[j].variable != v) continue;
        std::vector<std::size_t> axes;
        for (std::size_t x = 0; x < var.axes.size(); ++x) {
          if (density::certainly_different(d, t, t.atoms[i].axes[x], t.atoms[j].axes[x])) axes.push_back(x);
        }
        pairs.insert(std::move(axes));
      }
    }
  }
  return HittingSet(std::move(pairs), var.axes.size()).best();
}

std::vector<Use> uses_of(const density::Density& d, model::VariableId v) {
  std::vector<Use> out;
  for (std::size_t t = 0; t < d.terms.size(); ++t) {
    for (std::size_t a = 0; a < d.terms[t].atoms.size(); ++a) {
      if (d.terms[t].atoms[a].variable == v) out.push_back({t, a});
    }
  }
  return out;
}

namespace {

/// Returns the truncated Normal if its statistics contain all of `needed`, or null.
const math::FamilyRow* limited_family(const std::vector<math::Stat>& needed) {
  const math::FamilyRow& row = math::truncated_normal();
  const bool all = std::ranges::all_of(needed, [&](math::Stat s) {
    return std::ranges::find(row.factor->statistics, s, &math::StatisticRow::stat) != row.factor->statistics.end();
  });
  return all ? &row : nullptr;
}

/// Returns the family of the factor: one whose statistics contain all that the uses have, the prior's own if it is
/// among them. For a point without such a family it is a family of points. Returns null if there is none.
const math::FamilyRow* factor_family(const math::FamilyRow& prior, math::Support support, const density::Density& d,
                                     const std::vector<Use>& uses, bool point) {
  std::vector<math::Stat> needed;
  for (const Use& u : uses) {
    const density::Atom& atom = d.terms[u.term].atoms[u.atom];
    if (!atom.opaque.empty()) return nullptr;
    needed.push_back(atom.stat);
  }
  const auto is_limit = [](math::Stat s) { return s == math::Stat::above || s == math::Stat::below; };
  if (std::ranges::any_of(needed, is_limit)) return limited_family(needed);
  if (std::ranges::find(needed, math::Stat::complement) != needed.end()) return &math::switching_bit();
  const std::vector<const math::FamilyRow*> fitting = math::factors_for(support, needed);
  if (fitting.empty()) return point ? math::point_family(support, needed) : nullptr;
  const auto own = std::find(fitting.begin(), fitting.end(), &prior);
  return own != fitting.end() ? *own : fitting.front();
}

/// Returns true if the variable is positive or a positive definite matrix.
bool is_precision(const model::Variable& v) {
  return v.support == math::Support::positive || v.support == math::Support::spd_matrix;
}

/// Returns true if the supports are those of a mean and its precision and both variables lie on the same plates.
bool is_mean_and_precision(const model::Model& m, model::VariableId mean, model::VariableId precision) {
  const math::Support x = m[mean].support, y = m[precision].support;
  const bool supports = (x == math::Support::real && y == math::Support::positive) ||
                        (x == math::Support::vector && y == math::Support::spd_matrix);
  return supports &&
         std::equal(m[mean].axes.begin(), m[mean].axes.end(), m[precision].axes.begin(), m[precision].axes.end(),
                    [&](model::PlateId a, model::PlateId b) { return m[a].set == m[b].set; });
}

/// Returns true if the list names the variable, or a member of it.
bool is_listed(const model::Model& m, const std::vector<model::VariableId>& list, model::VariableId v) {
  return std::ranges::any_of(list, [&](model::VariableId x) { return x == v || m[x].joint == v; });
}

/// Returns the latent variables in order of declaration. A joint variable takes the place of its first member.
std::vector<model::VariableId> latent_variables(const model::Model& m) {
  std::vector<model::VariableId> out;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (v.observed || (v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::joint)) continue;
    const model::VariableId block = v.joint.value_or(model::VariableId(k));
    if (std::ranges::find(out, block) == out.end()) out.push_back(block);
  }
  return out;
}

/// Contracts each mean and precision that the guide joins. Returns the mean of each precision, by VariableId. Reports
/// an error and returns nothing if the members of a joint block are of no kind that can be joined.
std::optional<std::vector<std::optional<model::VariableId>>> contract_pairs(density::Density& d, const model::Model& m,
                                                                            Diagnostics& diagnostics) {
  std::vector<std::optional<model::VariableId>> mean_of(m.variables.size());
  for (const model::JointGuide& guide : m.guide.joint) {
    const std::vector<model::VariableId>& joint = guide.members;
    if (m[joint.at(0)].joint) continue;
    if (joint.size() < 2) {
      diagnostics.add(DiagnosticKind::guide_joint_size, m[joint.at(0)].span);
      return std::nullopt;
    }
    model::VariableId mean = joint.at(0), precision = joint.at(1);
    if (is_precision(m[mean])) std::swap(mean, precision);
    if (joint.size() != 2 || !is_mean_and_precision(m, mean, precision)) {
      std::vector<std::string> names;
      for (model::VariableId v : joint)
        names.push_back("'" + m[v].name + "'");
      diagnostics
          .add(DiagnosticKind::joint_members, m[joint[0]].span, fmt::format("{}", fmt::join(names, " and ")),
               "they are neither a mean and its precision on the same plates, nor Normal, nor a category and a number")
          .note(
              "joint blocks are NormalGamma (Normal and Gamma), NormalWishart (MvNormal and Wishart), one MvNormal of "
              "Normal and MvNormal variables, these with the one Gamma variable that is their precision, and a "
              "Bernoulli "
              "or Categorical variable with a Normal one that it switches");
      return std::nullopt;
    }
    contract_joint(d, m, mean, precision);
    mean_of[precision.index()] = mean;
  }
  return mean_of;
}

/// Reports a chain whose steps have copies: the copies of a step would be steps of chains of their own.
void check_copies(const model::Model& m, model::VariableId v, Diagnostics& diagnostics) {
  const model::Plate& steps = m[m[m[v].axes.back()].set];
  if (!steps.times) return;
  diagnostics.add(DiagnosticKind::chain_of_copies, m[m[v].statement].span, m[v].name, steps.name, m[*steps.times].name)
      .note(
          steps.parent
              ? fmt::format("sequences that count as several have `times` on their plate, '{}'", m[*steps.parent].name)
              : std::string(
                    "one observation of several that are alike is a step of its own, or has a smaller variance"));
}

/// Reports a point estimate that does not exist: of a joint variable, of a chain, without a mode in closed form, or
/// with a density that grows without end.
void check_point(const model::Model& m, const density::Density& d, const Block& b, Diagnostics& diagnostics) {
  const model::Variable& v = m[b.variable];
  if (v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::joint) {
    diagnostics.add(DiagnosticKind::point_guide, v.span, v.name, "its members have one Normal factor");
  } else if (b.chain) {
    diagnostics.add(DiagnosticKind::point_guide, v.span, v.name, "it is a chain")
        .note("`guide independent(" + v.name + ");` breaks the chain: each element is then a point of its own");
  } else if (b.family && !b.factor) {
    diagnostics.add(DiagnosticKind::point_guide, v.span, v.name, "the mode of a joint block has no closed form");
  } else if (const auto host = b.family ? unbounded_at_zero(m, d, b.variable, b.uses) : std::nullopt) {
    report_unbounded(m, b.variable, b.uses, d, *host, diagnostics);
  }
}

}  // namespace
}  // namespace lehr::conditionals

namespace lehr {

std::optional<conditionals::Conditionals> derive(const model::Model& m, density::Density density,
                                                 Diagnostics& diagnostics) {
  using namespace conditionals;
  Conditionals out;
  out.density = std::move(density);
  out.block_of.resize(m.variables.size());
  const auto mean_of = contract_pairs(out.density, m, diagnostics);
  if (!mean_of) return std::nullopt;
  for (const model::VariableId v : latent_variables(m)) {
    if (std::ranges::find(*mean_of, std::optional(v)) != mean_of->end()) continue;
    Block b;
    b.variable = v;
    b.mean = (*mean_of)[v.index()];
    b.point = is_listed(m, m.guide.point, v);
    b.uses = uses_of(out.density, v);
    const math::FamilyRow& prior = *m[m[v].statement].main.family;
    if (b.mean) {
      b.family = math::find_joint_family(m[*b.mean].support, m[v].support);
      // Uses of the mean that contract_joint() left have no joint statistic.
      const std::vector<Use> stray = uses_of(out.density, *b.mean);
      const bool opaque = std::any_of(b.uses.begin(), b.uses.end(), [&](const Use& u) {
        return !out.density.terms[u.term].atoms[u.atom].opaque.empty();
      });
      if (!stray.empty() || opaque)
        report_not_conjugate(m, out.density, stray.empty() ? v : *b.mean, prior, stray.empty() ? b.uses : stray,
                             diagnostics);
    } else if (model::is_tangent_point(m[v])) {
      b.family = m[v].auxiliary->bound;
      b.point = true;
    } else {
      b.family = model::is_joint(m[v]) ? &math::joint_family(m[v].support)
                                       : factor_family(prior, m[v].support, out.density, b.uses, b.point);
      if (!b.family) report_not_conjugate(m, out.density, v, prior, b.uses, diagnostics);
    }
    b.sequential = sequential_axes(out.density, m[v], v);
    const bool independent = is_listed(m, m.guide.independent, v);
    // `guide independent` asks for a factor for each element, although a chain would be exact.
    if (!independent && b.family) b.chain = chain_of(out.density, m, v, *b.family);
    if (b.chain || (m[m[v].statement].start && b.coupled())) check_copies(m, v, diagnostics);
    if (m[m[v].statement].start && b.coupled() && !b.chain && !independent) {
      const model::VariableId first = model::is_joint(m[v]) ? m[v].auxiliary->members[0].variable : v;
      Diagnostic& d = diagnostics.add(DiagnosticKind::chain_factored, m[m[v].statement].span, m[v].name);
      const std::int64_t most = b.family ? max_lag_of(*b.family) : 0;
      if (most > 0 && model::lag_of(m, m[m[v].statement]) > most)
        d.note(fmt::format("one factor of all elements reaches back {} steps at most", most));
      d.note("`guide independent(" + m[first].name + ");` asks for this and silences the warning");
    }
    // Tangent points of bounds have a family of points already, whose own factor is a point.
    if (b.family) b.factor = b.point && !m[v].auxiliary ? math::point_factor(*b.family) : &*b.family->factor;
    if (b.point) check_point(m, out.density, b, diagnostics);
    for (std::size_t k = 0; k < m.variables.size(); ++k) {
      const model::VariableId other(k);
      if (other == v || other == b.mean || m[other].joint == v) out.block_of[k] = BlockId(out.blocks.size());
    }
    out.blocks.push_back(std::move(b));
  }
  if (diagnostics.has_errors()) return std::nullopt;
  return out;
}

}  // namespace lehr
