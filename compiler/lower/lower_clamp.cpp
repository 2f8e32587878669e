// Observed elements of latent variables (clamps.h). Each parameter of such an element is a select: that of a point mass
// at the observed value, or that of the conditional.
#include "compiler/lower/clamps.h"

namespace lehr::loops {

std::vector<ExprId> Clamps::address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event) {
  std::vector<ExprId> at = terms_.address(m_[s_.conditionals[b].variable].axes, element);
  at.insert(at.end(), event.begin(), event.end());
  return at;
}

ExprId Clamps::is_observed(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event) {
  if (!any(b)) return b_.boolean(false);
  return terms_.is_present(value(b, element, event));
}

ExprId Clamps::value(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event) {
  return b_.load(data(b), address(b, element, event));
}

ExprId Clamps::unless_observed(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event,
                               ExprId x, ExprId instead) {
  if (!any(b)) return x;
  // The event index of a category is a value it may have, not an entry that may be observed.
  if (m_[s_.conditionals[b].variable].event.empty()) return b_.select(is_observed(b, element), instead, x);
  ExprId any_observed = b_.boolean(false);
  for (ExprId e : event)
    any_observed = b_.logical_or(any_observed, is_observed(b, element, {e}));
  return b_.select(any_observed, instead, x);
}

ExprId Clamps::parameter(BlockId b, math::ParameterRole role, const std::vector<ExprId>& element,
                         const std::vector<ExprId>& event, ExprId x) {
  if (!any(b)) return x;
  switch (role) {
    case math::ParameterRole::value:
    case math::ParameterRole::location:
    case math::ParameterRole::probability:
      return b_.select(is_observed(b, element, event), value(b, element, event), x);
    case math::ParameterRole::precision: {
      const ExprId point = b_.f(kPointPrecision);
      const bool matrix = event.size() == 2;
      return unless_observed(b, element, event, x,
                             matrix ? b_.select(b_.equal(event[0], event[1]), point, b_.f(0)) : point);
    }
    case math::ParameterRole::probabilities:
      return b_.select(is_observed(b, element), b_.select(b_.equal(event.at(0), value(b, element)), b_.f(1), b_.f(0)),
                       x);
    case math::ParameterRole::freedom:
    case math::ParameterRole::spread:
    case math::ParameterRole::pseudo_count:
    case math::ParameterRole::other:
      break;
  }
  return x;
}

void Clamps::put_category(BlockId b, const std::vector<ExprId>& element, ExprId size,
                          const std::function<void(ExprId, ExprId)>& store) {
  if (!any(b)) return;
  b_.if_then(is_observed(b, element), [&] {
    const ExprId observed = value(b, element);
    b_.for_range("k", b_.i(0), size, [&](ExprId k) { store(k, b_.select(b_.equal(k, observed), b_.f(1), b_.f(0))); });
  });
}

void Clamps::put(BlockId b, const std::vector<ExprId>& element) {
  if (!any(b)) return;
  for (const math::FactorParameter& p : s_.conditionals[b].factor->parameters) {
    if (!p.exported) continue;
    const BufferId buffer = layout_.parameter.at({b, p.name});
    terms_.each_event(m_[s_.conditionals[b].variable], p.event_rank, [&](const std::vector<ExprId>& event) {
      const std::vector<ExprId> at = address(b, element, event);
      b_.store(buffer, at, parameter(b, p.role, element, event, b_.load(buffer, at)));
    });
  }
}

void Clamps::condition(BlockId b, const std::vector<ExprId>& element, BufferId linear, BufferId square,
                       const Address& at) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  if (!any(b) || var.event.empty()) return;
  const ExprId size = b_.extent(layout_.size[m_[var.event[0]].set.index()]);
  b_.for_range("j", b_.i(0), size, [&](ExprId j) {
    b_.if_else(
        is_observed(b, element, {j}), [&] { b_.store(linear, at({j}), b_.f(0)); },
        [&] {
          b_.for_range("l", b_.i(0), size, [&](ExprId l) {
            // n_jl + n_lj is twice the symmetric natural parameter.
            const ExprId both = b_.add(b_.load(square, at({j, l})), b_.load(square, at({l, j})));
            b_.if_then(is_observed(b, element, {l}),
                       [&] { b_.add_to(linear, at({j}), b_.mul(both, value(b, element, {l}))); });
          });
        });
  });
}

ExprId Clamps::use_identity(BlockId b, const std::vector<ExprId>& element, FormulaContext& f) {
  const math::FactorParameter* p = find_role(*s_.conditionals[b].factor, math::ParameterRole::precision);
  const Quantity entry = f.quantities.at(p->name);
  f.quantities[p->name] = [this, b, element, entry](const std::vector<ExprId>& event) {
    return unless_observed(b, element, event, entry(event),
                           b_.select(b_.equal(event.at(0), event.at(1)), b_.f(1), b_.f(0)));
  };
  const ScalarId observed_count = b_.local(b_.fresh("known"), b_.f(0));
  terms_.each_event(m_[s_.conditionals[b].variable], 1, [&](const std::vector<ExprId>& event) {
    b_.accumulate(observed_count, b_.select(is_observed(b, element, event), b_.f(1), b_.f(0)));
  });
  return b_.get(observed_count);
}

}  // namespace lehr::loops
