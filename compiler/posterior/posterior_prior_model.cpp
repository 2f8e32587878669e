// Rewrites the statements of global variables, so that the families of their factors are their priors. The parameters
// become givens; posterior_prior.h supplies their values from a fit.
#include "compiler/posterior/posterior_prior_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;
using math::FactorParameter;

/// The prefix of the names of the givens that are added. It has a space, so it cannot be a name in a model.
constexpr std::string_view kCarried = "posterior ";

/// Makes the factor of one block the prior of its variable, by adding givens and rewriting statements.
class PriorRewriter {
 public:
  PriorRewriter(PosteriorPriorModel& out, const Analysed& complete, OriginalPriors own, conditionals::BlockId id)
      : out_(out),
        id_(id),
        block_(complete.schedule.conditionals[id]),
        variable_(complete.model[block_.variable]),
        own_(own) {}

  /// Rewrites the model, or returns the reason why this factor cannot be a prior.
  std::optional<Error> run() {
    if (const char* why = why_not()) {
      Error e = not_a_prior(variable_.name, why);
      if (own_ == OriginalPriors::replaced) e.notes = {"fit the earlier and the new data together"};
      return e;
    }
    if (is_joint(variable_)) {
      give_joint();
      return std::nullopt;
    }
    if (block_.mean) {
      if (std::optional<Error> e = give_mean()) return e;
    }
    return give_itself();
  }

 private:
  using Named = std::pair<std::string, ExprId>;

  /// Returns why the factor cannot be a prior, or null.
  const char* why_not() const {
    const Statement& s = out_.model[variable_.statement];
    if (variable_.auxiliary && own_ == OriginalPriors::retained)
      return "several variables share its factor, and no statement draws them together";
    if (variable_.support == math::Support::switched) return "a category and a number share its factor";
    if (variable_.support == math::Support::sparse)
      return "many numbers share its factor (`guide factorised;` gives them factors of their own)";
    if (variable_.clamped) return "some of its values are data";
    if (block_.point) return "it is a point";
    if (s.limits.any()) return "it lies between limits, and its distribution there is no distribution of a model";
    if (block_.chain || s.lagged) return "it is a chain, whose elements depend on each other";
    return nullptr;
  }

  /// Adds a given for a parameter, and returns an expression for its value at the element that the statement draws.
  ExprId given(const FactorParameter& p) {
    Model& m = out_.model;
    const VariableId owner = p.of_mean ? *block_.mean : block_.variable;
    const Variable& v = m[owner];
    std::vector<PlateId> event;
    if (p.event_rank > 0)
      event.assign(static_cast<std::size_t>(p.event_rank), v.value_plate ? *v.value_plate : v.event.at(0));
    constexpr GivenType kTypes[] = {GivenType::real, GivenType::vector, GivenType::matrix};
    std::vector<Index> indices;
    for (const IndexVarId b : m[v.statement].index_vars)
      indices.push_back({Index::Shifted{b, 0}, m[m[b].plate].set, v.span});
    m.exprs.push_back({GivenRef{GivenId(m.givens.size()), std::move(indices)}, event, std::nullopt, v.span});
    const std::string name = fmt::format("{}.{}", v.name, p.name);
    out_.parameters.push_back({id_, &p, name, GivenId(m.givens.size())});
    m.givens.push_back({std::string(kCarried) + name, v.span, v.axes, event, kTypes[p.event_rank], std::nullopt, true});
    return ExprId(m.exprs.size() - 1);
  }

  /// Makes the variable's statement draw from `family`, or adds a second statement with OriginalPriors::retained.
  /// `values` has expressions by the names in which the family's parameters can be written.
  std::optional<Error> draw(VariableId v, const math::FamilyRow& family, const std::vector<Named>& values) {
    Statement& s = out_.model.statements[out_.model[v].statement.index()];
    Distribution now{&family, {}, s.main.span};
    for (const math::DensityParameter& p : math::density_parameters(family)) {
      const auto spelled = std::ranges::find_if(family.spellings, [&](const math::Spelling& x) {
        return x.canonical == p.name && std::ranges::find(values, x.name, &Named::first) != values.end();
      });
      if (spelled == family.spellings.end())
        return not_a_prior(out_.model[v].name, fmt::format("{} has other parameters than its factor", family.name));
      now.parameters.push_back({&*spelled, std::ranges::find(values, spelled->name, &Named::first)->second});
    }
    if (own_ == OriginalPriors::retained) {
      out_.model.statements.push_back({v, s.index_vars, std::move(now), std::nullopt, std::nullopt, s.span});
      return std::nullopt;
    }
    s.main = std::move(now);
    s.start.reset();
    return std::nullopt;
  }

  /// Adds givens for the natural parameters and the normaliser of a joint factor. Their axes follow when the joint
  /// variable exists, in the expansion of the model.
  void give_joint() {
    Model& m = out_.model;
    constexpr GivenType kTypes[] = {GivenType::real, GivenType::vector, GivenType::matrix};
    const auto add = [&](const std::string& name, int rank) {
      m.givens.push_back({fmt::format("{}{}.{}", kCarried, variable_.name, name),
                          variable_.span,
                          {},
                          {},
                          kTypes[rank],
                          std::nullopt,
                          true});
      return GivenId(m.givens.size() - 1);
    };
    JointPrior prior;
    // The guide that joins these variables identifies the prior.
    while (!m.guide.joint[prior.guide].has(variable_.auxiliary->members[0].variable))
      ++prior.guide;
    for (const math::StatisticRow& row : block_.factor->statistics)
      prior.naturals.emplace_back(row.stat, add(math::natural_name(row.stat), math::event_rank(row.stat)));
    prior.constant = add("constant", 0);
    out_.joint.push_back({id_, variable_.name, m.joint_priors.size()});
    m.joint_priors.push_back(std::move(prior));
  }

