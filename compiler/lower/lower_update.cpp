// The update of one stored block: natural parameters from the terms, then parameters, then expected statistics.
//
// The axes of the block are gathered or scattered. An axis that every use names by a plain index variable is fixed to
// one element: its index variable is solved for, and its loop vanishes (gather). If data name the axis, one pass over
// the terms adds to an array over all elements (scatter), rather than one pass for each element:
//
//     gather   for k: for n: h += r[n, k] * x[n];  update mu[k]
//     scatter  for n: h[z[n]] += x[n];  for k: update mu[k] from h[k]
//
// Short constant axes are scattered too if a use goes over data, so that the data are read once. Coupled axes are
// always fixed: the next element must see the factors just updated.
#include "compiler/lower/updates.h"

#include <algorithm>
#include <limits>

#include "compiler/math/walk.h"
#include "compiler/model/roles.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// How far the target of a point by a minibatch is trusted, as a factor.
constexpr double kTrusted = 8;
/// With at most so many elements, constant axes are scattered if a use goes over data.
constexpr Threshold<std::int64_t> kMostScattered("lower_update.most_scattered", 4096);

/// Returns the typical value of a random number, which stands for a draw at the start: values are then near the mean of
/// their factor.
ExprId typical(Builder& b, math::Noise noise, ExprId argument) {
  switch (noise) {
    case math::Noise::uniform:
      return b.f(0.5);
    case math::Noise::normal:
    case math::Noise::truncated:
      return b.f(0);
    case math::Noise::log_gamma:
      return b.log(argument);
    case math::Noise::polya_gamma:
      return b.f(0.25);
    case math::Noise::binomial:
      return argument;
  }
  return argument;
}

/// The entropy of a standard Normal number. An observed entry of a vector counts as one, and is then subtracted.
constexpr double kUnitNormalEntropy = 0.5 * (1 + 1.8378770664093454836);

/// Returns true if the draw was made just before, so that the formulas have its intermediate values and not only its
/// result.
bool knows_steps(const conditionals::Block& block, const FormulaContext& f) {
  return block.drawn && std::ranges::all_of(block.factor->parameters, [&](const math::FactorParameter& p) {
           return f.quantities.contains(p.name);
         });
}

}  // namespace

bool Updates::goes_over_data(const ArrayTerm& t, std::size_t atom) const {
  const std::set<IndexVarId> own = terms_.index_variables(t.term->atoms[atom].axes);
  return std::ranges::any_of(t.term->index_vars,
                             [&](IndexVarId x) { return !own.contains(x) && constant_length(a_[x].plate) < 0; });
}

std::vector<bool> Updates::gather_axes(BlockId b, const Uses& uses) const {
  const conditionals::Block& block = s_.conditionals[b];
  const model::Variable& var = m_[block.variable];
  const auto length = [&](std::size_t x) { return constant_length(var.axes[x]); };
  // Only scalars are scattered to read the data once; vectors and categories count as too large.
  std::int64_t elements = var.event.empty() && !var.value_plate ? 1 : options_.thresholds[kMostScattered] + 1;
  for (std::size_t x = 0; x < var.axes.size(); ++x)
    elements = std::min(options_.thresholds[kMostScattered] + 1, elements * std::max<std::int64_t>(length(x), 1));
  std::vector<bool> fixed(var.axes.size(), true);
  for (std::size_t x = 0; x < fixed.size(); ++x) {
    for (const auto& [t, atom] : uses) {
      const bool once = elements <= options_.thresholds[kMostScattered] && length(x) >= 0 && goes_over_data(t, atom);
      if (once || std::holds_alternative<density::IndexLookup>(a_[t.term->atoms[atom].axes[x]]))
        fixed[x] = block.sequential[x];
    }
    // A nested axis can only be fixed together with the axis of its rows.
    if (x > 0 && m_[m_[m_[block.variable].axes[x]].set].parent && !fixed[x - 1]) fixed[x] = false;
  }
  return fixed;
}

