// The function of an invariance: sums over the elements of the transformed variables, and the coefficients of their
// priors (schedule/invariance.h). From these the runtime computes how a change of basis changes the ELBO, for any
// change, without further work on the elements or the items.
#include <fmt/format.h>

#include "compiler/lower/stages/lowering.h"

namespace lehr::loops {

using math::Stat;
using schedule::Invariance;
using schedule::PriorTerm;
using schedule::Transformed;

namespace {

/// Returns true if the variable has a prior term like that, and multiplied by the scale with that position or by none.
bool has_prior(const Transformed& v, std::size_t components, bool log, std::optional<std::size_t> scale) {
  return std::ranges::any_of(v.priors, [&](const PriorTerm& p) {
    return (p.stat == Stat::log) == log && p.components.size() == components && p.scale == scale;
  });
}

}  // namespace

InvarianceFunction Lowering::emit_invariance(const Invariance& x) {
  const SizeId one = b_.constant_size("one", 1), size = layout_.size[x.plate.index()];
  std::vector<BufferId> all;
  const auto declare = [&](bool needed, const std::string& name, std::vector<SizeId> sizes) {
    if (!needed) return BufferId();
    all.push_back(b_.buffer(b_.fresh("invariance." + name + "."), Role::output, std::move(sizes)));
    return all.back();
  };
  InvarianceFunction out;
  for (const Transformed& v : x.variables) {
    const std::string& name = m_[s_.conditionals[v.block].variable].name;
    out.variables.push_back({declare(true, name + ".count", {one}), declare(v.needs(1), name + ".first", {size}),
                             declare(v.needs(2), name + ".second", {size, size}),
                             declare(has_prior(v, 1, false, {}), name + ".linear", {size}),
                             declare(has_prior(v, 2, false, {}), name + ".quadratic", {size, size}),
                             declare(has_prior(v, 1, true, {}), name + ".log", {size})});
  }
  for (std::size_t k = 0; k < x.scales.size(); ++k) {
    const std::string& name = m_[s_.conditionals[x.scales[k].block].variable].name;
    const SizeId elements = x.scales[k].by_component ? size : one;
    InvarianceFunction::Scale scale{
        declare(true, name + ".shape", {elements}), declare(true, name + ".rest", {elements}), {}, {}};
    for (const Transformed& v : x.variables) {
      scale.linear.push_back(declare(has_prior(v, 1, false, k), name + ".linear", {size}));
      scale.quadratic.push_back(declare(has_prior(v, 2, false, k), name + ".quadratic", {size}));
    }
    out.scales.push_back(std::move(scale));
  }
  out.function = b_.function(b_.fresh("invariance"), [&] {
    for (const BufferId b : all)
      b_.fill(b, b_.f(0));
    for (std::size_t k = 0; k < x.variables.size(); ++k) {
      const Transformed& v = x.variables[k];
      add_moments({v.count, {}, {}}, {}, out.variables[k].count);
      if (v.needs(1)) add_moments(v.first, {v.component}, out.variables[k].first);
      if (v.needs(2)) add_moments(v.second, {v.component, v.axis ? v.component : v.other}, out.variables[k].second);
      for (const PriorTerm& p : v.priors)
        add_prior(p, k, out);
    }
    for (std::size_t k = 0; k < x.scales.size(); ++k)
      add_rest(x.scales[k], out.scales[k]);
  });
  b_.mark_cold(out.function);
  return out;
}

void Lowering::add_moments(const schedule::OuterTerm& sum, const std::vector<IndexVarId>& components, BufferId to) {
  const ArrayTerm term = residuals_.outer_term(sum);
  terms_.emit(
      *term.term, terms_.factors(term, {}), {}, {}, std::nullopt,
      [&](ExprId value, const Env& env) {
        std::vector<ExprId> at;
        for (const IndexVarId b : components)
          at.push_back(env.at(b));
        b_.add_to(to, components.empty() ? std::vector{b_.i(0)} : at, value);
      },
      std::set<IndexVarId>(components.begin(), components.end()));
}

void Lowering::add_prior(const PriorTerm& prior, std::size_t variable, const InvarianceFunction& to) {
  const InvarianceFunction::Variable& v = to.variables[variable];
  const bool quadratic = prior.components.size() == 2;
  BufferId buffer = prior.stat == Stat::log ? v.log : quadratic ? v.quadratic : v.linear;
  if (prior.scale) buffer = (quadratic ? to.scales[*prior.scale].quadratic : to.scales[*prior.scale].linear)[variable];
  terms_.emit(
      prior.coefficient, terms_.factors({&prior.coefficient}, {}), {}, {}, std::nullopt,
      [&](ExprId value, const Env& env) {
        std::vector<ExprId> at;
        for (const IndexId i : prior.components)
          at.push_back(terms_.index(i, env));
        if (prior.scale) at = {at[0]};
        b_.add_to(buffer, at, prior.scale ? b_.neg(value) : value);
      },
      terms_.index_variables(prior.components));
}

void Lowering::add_rest(const schedule::RescaledPrior& scale, const InvarianceFunction::Scale& to) {
  b_.fill(to.shape, b_.f(1));
  for (const conditionals::Use& u : scale.rest) {
    const Term& t = s_.conditionals.density.terms[u.term];
    const Atom& own = t.atoms[u.atom];
    const bool log = own.stat == Stat::log;
    terms_.emit(
        t, terms_.factors({&t}, {u.atom}), {}, {}, std::nullopt,
        [&](ExprId value, const Env& env) {
          const ExprId at = scale.by_component ? terms_.index(own.axes[0], env) : b_.i(0);
          b_.add_to(log ? to.shape : to.rest, {at}, log ? value : b_.neg(value));
        },
        terms_.index_variables(own.axes));
  }
}

}  // namespace lehr::loops
