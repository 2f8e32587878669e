// What must be summed over is found by evaluating a parameter and seeing which category it lacked.
#include "compiler/fitting/expectation.h"

#include <algorithm>
#include <cmath>

#include "compiler/math/mean_parameters.h"
#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using namespace model;

constexpr std::int64_t kMostEvaluations = 100'000;

/// The expression of a canonical parameter that is written as it is, or nothing.
std::optional<ExprId> written(const Distribution& d, const std::string& canonical) {
  for (const Parameter& p : d.parameters)
    if (p.spelling->canonical == canonical && !p.spelling->convert) return p.value;
  return std::nullopt;
}

std::optional<std::set<std::size_t>> product(std::optional<std::set<std::size_t>> a,
                                             const std::optional<std::set<std::size_t>>& b) {
  if (!a || !b) return std::nullopt;
  for (const std::size_t x : *b)
    if (!a->insert(x).second) return std::nullopt;
  return a;
}

std::optional<std::set<std::size_t>> both(std::optional<std::set<std::size_t>> a,
                                          const std::optional<std::set<std::size_t>>& b) {
  if (!a || !b) return std::nullopt;
  a->insert(b->begin(), b->end());
  return a;
}

}  // namespace

std::vector<double> conditional_mean(const Forward& forward, const Statement& s, const At& at) {
  const Distribution& d = forward.distribution(s, at);
  const std::vector<std::string> names = math::mean_parameters(*d.family);
  std::vector<double> out;
  if (names.empty()) return out;
  const std::size_t n =
      forward.model()[s.variable].value_plate ? forward.extent(s.variable) : forward.width(s.variable);
  out.assign(n, 1.0);
  for (const std::string& name : names) {
    std::vector<double> values;
    if (const std::optional<ExprId> e = written(d, name)) {
      values = forward.value(*e, at).values;
    } else {
      const math::Environment all = forward.parameters(s, at);
      const auto it = all.symbols.find(name);
      if (it == all.symbols.end()) return {};
      values = it->second.values;
    }
    for (std::size_t i = 0; i < n; ++i)
      out[i] *= values.size() == 1 ? values[0] : values[i];
  }
  return out;
}

Expectation::Expectation(const Analysed& analysed, Forward& means, const std::vector<std::vector<double>>& beliefs,
                         const std::vector<std::vector<bool>>& informed)
    : analysed_(analysed), model_(analysed.model), means_(means), beliefs_(beliefs), informed_(informed) {
  for (const std::vector<bool>& v : informed)
    some_uninformed_.push_back(std::ranges::find(v, false) != v.end());
}

bool Expectation::is_chain(VariableId v) const {
  const conditionals::Conditionals& c = analysed_.schedule.conditionals;
  return c.block_of[v.index()].valid() && c[c.block_of[v.index()]].chain.has_value();
}

std::optional<Expectation::Blocks> Expectation::factors_of(const Distribution& d) {
  if (const auto it = known_.find(&d); it != known_.end()) return it->second;
  std::optional<Blocks> out;
  const std::vector<std::string> names = math::mean_parameters(*d.family);
  if (!names.empty()) out = Blocks();
  for (const std::string& name : names) {
    const std::optional<ExprId> e = written(d, name);
    out = e ? product(std::move(out), factors_of(*e)) : std::nullopt;
  }
  return known_[&d] = out;
}

std::optional<Expectation::Blocks> Expectation::factors_of(const VariableRef& ref) {
  const Variable& v = model_[ref.variable];
  if (v.observed || v.support == math::Support::category) return Blocks();
  std::optional<Blocks> out = Blocks{analysed_.schedule.conditionals.block_of[ref.variable.index()].index()};
  if (!some_uninformed_[ref.variable.index()] || !open_.insert(ref.variable.index()).second) return out;
  const Statement& s = model_[v.statement];
  out = both(std::move(out), factors_of(s.main));
  if (s.start) out = both(std::move(out), factors_of(*s.start));
  open_.erase(ref.variable.index());
  return out;
}

