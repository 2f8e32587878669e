// Tables as a type of numbers (Arithmetic), and densities by columns of parameters (math::log_densities()).
#include "compiler/evaluate/joint_table.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/arithmetic.h"
#include "compiler/evaluate/log_entry.h"
#include "compiler/math/columns.h"
#include "compiler/model/roles.h"
#include "compiler/support/overloaded.h"

namespace lehr {

using namespace model;

/// Returns true for a table that is too large, which has no values.
static bool is_undefined(const JointTable& t) { return t.values.empty(); }

namespace {

/// The most entries of a table.
constexpr std::size_t kMostJointEntries = 1 << 16;

/// Returns a number that depends on no element.
JointTable constant_table(double x) { return {{}, {}, {x}}; }
/// Positions in a table while the values of a larger scope are counted: how far each of its elements moves.
std::vector<std::size_t> strides_in(const JointTable& t, const std::vector<Element>& scope) {
  std::vector<std::size_t> out(scope.size(), 0);
  std::size_t stride = 1;
  for (std::size_t k = t.scope.size(); k-- > 0; stride *= t.states[k])
    out[static_cast<std::size_t>(std::ranges::lower_bound(scope, t.scope[k]) - scope.begin())] = stride;
  return out;
}

/// Returns the table over the elements of both, without values; too large: without elements too.
JointTable joined(const JointTable& a, const JointTable& b) {
  JointTable out;
  std::size_t entries = 1;
  for (std::size_t i = 0, j = 0; i < a.scope.size() || j < b.scope.size();) {
    const bool left = j == b.scope.size() || (i < a.scope.size() && a.scope[i] <= b.scope[j]);
    if (left && j < b.scope.size() && a.scope[i] == b.scope[j]) ++j;
    out.scope.push_back(left ? a.scope[i] : b.scope[j]);
    out.states.push_back(left ? a.states[i] : b.states[j]);
    ++(left ? i : j);
    entries *= out.states.back();
    if (entries > kMostJointEntries) return {};
  }
  out.values.resize(entries);
  return out;
}

/// Returns op(a, b), entry by entry.
template <class Op>
JointTable combine(const JointTable& a, const JointTable& b, const Op& op) {
  if (is_undefined(a) || is_undefined(b)) return {};
  JointTable out = joined(a, b);
  if (is_undefined(out)) return out;
  if (out.scope.empty()) {
    out.values[0] = op(a.values[0], b.values[0]);
    return out;
  }
  const std::vector<std::size_t> of_a = strides_in(a, out.scope), of_b = strides_in(b, out.scope);
  std::vector<std::size_t> digits(out.scope.size(), 0);
  const std::size_t last = digits.size() - 1, n = out.states[last];
  std::size_t i = 0, j = 0;
  for (std::size_t to = 0; to < out.values.size(); to += n) {
    for (std::size_t k = 0; k < n; ++k)
      out.values[to + k] = op(a.values[i + k * of_a[last]], b.values[j + k * of_b[last]]);
    for (std::size_t k = last; k-- > 0;) {
      i += of_a[k];
      j += of_b[k];
      if (++digits[k] < out.states[k]) break;
      i -= of_a[k] * out.states[k];
      j -= of_b[k] * out.states[k];
      digits[k] = 0;
    }
  }
  return out;
}

/// Returns op(a), entry by entry.
template <class Op>
JointTable mapped(JointTable a, const Op& op) {
  for (double& x : a.values)
    x = op(x);
  return a;
}

/// Returns the values of a table at all joint values of a larger scope.
std::vector<double> spread(const JointTable& t, const JointTable& over) {
  if (t.scope.empty() || t.scope == over.scope) return t.values;
  return combine(over, t, [](double, double x) { return x; }).values;
}

}  // namespace

static JointTable operator-(JointTable a) {
  return mapped(std::move(a), [](double x) { return -x; });
}
static JointTable operator*(const JointTable& a, const JointTable& b) { return combine(a, b, std::multiplies<>()); }
static JointTable& operator+=(JointTable& a, const JointTable& b) { return a = combine(a, b, std::plus<>()); }

JointTable JointTabulator::enumerated(ExprId id, const IndexValues& at, std::size_t i, std::size_t j) {
  JointTable out = constant_table(0);
  std::vector<Element> found;
  // A trial evaluation that misses an element adds it.
  for (bool complete = false; !complete && !failed_;) {
    complete = true;
    std::vector<std::size_t> digits(out.scope.size(), 0);
    for (std::size_t to = 0; to < out.values.size() && complete; ++to) {
      for (std::size_t k = 0; k < digits.size(); ++k)
        forward_.values(out.scope[k])[0] = forward_.state(out.scope[k].variable, digits[k]);
      forward_.clear();
      out.values[to] = forward_.entry(id, at, i, j);
      complete = !forward_.unknown();
      for (std::size_t k = digits.size(); k-- > 0 && ++digits[k] == out.states[k];)
        digits[k] = 0;
    }
    for (const Element& e : out.scope)
      forward_.values(e)[0] = std::nan("");
    if (complete) break;
    const Element e = *forward_.unknown();
    JointTable one{{e}, {forward_.states(e.variable)}, {}};
    one.values.resize(one.states[0]);
    out = joined(out, one);
    failed_ = !is_summed_(e) || is_undefined(out);
  }
  forward_.clear();
  return failed_ ? constant_table(0) : out;
}

JointTable JointTabulator::entry(ExprId id, const IndexValues& at, std::size_t i, std::size_t j) {
  if (failed_) return constant_table(0);
  const auto of = [this](ExprId e, const IndexValues& x, std::size_t k, std::size_t l) { return entry(e, x, k, l); };
  const auto leaf = [&](const auto&) { return enumerated(id, at, i, j); };
  const Arithmetic arithmetic{forward_, at, i, j, constant_table(0), of};
  return std::visit(
      [&](const auto& node) {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, Binary>) {
          return combine(entry(node.left, at, i, j), entry(node.right, at, i, j),
                         [&](double x, double y) { return value_of(node.op, x, y); });
        } else if constexpr (std::is_same_v<T, Apply>) {
          return mapped(entry(node.argument, at, i, j), [&](double x) { return value_of(node.function, x); });
        } else if constexpr (std::is_invocable_v<decltype(arithmetic), const T&>) {
          return arithmetic(node);
        } else {
          return leaf(node);
        }
      },
      forward_.model()[id].node);
}