std::vector<Weight> Updates::natural_weights(BlockId b, bool from_table) const {
  const bool local = s_.local[b.index()];
  std::vector<Weight> out{local ? Weight::local : Weight::global};
  if (!from_table) out.push_back(local ? Weight::local_data : Weight::global_data);
  return out;
}

NaturalTarget Updates::natural_buffers(BlockId b, const std::vector<bool>& fixed, const std::string& prefix,
                                       const std::set<math::Stat>& only) {
  const conditionals::Block& block = s_.conditionals[b];
  const model::Variable& var = m_[block.variable];
  NaturalTarget out;
  std::vector<model::PlateId> free_plates;
  for (std::size_t x = 0; x < var.axes.size(); ++x) {
    // A nested axis is packed with its rows, so the array needs both axes if the nested one is free.
    const bool row_of_free = x + 1 < var.axes.size() && !fixed[x + 1] && m_[m_[var.axes[x + 1]].set].parent;
    if (fixed[x] && !row_of_free) continue;
    out.free_axes.push_back(x);
    free_plates.push_back(var.axes[x]);
  }
  for (const math::StatisticRow& row : block.factor->statistics) {
    if (!only.empty() && !only.contains(row.stat)) continue;
    std::vector<model::PlateId> plates = free_plates;
    const std::vector<model::PlateId> event = event_axes(var, rank_of(var, row.stat));
    plates.insert(plates.end(), event.begin(), event.end());
    out.buffers[row.stat] = work_array(prefix + math::natural_name(row.stat) + "." + var.name, packed(plates));
  }
  return out;
}

void Updates::clear(const NaturalTarget& n) {
  for (const auto& [stat, buffer] : n.buffers)
    b_.fill(buffer, b_.f(0));
}

void Updates::gather(const Gathered& g, const std::vector<bool>& fixed, const std::vector<ExprId>& element,
                     const std::vector<std::size_t>& free_axes,
                     const std::function<void(const std::vector<ExprId>&, ExprId, const Env&)>& leaf) {
  if (terms_.is_zero(*g.term.term)) return;
  const model::Variable& var = m_[s_.conditionals[g.block].variable];
  const Atom& atom = g.term.term->atoms[g.use];
  const auto add = [&](ExprId value, const Env& env) {
    std::vector<model::PlateId> plates;
    std::vector<ExprId> free_indices;
    for (std::size_t x : free_axes) {
      plates.push_back(var.axes[x]);
      free_indices.push_back(fixed[x] ? element[x] : terms_.index(atom.axes[x], env));
    }
    std::vector<ExprId> at = terms_.address(plates, free_indices);
    std::ranges::copy(component(atom, env), std::back_inserter(at));
    leaf(at, value, env);
  };
  std::set<IndexVarId> read;
  for (std::size_t k : g.without) {
    read.merge(terms_.index_variables(g.term.term->atoms[k].axes));
    read.merge(terms_.index_variables(g.term.term->atoms[k].event));
  }
  const Solved solved = lookups_.solve_axes(atom, fixed, element);
  lookups_.for_solutions(solved, [&](const Env& env) {
    std::optional<IndexVarId> innermost;
    if (!atom.event.empty()) {
      const auto* bound = std::get_if<density::IndexVarRef>(&a_[atom.event.back()]);
      if (bound && !env.contains(bound->bound)) innermost = bound->bound;
    }
    terms_.emit(*g.term.term, terms_.factors(g.term, g.without, s_.conditionals[g.block].variable), solved.conditions,
                env, innermost, add, read);
  });
}

void Updates::contribute(BlockId b, const ArrayTerm& t, std::size_t use, const std::vector<bool>& fixed,
                         const std::vector<ExprId>& element, const NaturalTarget& n) {
  const BufferId buffer = n.buffers.at(t.term->atoms[use].stat);
  if (const auto parts = n.free_axes.empty() ? factored_sum({b, t, use, {use}}, fixed, element) : std::nullopt)
    return contribute(*parts, t.term->atoms[use], buffer);
  gather({b, t, use, {use}}, fixed, element, n.free_axes,
         [&](const std::vector<ExprId>& at, ExprId value, const Env&) { b_.add_to(buffer, at, value); });
}