std::optional<Expectation::Blocks> Expectation::factors_of(ExprId id) {
  const auto known = [&](ExprId e) -> std::optional<Blocks> {  // a function of it is one of constants
    const std::optional<Blocks> out = factors_of(e);
    return out && out->empty() ? out : std::nullopt;
  };
  return std::visit(
      Overloaded{
          [&](const VariableRef& r) { return factors_of(r); }, [&](const Negate& n) { return factors_of(n.operand); },
          [&](const Binary& b) {
            if (b.op == BinaryOp::multiply) return product(factors_of(b.left), factors_of(b.right));
            if (b.op == BinaryOp::divide) return both(factors_of(b.left), known(b.right));
            return both(factors_of(b.left), factors_of(b.right));
          },
          [&](const MatrixVector& m) { return product(factors_of(m.matrix), factors_of(m.vector)); },
          [&](const Dot& d) { return product(factors_of(d.left), factors_of(d.right)); },
          [&](const SumOver& s) { return factors_of(s.body); }, [&](const Diag& d) { return factors_of(d.vector); },
          [&](const Component& c) { return factors_of(c.vector); },
          [&](const StickBreaking& s) -> std::optional<Blocks> {
            // Each entry is a product of different fractions.
            const auto* r = std::get_if<VariableRef>(&model_[s.fractions].node);
            const bool apart = r && !model_[r->variable].observed && !is_chain(r->variable) &&
                               model_[r->variable].event.empty() && !some_uninformed_[r->variable.index()];
            return apart ? factors_of(*r) : known(s.fractions);
          },
          [&](const Apply& a) { return known(a.argument); },
          [](const auto&) { return std::optional<Blocks>(Blocks()); }},
      model_[id].node);
}

std::optional<std::vector<double>> Expectation::mean(const Statement& s, const At& at) {
  const std::optional<Blocks> factors = factors_of(means_.distribution(s, at));
  if (!factors) return std::nullopt;
  used_ = *factors;
  summed_.clear();
  evaluations_ = 0;
  exact_ = true;
  std::vector<double> out = sum({}, s, at);
  if (!exact_ || std::ranges::any_of(out, [](double x) { return !std::isfinite(x); })) return std::nullopt;
  return out;
}

/// The mean times the probabilities of the categories in `priors` given their parents.
std::vector<double> Expectation::sum(std::vector<Element> priors, const Statement& s, const At& at) {
  exact_ = exact_ && ++evaluations_ < kMostEvaluations;
  if (!exact_) return {};
  double weight = 1;
  while (!priors.empty() && weight > 0) {
    const Element e = priors.back();
    const Statement& own = model_[model_[e.variable].statement];
    const At there = means_.at(e);
    const std::optional<ExprId> p = written(means_.distribution(own, there), math::looks_up(*own.main.family)->vector);
    means_.clear();
    const double x = means_.entry(*p, there, static_cast<std::size_t>(means_.values(e)[0]));
    if (means_.unknown()) break;
    weight *= x;
    priors.pop_back();
  }
  std::vector<double> out;
  if (priors.empty() || weight == 0) {
    means_.clear();
    out = conditional_mean(means_, s, at);
    if (weight == 0) return std::vector<double>(out.size(), 0.0);
  }
  if (means_.unknown()) out = sum_over(*means_.unknown(), priors, s, at);
  for (double& x : out)
    x *= weight;
  return out;
}

std::vector<double> Expectation::sum_over(Element u, const std::vector<Element>& priors, const Statement& s,
                                          const At& at) {
  const bool informed = informed_[u.variable.index()][u.position];
  const auto in_one_factor = [&](Element e) { return e.variable == u.variable && is_chain(u.variable); };
  exact_ = exact_ && std::ranges::none_of(summed_, in_one_factor);
  const Blocks before = used_;
  if (!informed) {
    // The parameters of its distribution are one more factor of what is averaged.
    const std::optional<Blocks> all =
        product(used_, factors_of(means_.distribution(model_[model_[u.variable].statement], means_.at(u))));
    exact_ = exact_ && all;
    if (all) used_ = *all;
  }
  if (!exact_) return {};
  summed_.push_back(u);
  std::vector<Element> next = priors;
  if (!informed) next.push_back(u);
  std::vector<double> out;
  const std::size_t n = means_.states(u.variable);
  for (std::size_t k = 0; k < n && exact_; ++k) {
    means_.values(u)[0] = means_.state(u.variable, k);
    const std::vector<double> x = sum(next, s, at);
    const double weight = informed ? beliefs_[u.variable.index()][u.position * n + k] : 1;
    out.resize(std::max(out.size(), x.size()), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i)
      out[i] += weight * x[i];
  }
  means_.values(u)[0] = std::nan("");
  summed_.pop_back();
  used_ = before;
  return out;
}

}  // namespace lehr