std::optional<JointTable> JointTabulator::log_density(const Statement& s, const IndexValues& at) {
  const Element self = forward_.element(s, at);
  const std::span<const double> x = forward_.values(self);
  if (s.part || s.limits.any() || x.size() != 1 || std::isnan(x[0])) return std::nullopt;
  const Distribution& d = forward_.distribution(s, at);
  failed_ = false;
  JointTable all = constant_table(0);
  std::vector<std::pair<const std::string*, JointTable>> parameters;
  const math::AtValue* look_up = math::categorical_lookup(*d.family);
  for (const Parameter& p : d.parameters) {
    const bool entries = look_up && p.spelling->name == look_up->vector;
    if (!entries && (look_up || !forward_.model()[p.value].shape.empty())) return std::nullopt;
    if (forward_.logarithms(p.value, at)) return std::nullopt;  // accurate logarithms of probabilities near 0 and 1
    JointTable t = entry(p.value, at, entries ? static_cast<std::size_t>(x[0]) : 0, 0);
    if (failed_ || is_undefined(t)) return std::nullopt;
    // The evaluator takes the logarithm of what underflows in another way.
    const math::Support domain = p.spelling->domain;
    const bool positive = domain == math::Support::unit || domain == math::Support::positive;
    if ((entries || positive) && std::ranges::any_of(t.values, underflows)) return std::nullopt;
    if (entries) return mapped(std::move(t), [](double y) { return std::log(y); });
    all = joined(all, t);
    if (is_undefined(all)) return std::nullopt;
    parameters.emplace_back(&p.spelling->name, std::move(t));
  }
  math::Columns columns;
  for (const auto& [name, t] : parameters)
    columns[*name] = spread(t, all);
  std::optional<std::vector<double>> logs = math::log_densities(*d.family, columns, x[0], all.values.size());
  if (!logs) return std::nullopt;
  all.values = std::move(*logs);
  return all;
}

}  // namespace lehr