std::vector<ExprId> Updates::parameter_address(BlockId b, const std::vector<ExprId>& element,
                                               const std::vector<ExprId>& event) {
  std::vector<ExprId> at = terms_.address(m_[s_.conditionals[b].variable].axes, element);
  at.insert(at.end(), event.begin(), event.end());
  return at;
}

std::vector<ExprId> Updates::natural_address(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n,
                                             const std::vector<ExprId>& event) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  std::vector<model::PlateId> plates;
  std::vector<ExprId> free_indices;
  for (std::size_t x : n.free_axes) {
    plates.push_back(var.axes[x]);
    free_indices.push_back(element[x]);
  }
  std::vector<ExprId> at = terms_.address(plates, free_indices);
  at.insert(at.end(), event.begin(), event.end());
  return at;
}

FormulaContext Updates::parameter_formulas(BlockId b, const std::vector<ExprId>& element) {
  const conditionals::Block& block = s_.conditionals[b];
  const model::Variable& var = m_[block.variable];
  FormulaContext f;
  f.fail_code = kFailBlock + static_cast<std::int32_t>(b.index());
  if (const auto axes = event_axes(var, 1); !axes.empty()) f.extent = layout_.size[m_[axes[0]].set.index()];
  for (const math::FactorParameter& p : block.factor->parameters) {
    if (!p.exported) continue;
    const BufferId buffer = layout_.parameter.at({b, p.name});
    f.quantities[p.name] = [this, b, buffer, element](const std::vector<ExprId>& event) {
      return b_.load(buffer, parameter_address(b, element, event));
    };
  }
  return f;
}

void Updates::softmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n) {
  const BufferId natural = n.buffers.at(math::Stat::indicator),
                 probs = parameter_of(b, math::ParameterRole::probabilities);
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const ExprId size = b_.extent(layout_.size[m_[event_axes(var, 1)[0]].set.index()]);
  const auto nat = [&](ExprId k) { return b_.load(natural, natural_address(b, element, n, {k})); };
  // The largest natural parameter is subtracted, so that no exponential overflows and one of them is 1.
  const ScalarId top = b_.local(b_.fresh("top"), b_.f(-1.7e308));
  b_.for_range("k", b_.i(0), size, [&](ExprId k) { b_.assign(top, b_.max(b_.get(top), nat(k))); });
  const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
  b_.for_range("k", b_.i(0), size, [&](ExprId k) {
    const ExprId e = b_.let(b_.fresh("e"), b_.exp(b_.sub(nat(k), b_.get(top))));
    b_.store(probs, parameter_address(b, element, {k}), e);
    b_.accumulate(sum, e);
  });
  const ExprId scale = b_.let(b_.fresh("scale"), b_.div(b_.f(1), b_.get(sum)));
  b_.for_range("k", b_.i(0), size, [&](ExprId k) {
    const auto at = parameter_address(b, element, {k});
    b_.store(probs, at, b_.mul(b_.load(probs, at), scale));
  });
}

void Updates::argmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n) {
  const BufferId natural = n.buffers.at(math::Stat::indicator),
                 probs = parameter_of(b, math::ParameterRole::probabilities);
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const ExprId size = b_.extent(layout_.size[m_[event_axes(var, 1)[0]].set.index()]);
  const auto nat = [&](ExprId k) { return b_.load(natural, natural_address(b, element, n, {k})); };
  const ScalarId top = b_.local(b_.fresh("top"), nat(b_.i(0)));
  const ScalarId best = b_.local(b_.fresh("best"), b_.i(0));
  b_.for_range("k", b_.i(1), size, [&](ExprId k) {
    b_.if_then(b_.greater(nat(k), b_.get(top)), [&] {
      b_.assign(top, nat(k));
      b_.assign(best, k);
    });
  });
  b_.for_range("k", b_.i(0), size, [&](ExprId k) {
    b_.store(probs, parameter_address(b, element, {k}), b_.select(b_.equal(k, b_.get(best)), b_.f(1), b_.f(0)));
  });
}

