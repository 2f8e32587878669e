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

/// Returns true if the variable has a prior term in this number of components, multiplied by the scale at the position
/// `scale`, or by none.
bool has_prior(const Transformed& v, std::size_t components, std::optional<std::size_t> scale) {
  return std::ranges::any_of(v.priors,
                             [&](const PriorTerm& p) { return p.components.size() == components && p.scale == scale; });
}

}  // namespace

InvarianceFunction Lowering::emit_invariance(const Invariance& x) {
  const SizeId one = b_.constant_size("one", 1), size = x.plate.valid() ? layout_.size[x.plate.index()] : one;
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
                             declare(has_prior(v, 1, {}), name + ".linear", {size}),
                             declare(has_prior(v, 2, {}), name + ".quadratic", {size, size})});
  }
  for (std::size_t k = 0; k < x.scales.size(); ++k) {
    const std::string& name = m_[s_.conditionals[x.scales[k].block].variable].name;
    const SizeId elements = x.scales[k].by_component ? size : one;
    InvarianceFunction::Scale scale{
        declare(true, name + ".shape", {elements}), declare(true, name + ".rest", {elements}), {}, {}};
    for (const Transformed& v : x.variables) {
      scale.linear.push_back(declare(has_prior(v, 1, k), name + ".linear", {size}));
      scale.quadratic.push_back(declare(has_prior(v, 2, k), name + ".quadratic", {size}));
    }
    out.scales.push_back(std::move(scale));
  }
  const auto length = [&](IndexVarId b) {
    return b.valid() ? layout_.size[s_.conditionals.density.algebra[b].plate.index()] : one;
  };
  for (const schedule::QuadraticForm& form : x.forms) {
    const bool plain = form.followers.empty();
    out.forms.push_back({declare(true, "moments", {length(form.first), length(form.second)}),
                         declare(true, "coefficients", plain ? std::vector{size, size} : std::vector{size})});
  }
  for (const schedule::Follower& f : x.followers) {
    const model::Variable& v = m_[s_.conditionals[f.block].variable];
    const SizeId entries = layout_.size[m_[v.event[0]].set.index()];
    out.followers.push_back({declare(true, v.name + ".linear", {size, entries}),
                             declare(true, v.name + ".quadratic", {size, entries, entries})});
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
    for (std::size_t k = 0; k < x.forms.size(); ++k)
      add_form(x.forms[k], out.forms[k]);
    for (std::size_t k = 0; k < x.followers.size(); ++k)
      add_natural(x.followers[k], out.followers[k]);
  });
  b_.mark_cold(out.function);
  return out;
}

void Lowering::add_entries(const ArrayTerm& term, const std::vector<std::size_t>& without,
                           const std::vector<IndexId>& entry, BufferId to) {
  terms_.emit(
      *term.term, terms_.factors(term, without), {}, {}, std::nullopt,
      [&](ExprId value, const Env& env) {
        std::vector<ExprId> at;
        for (const IndexId i : entry)
          at.push_back(terms_.index(i, env));
        b_.add_to(to, at, value);
      },
      terms_.index_variables(entry));
}

void Lowering::add_form(const schedule::QuadraticForm& form, const InvarianceFunction::Form& to) {
  add_moments(form.moments, {form.first, form.second}, to.moments);
  add_entries({&form.coefficient}, {}, form.at, to.coefficients);
}

void Lowering::add_natural(const schedule::Follower& follower, const InvarianceFunction::Follower& to) {
  for (const conditionals::Use& u : follower.rest) {
    const Term& t = s_.conditionals.density.terms[u.term];
    const Atom& own = t.atoms[u.atom];
    std::vector<IndexId> indices = own.axes;
    indices.insert(indices.end(), own.event.begin(), own.event.end());
    add_entries({&t}, {u.atom}, indices, own.stat == Stat::comp ? to.linear : to.quadratic);
  }
}

ShiftFunctions Lowering::emit_shift(const schedule::Shift& x) {
  const SizeId size = x.components ? layout_.size[m_[*x.components].set.index()] : b_.constant_size("one", 1);
  const auto declare = [&](const char* name, Role role, std::vector<SizeId> sizes) {
    return b_.buffer(b_.fresh(fmt::format("shift.{}.", name)), role, std::move(sizes));
  };
  ShiftFunctions out;
  out.step = layout_.array[x.step] = declare("step", Role::data, {size});
  out.gradient = declare("gradient", Role::output, {size});
  out.curvature = declare("curvature", Role::output, {size, size});
  out.measure = b_.function(b_.fresh("shift.measure"), [&] {
    b_.fill(out.gradient, b_.f(0));
    b_.fill(out.curvature, b_.f(0));
    for (const schedule::Shift::Derivative& d : x.gradient)
      add_entries(residuals_.outer_term(d.term), {}, d.components, out.gradient);
    for (const schedule::Shift::Derivative& d : x.curvature)
      add_entries(residuals_.outer_term(d.term), {}, d.components, out.curvature);
  });
  out.move = b_.function(b_.fresh("shift.move"), [&] {
    for (const schedule::Shift::Moved& v : x.moved) {
      terms_.emit(v.by, terms_.factors({&v.by}, {}), {}, {}, std::nullopt, [&](ExprId value, const Env& env) {
        std::vector<ExprId> at = terms_.address(m_[s_.conditionals[v.block].variable].axes, v.axes, env);
        for (const IndexId i : v.event)
          at.push_back(terms_.index(i, env));
        if (x.power == 0) return b_.add_to(parameter_of(v.block, math::ParameterRole::location), at, value);
        const BufferId spread = parameter_of(v.block, math::ParameterRole::spread);
        b_.store(spread, at, b_.mul(b_.load(spread, at), b_.exp(value)));
      });
    }
  });
  b_.mark_cold(out.measure);
  b_.mark_cold(out.move);
  return out;
}

void Lowering::add_moments(const schedule::OuterTerm& sum, const std::vector<IndexVarId>& components, BufferId to) {
  const ArrayTerm term = residuals_.outer_term(sum);
  terms_.emit(
      *term.term, terms_.factors(term, {}), {}, {}, std::nullopt,
      [&](ExprId value, const Env& env) {
        std::vector<ExprId> at;
        for (const IndexVarId b : components)
          at.push_back(b.valid() ? env.at(b) : b_.i(0));
        b_.add_to(to, components.empty() ? std::vector{b_.i(0)} : at, value);
      },
      std::set<IndexVarId>(components.begin(), components.end()));
}

void Lowering::add_prior(const PriorTerm& prior, std::size_t variable, const InvarianceFunction& to) {
  const InvarianceFunction::Variable& v = to.variables[variable];
  const bool quadratic = prior.components.size() == 2;
  BufferId buffer = quadratic ? v.quadratic : v.linear;
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
