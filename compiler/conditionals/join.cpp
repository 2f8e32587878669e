// Variables that share a factor become one variable. In every term the atoms of the members are replaced by atoms of
// the joint variable, and the normal form merges those of one element:
//     a[i] * b[j]   ->   comp(i) * comp(j) of different elements, or comp2(i, j) of one element
//
// The three kinds of joint variables are rows of the table kKinds.
#include "compiler/conditionals/join.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/density/poly.h"
#include "compiler/density/print_density.h"
#include "compiler/math/member_families.h"

namespace lehr::conditionals {

using density::Atom;
using density::Term;
using model::Member;
using model::Model;
using model::PlateId;
using model::VariableId;

std::vector<Member> member_layouts(const Model& m, const model::JointGuide& guide) {
  std::vector<Member> out;
  for (const VariableId v : guide.members)
    out.push_back({v, {}, {}});
  const std::vector<PlateId>& first = m[guide.members[0]].axes;
  for (const PlateId wanted : first) {
    if (std::ranges::find(guide.coordinates, m[wanted].set) != guide.coordinates.end()) continue;
    // The axis of each member over this plate. The plate is shared if every member has one.
    std::vector<std::size_t> at;
    for (const Member& member : out) {
      const std::vector<PlateId>& axes = m[member.variable].axes;
      std::size_t x = 0;
      while (x < axes.size() &&
             (m[axes[x]].set != m[wanted].set || std::ranges::find(member.shared, x) != member.shared.end()))
        ++x;
      if (x < axes.size()) at.push_back(x);
    }
    for (std::size_t k = 0; k < out.size() && at.size() == out.size(); ++k)
      out[k].shared.push_back(at[k]);
  }
  for (Member& member : out) {
    for (std::size_t x = 0; x < m[member.variable].axes.size(); ++x) {
      if (std::ranges::find(member.shared, x) == member.shared.end()) member.own.push_back(x);
    }
  }
  return out;
}

std::string list_of_names(const Model& m, const std::vector<VariableId>& members, std::string_view quote) {
  std::vector<std::string> out;
  for (const VariableId v : members)
    out.push_back(fmt::format("{}{}{}", quote, m[v].name, quote));
  return fmt::format("{}", fmt::join(out, ", "));
}

PlateId add_plate(Model& m, const std::string& name, Span span, model::ExprId size) {
  const PlateId plate(m.plates.size());
  m.plates.push_back({name, span, plate, std::nullopt, false, size, std::nullopt, 0, std::nullopt});
  return plate;
}

VariableId add_joint(Model& m, math::Support support, std::vector<Member> members) {
  std::vector<VariableId> ids;
  for (const Member& member : members)
    ids.push_back(member.variable);
  const model::Variable& first = m[ids[0]];
  model::Variable v;
  v.name = fmt::format("joint({})", list_of_names(m, ids));
  v.span = first.span;
  for (const std::size_t axis : members[0].shared)
    v.axes.push_back(first.axes[axis]);
  v.support = support;
  v.statement = first.statement;
  v.clamped = std::ranges::any_of(ids, [&](VariableId id) { return m[id].clamped; });
  v.auxiliary = model::Auxiliary{model::Auxiliary::Kind::joint, ids[0], std::move(members)};
  m.variables.push_back(std::move(v));
  const VariableId out(m.variables.size() - 1);
  for (const VariableId member : ids)
    m.variables[member.index()].joint = out;
  return out;
}

namespace {

/// Returns the term, in normal form, with atoms of the joint variable in place of those of its members. Returns nothing
/// if a statistic is none of the joint family.
std::optional<std::vector<Term>> rewritten(density::Algebra& a, const Model& m, VariableId joint,
                                           const AtomTranslation& translation, Term t) {
  for (Atom& x : t.atoms) {
    if (m[x.variable].joint != joint) continue;
    const std::optional<Atom> other = x.opaque.empty() ? translation(t, x) : std::nullopt;
    if (!other) return std::nullopt;
    x = *other;
  }
  std::vector<Term> out = density::normalise(a, m, std::move(t));
  const math::Factor& factor = *math::joint_family(m[joint].support).factor;
  const auto is_statistic = [&](const Atom& x) {
    return x.opaque.empty() &&
           std::ranges::find(factor.statistics, x.stat, &math::StatisticRow::stat) != factor.statistics.end();
  };
  for (const Term& n : out) {
    if (std::ranges::any_of(n.atoms, [&](const Atom& x) { return x.variable == joint && !is_statistic(x); }))
      return std::nullopt;
  }
  return out;
}

/// Reports a term of a vector and its precision that is not the precision times something quadratic in the vector.
void report_scale(const Model& m, const density::Density& d, const Term& t, const std::vector<VariableId>& members,
                  Diagnostics& diagnostics) {
  std::vector<VariableId> normal;
  std::ranges::copy_if(members, std::back_inserter(normal), [&](VariableId v) { return is_normal(m, v); });
  const auto scale = std::ranges::find_if_not(members, [&](VariableId v) { return is_normal(m, v); });
  const std::string& tau = m[*scale].name;
  Diagnostic& out = diagnostics.add(DiagnosticKind::not_conjugate, d.origins[t.origin].span,
                                    "one factor of " + list_of_names(m, members, "'"),
                                    fmt::format("the term {} is not '{}' times what is quadratic in {}",
                                                density::print(m, d.algebra, t), tau, list_of_names(m, normal, "'")));
  out.note(
      fmt::format("`guide joint({})` is a Normal factor in units of '{}': write every precision of {}, and of what "
                  "they are means of, as a known multiple, `precision = c * {}`",
                  list_of_names(m, members), tau, list_of_names(m, normal, "'"), tau));
  if (normal.size() > 1)
    out.note(fmt::format("`guide joint({})` is one factor of them for any precisions", list_of_names(m, normal)));
  else out.note("take it out of the guide: the factors are then independent of each other");
}

/// Reports a term with a statistic that the joint variable does not have.
void report(const Model& m, const density::Density& d, const Term& t, const std::vector<VariableId>& members,
            Diagnostics& diagnostics) {
  if (are_scaled(m, members)) return report_scale(m, d, t, members, diagnostics);
  const bool normal = are_normal(m, members);
  diagnostics
      .add(DiagnosticKind::not_conjugate, d.origins[t.origin].span, "one factor of " + list_of_names(m, members, "'"),
           fmt::format("the term {} is not quadratic in {}", density::print(m, d.algebra, t),
                       normal ? "them" : "the number"))
      .note(fmt::format("`guide joint({})` is {}: a term holds at most two of its numbers", list_of_names(m, members),
                        normal ? "one Normal factor" : "a Normal factor for each value"))
      .note("take out of the guide what multiplies the others");
}

/// Replaces the members by the joint variable in all terms of the density. Returns false after it has reported a term.
bool rewrite(density::Density& d, const Model& m, VariableId joint, const std::vector<VariableId>& members,
             const AtomTranslation& translation, Diagnostics& diagnostics) {
  std::vector<Term> terms;
  for (const Term& t : d.terms) {
    if (std::ranges::none_of(t.atoms, [&](const Atom& x) { return m[x.variable].joint == joint; })) {
      terms.push_back(t);
      continue;
    }
    std::optional<std::vector<Term>> other = rewritten(d.algebra, m, joint, translation, t);
    if (!other) {
      report(m, d, t, members, diagnostics);
      return false;
    }
    std::ranges::move(*other, std::back_inserter(terms));
  }
  d.terms = density::merge_like_terms(d.algebra, m, std::move(terms));
  return true;
}

}  // namespace

std::vector<model::StatementId> statements_of(const Model& m, const Block& b) {
  std::vector<model::StatementId> out{m[b.variable].statement};
  if (b.mean) out.push_back(m[*b.mean].statement);
  if (const auto& x = m[b.variable].auxiliary) {
    for (const Member& member : x->members)
      out.push_back(m[member.variable].statement);
  }
  for (std::size_t k = 0; k < m.statements.size(); ++k) {
    // A variable may have more than one statement.
    const VariableId v = m.statements[k].variable;
    if (m[v].statement != model::StatementId(k) && (v == b.variable || v == b.mean)) out.emplace_back(k);
  }
  return out;
}

const math::FamilyRow& family_of(const Model& m, const Conditionals& c, VariableId v) {
  const math::FamilyRow& whole = *c[c.block_of[v.index()]].family;
  if (!m[v].joint || m[v].support == whole.support) return whole;
  return math::marginal_family(m[v].support, m[*m[v].joint].support);
}

}  // namespace lehr::conditionals