void Updates::measure_gradient(BlockId b, math::Stat stat, const std::vector<ExprId>& at, ExprId gradient) {
  const auto mean = layout_.mean_gradient.find({b, stat});
  if (mean == layout_.mean_gradient.end()) return;
  const ExprId share = weight(Weight::gradient_memory);
  b_.if_then(b_.greater(share, b_.f(0)), [&] {
    const ExprId g = b_.let(b_.fresh("gradient"), gradient);
    const ExprId old = b_.let(b_.fresh("mean"), b_.load(mean->second, at));
    const ExprId now = b_.let(b_.fresh("mean"), b_.add(old, b_.mul(share, b_.sub(g, old))));
    b_.store(mean->second, at, now);
    b_.add_to(layout_.gradient_norms.at(b), {b_.i(0)}, b_.mul(now, now));
    b_.add_to(layout_.gradient_norms.at(b), {b_.i(1)}, b_.mul(g, g));
  });
}

void Updates::blend_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n) {
  const ExprId rho = weight(Weight::step);
  const auto blended = [&](ExprId now, ExprId old) {
    return b_.add(b_.mul(rho, now), b_.mul(b_.sub(b_.f(1), rho), old));
  };
  b_.if_then(b_.not_equal(rho, b_.f(1)), [&] {
    if (sparse_.has(b))
      return sparse_.blend(b, n.buffers.at(math::Stat::comp), n.buffers.at(math::Stat::comp2),
                           [&](math::Stat stat, ExprId at, ExprId now, ExprId old) {
                             measure_gradient(b, stat, {at}, b_.sub(now, old));
                             return blended(now, old);
                           });
    FormulaContext f = parameter_formulas(b, element);
    const model::Variable& var = m_[s_.conditionals[b].variable];
    for (const math::StatisticRow& row : s_.conditionals[b].factor->statistics) {
      const int rank = rank_of(var, row.stat);
      if (row.stat == math::Stat::indicator) f.extent = layout_.size[m_[event_axes(var, 1)[0]].set.index()];
      formulas_.components(row.natural, rank, f, [&](std::vector<ExprId> event, ExprId old) {
        const std::vector<ExprId> at = natural_address(b, element, n, event);
        const ExprId now = b_.load(n.buffers.at(row.stat), at);
        measure_gradient(b, row.stat, parameter_address(b, element, event),
                         clamps_.unless_observed(b, element, event, b_.sub(now, old), b_.f(0)));
        b_.store(n.buffers.at(row.stat), at, blended(now, old));
      });
    }
  });
}

/// An inverse gamma has the density x^(-a - 1) exp(-b / x). With w times the natural parameters it is improper where
/// w (a + 1) is at most 1. There, the natural parameter of log x is taken with respect to dx / x, where it is -a: times
/// w it is proper for every w above 0. In D dimensions, df - D + 1 takes the place of a. A precision with the D numbers
/// that it scales has a - 1 + D / 2, which stands for a, too.
void Updates::keep_proper(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n) {
  const conditionals::Block& block = s_.conditionals[b];
  const auto has = [&](math::Stat stat) {
    return std::ranges::find(block.factor->statistics, stat, &math::StatisticRow::stat) !=
           block.factor->statistics.end();
  };
  const bool matrix = has(math::Stat::inverse_entry), scales = has(math::Stat::weighted2),
             number = (has(math::Stat::inverse) || has(math::Stat::inverse_square)) && !has(math::Stat::value);
  const math::Stat stat = matrix ? math::Stat::logdet : math::Stat::log;
  if (block.point || !(matrix || number || scales) || !has(stat)) return;
  ExprId measure = b_.f(1);
  if (matrix || scales) measure = b_.to_f64(b_.extent(parameter_formulas(b, element).extent));
  if (scales) measure = b_.sub(b_.f(1), b_.mul(b_.f(0.5), measure));
  const ExprId heat = b_.sub(weight(s_.local[b.index()] ? Weight::local : Weight::global), b_.f(1));
  const std::vector<ExprId> at = natural_address(b, element, n, {});
  const ExprId natural = b_.load(n.buffers.at(stat), at), limit = b_.neg(measure);
  const ExprId is_proper = scales ? b_.less(limit, natural) : b_.less(natural, limit);
  b_.add_to(n.buffers.at(stat), at, b_.select(is_proper, b_.f(0), b_.mul(heat, measure)));
}