  /// Makes the block's own variable draw from the family of its factor.
  std::optional<Error> give_itself() {
    std::vector<Named> values;
    for (const FactorParameter& p : block_.factor->parameters) {
      if (p.exported && !p.of_mean) values.emplace_back(p.name, given(p));
    }
    const Distribution& prior = out_.model[variable_.statement].main;
    return draw(block_.variable, block_.mean ? *prior.family : *block_.family, values);
  }

  /// Makes the mean in a factor of a mean and a precision draw from its family. Its precision is a multiple of the
  /// latent precision, as in the model's own statement.
  std::optional<Error> give_mean() {
    Model& m = out_.model;
    const Statement& s = m[m[*block_.mean].statement];
    std::optional<ExprId> precision;
    for (const ExprId e : nodes_under(m, roots_of(s))) {
      const auto* ref = std::get_if<VariableRef>(&m[e].node);
      if (ref && ref->variable == block_.variable) precision = e;
    }
    if (!precision) return not_a_prior(m[*block_.mean].name, "its precision does not stand in its statement");
    const math::FamilyRow& family = *s.main.family;
    std::vector<Named> values;
    for (const FactorParameter& p : block_.factor->parameters) {
      if (!p.exported || !p.of_mean) continue;
      const ExprId number = given(p);
      if (p.role == math::ParameterRole::location) {
        values.emplace_back("mean", number);
        continue;
      }
      const Expr scaled = m[*precision];
      m.exprs.push_back({Binary{BinaryOp::multiply, number, *precision}, scaled.shape, std::nullopt, scaled.span});
      values.emplace_back("precision", ExprId(m.exprs.size() - 1));
    }
    return draw(*block_.mean, family, values);
  }

  PosteriorPriorModel& out_;
  const conditionals::BlockId id_;
  const conditionals::Block& block_;
  const Variable variable_;
  const OriginalPriors own_;
};

/// Adds a given that is a single number.
GivenId add_number(Model& m, const char* name) {
  m.givens.push_back({std::string(kCarried) + name, {}, {}, {}, GivenType::real, std::nullopt, true});
  return GivenId(m.givens.size() - 1);
}

}  // namespace

Error not_a_prior(const std::string& variable, const std::string& why) {
  return {ExitCode::model, "", fmt::format("the posterior of '{}' is no prior: {}", variable, why), {}};
}

bool is_posterior_prior(const Given& given) { return given.name.starts_with(kCarried); }

Result<PosteriorPriorModel> make_posterior_prior(const Model& resolved, const Analysed& complete, OriginalPriors own) {
  PosteriorPriorModel out{resolved, {}, {}};
  if (!resolved.potentials.empty())
    return Error{ExitCode::model, "", "potentials are of no variable: they would count again with every batch", {}};
  const schedule::Schedule& s = complete.schedule;
  for (std::size_t k = 0; k < s.conditionals.blocks.size(); ++k) {
    const conditionals::BlockId block(k);
    const Variable& v = complete.model[s.conditionals[block].variable];
    if (s.stage_of[k] || s.local[k] || (v.auxiliary && v.auxiliary->kind != Auxiliary::Kind::joint)) continue;
    if (std::optional<Error> e = PriorRewriter(out, complete, own, block).run()) return *e;
  }
  if (out.parameters.empty() && out.joint.empty())
    return Error{ExitCode::model, "", "all that is inferred belongs to the items: nothing is carried on", {}};
  return out;
}

Result<Updatable> with_updates(const Model& resolved, const Analysed& complete, const density::ExpandOptions& options) {
  Result<PosteriorPriorModel> carried = make_posterior_prior(resolved, complete, OriginalPriors::retained);
  if (!carried) return carried.error();
  Model& m = carried->model;
  const GivenId own = add_number(m, "no"), other = add_number(m, "yes");
  Diagnostics diagnostics;
  std::optional<Derived> derived = derive_conditionals(m, options, diagnostics);
  if (!derived) throw std::logic_error("a model with two priors of its own families is not well");
  conditionals::Conditionals& c = derived->conditionals;
  std::vector<std::optional<GivenId>> weights(m.statements.size());
  for (std::size_t k = resolved.statements.size(); k < weights.size(); ++k) {
    weights[k] = other;
    weights[m[m.statements[k].variable].statement.index()] = own;
  }
  for (density::Term& t : c.density.terms) {
    const auto statement = c.density.origins[t.origin].statement;
    if (!statement || !weights[statement->index()]) continue;
    density::Algebra& a = c.density.algebra;
    t.coef = a.multiply(t.coef, a.coef(density::CoefData{*weights[statement->index()], {}}));
  }
  Updatable out{schedule_updates(std::move(*derived)), {own, other, {}}};
  for (const PosteriorPriorParameter& p : carried->parameters)
    out.priors.parameters.emplace_back(p.given, p.name);
  return out;
}

}  // namespace lehr