namespace lehr {
namespace {

using namespace conditionals;
/// The variables of one `guide joint`.
using Members = std::vector<model::VariableId>;

/// A kind of joint variable.
struct JointKind {
  bool (*are)(const model::Model&, const Members&);  // true if variables are members of this kind
  /// Returns why such members cannot share a factor, or nothing.
  std::optional<std::string> (*why_not)(const model::Model&, const model::JointGuide&);
  model::VariableId (*add)(model::Model&, model::JointGuide);  // adds the joint variable to the model
  /// Returns the translation of statistics.
  AtomTranslation (*translation)(density::Algebra&, const model::Model&, model::VariableId);
  const char* note;  // the advice if `why_not` has a reason
};

/// The advice for members that lie on unsuitable plates.
constexpr const char* kPlates =
    "members of one Normal factor lie on the same plates; a plate that only some have numbers coordinates, as many in "
    "each element of the factor";

/// The kinds. The first that fits is taken.
const JointKind kKinds[] = {{are_normal, why_not_one_normal, add_one_normal, vector_translation, kPlates},
                            {are_scaled, why_not_scaled, add_scaled, scaled_translation, kPlates},
                            {are_switched, why_not_switched, add_switched, switched_translation,
                             "a category or bit and the number that it switches lie on the same plates"}};

}  // namespace

std::optional<Expanded> join(Expanded expanded, Diagnostics& diagnostics) {
  model::Model& m = expanded.model;
  const std::vector<model::JointGuide> guides = m.guide.joint;
  for (std::size_t k = 0; k < guides.size(); ++k) {
    const Members& members = guides[k].members;
    const auto kind = std::ranges::find_if(kKinds, [&](const JointKind& x) { return x.are(m, members); });
    if (kind == std::end(kKinds)) continue;  // a mean and its precision, or an error that derive() reports
    if (const std::optional<std::string> why = kind->why_not(m, guides[k])) {
      diagnostics.add(DiagnosticKind::joint_members, m[members[0]].span, list_of_names(m, members, "'"), *why)
          .note(kind->note);
      return std::nullopt;
    }
    const model::VariableId joint = kind->add(m, guides[k]);
    for (const model::JointPrior& prior : std::vector(m.joint_priors))
      if (prior.guide == k) replace_prior(m, expanded.density, joint, prior);
    const AtomTranslation translation = kind->translation(expanded.density.algebra, m, joint);
    if (!rewrite(expanded.density, m, joint, members, translation, diagnostics)) return std::nullopt;
  }
  return expanded;
}

}  // namespace lehr