void Updates::from_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n,
                            const UpdateHooks& hooks) {
  const bool tolerant = hooks.tolerant;
  const math::Factor& factor = *s_.conditionals[b].factor;
  const bool steps = !tolerant && !s_.local[b.index()];
  if (const auto linear = n.buffers.find(math::Stat::comp); linear != n.buffers.end() && clamps_.any(b))
    clamps_.condition(b, element, linear->second, n.buffers.at(math::Stat::comp2),
                      [&](const std::vector<ExprId>& event) { return natural_address(b, element, n, event); });
  keep_proper(b, element, n);
  if (steps && s_.conditionals[b].has_entropy()) blend_naturals(b, element, n);
  if (sparse_.has(b)) {
    const std::int32_t code = kFailBlock + static_cast<std::int32_t>(b.index());
    return sparse_.from_naturals(b, n.buffers.at(math::Stat::comp), n.buffers.at(math::Stat::comp2), code, tolerant);
  }
  if (factor.softmax) {
    if (factor.one_hot) argmax(b, element, n);
    else softmax(b, element, n);
    if (factor.drawn && !tolerant) draw_category(b, element);
    return clamp(b, element);
  }
  FormulaContext f = parameter_formulas(b, element);
  if (tolerant) f.fail_code = 0;
  for (const auto& [stat, buffer] : n.buffers) {
    f.quantities[math::natural_name(stat)] = [this, b, buffer = buffer, element, &n](const std::vector<ExprId>& event) {
      const ExprId x = b_.load(buffer, natural_address(b, element, n, event));
      if (event.size() < 2) return x;
      // The natural parameter of x_j x_l is symmetric: the mean of what the terms gave to (j, l) and (l, j).
      return b_.mul(b_.f(0.5), b_.add(x, b_.load(buffer, natural_address(b, element, n, {event[1], event[0]}))));
    };
  }
  for (std::size_t k = 0; k < factor.parameters.size(); ++k) {
    const math::FactorParameter& p = factor.parameters[k];
    BufferId buffer;
    if (p.exported) {
      buffer = layout_.parameter.at({b, p.name});
    } else {
      buffer = work_array(p.name + "." + m_[s_.conditionals[b].variable].name,
                          std::vector<SizeId>(static_cast<std::size_t>(p.event_rank), f.extent));
      f.quantities[p.name] = [this, buffer](const std::vector<ExprId>& event) { return b_.load(buffer, event); };
    }
    store_parameter(b, k, buffer, element, f, tolerant);
    reuse_inverse(b, p, f);
  }
  if (!tolerant) check_proper(b, f);
  if (!hooks.forms_expectations) return expectations_from_parameters(b, element, f);
  b_.if_then(hooks.forms_expectations(element), [&] { expectations_from_parameters(b, element, f); });
}

void Updates::reuse_inverse(BlockId b, const math::FactorParameter& p, FormulaContext& f) {
  const auto* entry = std::get_if<math::InverseEntry>(&p.from_natural->form);
  if (!entry || p.noise || s_.conditionals[b].point || clamps_.any(b)) return;
  if (*entry != math::InverseEntry{entry->matrix, math::kFirst, math::kSecond}) return;
  if (f.fail_code != 0) {  // no entry is larger than the diagonal, so this finds all infinite and NaN ones
    b_.for_range("j", b_.i(0), b_.extent(f.extent), [&](ExprId j) {
      const ExprId x = b_.let(b_.fresh("x"), f.quantities.at(p.name)({j, j}));
      b_.fail_if(b_.logical_not(
                     b_.logical_and(b_.less(b_.f(0), x), b_.less_equal(x, b_.f(std::numeric_limits<double>::max())))),
                 f.fail_code);
    });
  }
  f.inverses[p.name] = {{}, {}, {}, b_.let(b_.fresh("logdet"), b_.neg(f.inverses.at(entry->matrix).logdet))};
}

ExprId Updates::position_of(const std::vector<ExprId>& event, SizeId extent) {
  ExprId out = b_.i(0);
  for (ExprId e : event)
    out = b_.add(b_.mul(out, b_.extent(extent)), e);
  return out;
}

void Updates::store_parameter(BlockId b, std::size_t parameter, BufferId buffer, const std::vector<ExprId>& element,
                              FormulaContext& f, bool tolerant) {
  const math::FactorParameter& p = s_.conditionals[b].factor->parameters[parameter];
  // A point has no natural parameters to blend, so its value itself moves by the step.
  const bool blended = !tolerant && !s_.local[b.index()] && s_.conditionals[b].point;
  const bool by_logarithm = std::ranges::find(s_.conditionals[b].factor->statistics, math::Stat::log_gamma,
                                              &math::StatisticRow::stat) != s_.conditionals[b].factor->statistics.end();
  ExprId second;
  if (p.noise_second && !tolerant)
    formulas_.components(*p.noise_second, 0, f, [&](const std::vector<ExprId>&, ExprId value) { second = value; });
  formulas_.components(p.from_natural, p.event_rank, f, [&](std::vector<ExprId> event, ExprId value) {
    const std::vector<ExprId> at = p.exported ? parameter_address(b, element, event) : event;
    if (p.exported && blended) {
      const ExprId rho = weight(Weight::step), old = b_.load(buffer, at);
      const ExprId rest = b_.sub(b_.f(1), rho);
      // A target by a minibatch is as uncertain as its logarithm where log Gamma(x) is in the terms, and may be
      // infinite.
      if (by_logarithm) {
        const ExprId near = b_.min(b_.max(value, b_.div(old, b_.f(kTrusted))), b_.mul(old, b_.f(kTrusted)));
        value = b_.select(b_.equal(rho, b_.f(1)), value,
                          b_.exp(b_.add(b_.mul(rho, b_.log(near)), b_.mul(rest, b_.log(old)))));
      } else {
        value = b_.add(b_.mul(rho, value), b_.mul(rest, old));
      }
    }
    if (p.noise && tolerant) value = typical(b_, *p.noise, value);
    else if (p.noise)
      value = draws_.random(*p.noise, b, 2 + parameter, element, position_of(event, f.extent), value, second);
    b_.store(buffer, at, clamps_.parameter(b, p.role, element, event, value));
  });
}

void Updates::draw_category(BlockId b, const std::vector<ExprId>& element) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  const BufferId probs = parameter_of(b, math::ParameterRole::probabilities);
  draws_.category(
      b, element, b_.extent(layout_.size[m_[event_axes(var, 1)[0]].set.index()]), owned_multiplicity(var, element),
      [&](ExprId k) { return b_.load(probs, parameter_address(b, element, {k})); },
      [&](ExprId k, ExprId share) { b_.store(probs, parameter_address(b, element, {k}), share); });
}

void Updates::check_proper(BlockId b, FormulaContext& f) {
  const math::Factor& factor = *s_.conditionals[b].factor;
  const auto require = [&](const math::Expr& v, const auto& holds) {
    const ScalarId bad = b_.local(b_.fresh("bad"), b_.f(0));
    formulas_.components(v, math::free_event_rank(v), f, [&](const std::vector<ExprId>&, ExprId value) {
      b_.accumulate(bad, b_.select(holds(value), b_.f(0), b_.f(1)));
    });
    b_.fail_if(b_.greater(b_.get(bad), b_.f(0)), f.fail_code);
  };
  for (const math::Expr& v : factor.valid)
    require(v, [&](ExprId value) { return b_.greater(value, b_.f(0)); });
  if (s_.conditionals[b].point) {
    for (const math::Expr& v : factor.interior)
      require(v, [&](ExprId value) { return b_.greater_equal(value, b_.f(0)); });
  }
}

void Updates::expectations_from_parameters(BlockId b, const std::vector<ExprId>& element, FormulaContext& f) {
  if (sparse_.has(b)) return sparse_.expectations(b, f.fail_code);
  const conditionals::Block& block = s_.conditionals[b];
  const model::Variable& var = m_[block.variable];
  for (const math::StatisticRow& row : block.factor->statistics) {
    const auto it = layout_.expectation.find({b, row.stat});
    const bool probabilities =
        row.stat == math::Stat::indicator && find_role(*block.factor, math::ParameterRole::probabilities);
    if (it == layout_.expectation.end() || probabilities) continue;  // parameters that are their own expectation
    const int rank = rank_of(var, row.stat);
    const auto own = block.factor->drawn_statistics.find(row.stat);
    const bool has_steps = own != block.factor->drawn_statistics.end() && knows_steps(block, f);
    formulas_.components(has_steps ? own->second : row.expectation, rank, f,
                         [&](std::vector<ExprId> event, ExprId value) {
                           b_.store(it->second, parameter_address(b, element, event), value);
                         });
  }
  for (const auto& [matrix, buffer] : layout_.logdet[b]) {
    formulas_.components(math::logdet(matrix), 0, f, [&, buffer = buffer](const std::vector<ExprId>&, ExprId value) {
      b_.store(buffer, parameter_address(b, element, {}), value);
    });
  }
}

/// The update of a global block has stored all of these.
bool Updates::reuse_statistics(BlockId b, const std::vector<ExprId>& element, FormulaContext& f) {
  if (s_.stage_of[b.index()] || clamps_.any(b)) return false;
  const math::Factor& factor = *s_.conditionals[b].factor;
  const auto at = [this, b, element](BufferId buffer, const std::vector<ExprId>& event = {}) {
    return b_.load(buffer, parameter_address(b, element, event));
  };
  for (const auto& [matrix, buffer] : layout_.logdet[b])
    f.inverses[matrix] = {{}, {}, {}, at(buffer)};
  bool all = true;
  for (const math::StatisticRow& row : factor.statistics) {
    const auto expectation = layout_.expectation.find({b, row.stat});
    const bool is_parameter = std::holds_alternative<math::Symbol>(row.expectation->form);
    if (expectation == layout_.expectation.end()) {
      all = false;
      continue;
    }
    f.quantities[math::expected_name(row.stat)] = [at, buffer = expectation->second](const std::vector<ExprId>& event) {
      return at(buffer, event);
    };
    const bool is_number = rank_of(m_[s_.conditionals[b].variable], row.stat) == 0;
    if (is_parameter || !is_number) continue;
    for (const math::Node* same : math::equal_subformulas(factor.entropy, row.expectation))
      f.hoisted[same] = at(expectation->second);
    reuse_summand(factor.entropy, row.expectation, at(expectation->second), f);
  }
  return all;
}

void Updates::reuse_summand(const math::Expr& e, const math::Expr& sum, ExprId value, FormulaContext& f) {
  const auto* x = std::get_if<math::Add>(&sum->form);
  if (!x) return;
  for (const auto& [summand, rest] : {std::pair(x->left, x->right), std::pair(x->right, x->left)}) {
    if (!std::holds_alternative<math::Apply>(summand->form) || !math::calls_subset_of(rest, e)) continue;
    const std::vector<const math::Node*> equal = math::equal_subformulas(e, summand);
    if (equal.empty()) continue;
    formulas_.components(rest, 0, f,
                         [&](const std::vector<ExprId>&, ExprId rest_value) { value = b_.sub(value, rest_value); });
    for (const math::Node* same : equal)
      f.hoisted[same] = value;
    return;
  }
}

ExprId Updates::entropy(BlockId b, const std::vector<ExprId>& element) {
  FormulaContext f = parameter_formulas(b, element);
  const bool entries =
      clamps_.any(b) && s_.conditionals[b].has_entropy() && !m_[s_.conditionals[b].variable].event.empty();
  const ExprId observed_count = entries ? clamps_.use_identity(b, element, f) : b_.f(0);
  const math::Factor& factor = *s_.conditionals[b].factor;
  const bool from_statistics = reuse_statistics(b, element, f) && factor.entropy_from_statistics;
  ExprId out = b_.f(0);
  formulas_.components(from_statistics ? *factor.entropy_from_statistics : factor.entropy, 0, f,
                       [&](const std::vector<ExprId>&, ExprId value) { out = value; });
  if (entries) out = b_.sub(out, b_.mul(b_.f(kUnitNormalEntropy), observed_count));
  else out = clamps_.unless_observed(b, element, {}, out, b_.f(0));
  return b_.mul(owned_multiplicity(m_[s_.conditionals[b].variable], element), out);
}

ExprId Updates::d_connected(const model::Variable& v, model::GivenId mask, const std::vector<ExprId>& element) {
  const std::vector<ExprId> at = terms_.address(v.axes, element);
  const BufferId buffer = layout_.data.givens[mask.index()];
  if (m_[mask].event.empty()) return b_.load(buffer, at);
  // The mask has one number for each entry if entries are independent. Those without a value are integrated out, and
  // observed ones have no entropy, so the element counts only if all of them are d-connected.
  const ScalarId all = b_.local(b_.fresh("informed"), b_.f(1));
  terms_.each_event(v, 1, [&](const std::vector<ExprId>& event) {
    std::vector<ExprId> entry = at;
    entry.insert(entry.end(), event.begin(), event.end());
    b_.assign(all, b_.mul(b_.get(all), b_.load(buffer, entry)));
  });
  return b_.get(all);
}

ExprId Updates::owned_multiplicity(const model::Variable& v, const std::vector<ExprId>& element) {
  ExprId out = b_.f(1);
  for (std::size_t x = 0; x < v.axes.size(); ++x) {
    const auto& times = m_[m_[v.axes[x]].set].times;
    if (!times) continue;
    const model::Given& g = m_[*times];
    const auto first = static_cast<std::ptrdiff_t>(x + 1 - g.axes.size());
    const std::vector<ExprId> at(element.begin() + first, element.begin() + static_cast<std::ptrdiff_t>(x + 1));
    out = b_.mul(out, b_.load(layout_.data.givens[times->index()], terms_.address(g.axes, at)));
  }
  if (const auto mask = model::mask_of(m_, v)) out = b_.mul(out, d_connected(v, *mask, element));
  if (!v.auxiliary || v.auxiliary->kind != model::Auxiliary::Kind::source) return out;
  const model::Variable& host = m_[v.auxiliary->host];
  if (host.support == math::Support::category) return out;
  const ExprId count = b_.load(layout_.data.observed[v.auxiliary->host.index()], terms_.address(v.axes, element));
  return b_.mul(out, b_.select(b_.is_nan(count), b_.f(0), count));
}

std::vector<ExprId> Updates::component(const Atom& a, const Env& env) {
  std::vector<ExprId> out;
  for (const IndexId i : a.event)
    out.push_back(terms_.index(i, env));
  const BlockId block = s_.conditionals.block_of[a.variable.index()];
  if (out.size() == 2 && sparse_.has(block)) return {sparse_.entry(block, out[0], out[1])};
  return out;
}

ExprId Updates::expectation(const Atom& a, const Env& env) {
  const BlockId block = s_.conditionals.block_of[a.variable.index()];
  const auto near = layout_.marginal.find(block);
  std::vector<ExprId> at;
  if (near == layout_.marginal.end()) at = terms_.address(m_[a.variable].axes, a.axes, env);
  else at.push_back(terms_.index(a.axes.back(), env));
  std::ranges::copy(component(a, env), std::back_inserter(at));
  return b_.load(near == layout_.marginal.end() ? layout_.expectation.at({block, a.stat}) : near->second, at);
}

}  // namespace lehr::loops
