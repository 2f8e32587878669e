// A recursive interpreter of formulas. An Evaluator lives for one call of a public function and factorises each matrix
// once.
#include "compiler/math/evaluate.h"

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lehr::math {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Indices have ids below this.
constexpr std::size_t kMaxIndices = 8;

/// A matrix with what has been computed from it.
struct Factorised {
  Eigen::LLT<Eigen::MatrixXd> cholesky;  // of the matrix
  /// The inverse, and the inverse Cholesky factor once a formula has read it. Empty if the matrix is not positive
  /// definite.
  Eigen::MatrixXd inverse, root;
  double logdet = kNaN;  // log determinant; NaN if the matrix is not positive definite
};

/// Evaluates formulas in one environment. The call operators evaluate one kind of node each.
class Evaluator {
 public:
  explicit Evaluator(const Environment& environment, bool zero_wins = false)
      : environment_(environment), zero_wins_(zero_wins) {}

  /// Returns the value of a formula with its free event indices set to `first` and `second`.
  double at(const Expr& e, std::size_t first, std::size_t second) {
    indices_[static_cast<std::size_t>(kFirst.id)] = first;
    indices_[static_cast<std::size_t>(kSecond.id)] = second;
    return value(e);
  }

  /// Returns all components of a formula with `rank` free event indices.
  Quantity quantity(const Expr& e, int rank) {
    Quantity result{rank, {}};
    const std::size_t rows = rank >= 1 ? environment_.extent : 1, columns = rank >= 2 ? environment_.extent : 1;
    for (std::size_t j = 0; j < rows; ++j) {
      for (std::size_t l = 0; l < columns; ++l)
        result.values.push_back(at(e, j, l));
    }
    return result;
  }

  double operator()(const Number& n) { return n.value; }

  double operator()(const Symbol& s) {
    const Quantity* q = find(s.name);
    if (!q) return kNaN;
    return s.indices.empty()       ? q->values[0]
           : s.indices.size() == 1 ? component(*q, bound(s.indices[0]))
                                   : entry(*q, bound(s.indices[0]), bound(s.indices[1]));
  }

  double operator()(const AtValue& v) {
    const Quantity *vector = find(v.vector), *x = find(v.value);
    return vector && x ? component(*vector, static_cast<std::size_t>(x->values[0])) : kNaN;
  }

  double operator()(const Add& a) { return value(a.left) + value(a.right); }
  double operator()(const Multiply& m) {
    const double left = value(m.left), right = value(m.right);
    const bool is_zero = zero_wins_ && (left == 0.0 || right == 0.0) && !std::isnan(left) && !std::isnan(right);
    return is_zero ? 0.0 : left * right;
  }
  double operator()(const Apply& a) {
    const auto* symbol = std::get_if<Symbol>(&a.argument->form);
    if (symbol && !environment_.logarithms.empty() && (a.function == Function::log || a.function == Function::log1m)) {
      const auto it = environment_.logarithms.find(symbol->name);
      if (it != environment_.logarithms.end())
        return a.function == Function::log ? it->second.first : it->second.second;
    }
    return value_of(a.function, value(a.argument));
  }

  double operator()(const Sum& s) {
    std::size_t& index = indices_.at(static_cast<std::size_t>(s.index.id));
    double total = s.largest ? -std::numeric_limits<double>::infinity() : 0.0;
    for (std::size_t i = 0; i < environment_.extent; ++i) {
      index = i;
      const double x = value(s.body);
      total = s.largest ? std::max(total, x) : total + x;
    }
    return total;
  }

  double operator()(const Delta& d) { return bound(d.left) == bound(d.right) ? 1.0 : 0.0; }
  double operator()(const ExtentValue&) { return static_cast<double>(environment_.extent); }
  double operator()(const IndexValue& v) { return static_cast<double>(bound(v.index)); }
  double operator()(const LogDet& l) { return factorised(l.matrix).logdet; }
  double operator()(const InverseEntry& e) {
    Factorised& f = factorised(e.matrix);
    if (f.inverse.size() == 0) return kNaN;
    if (e.root && f.root.size() == 0)
      f.root = f.cholesky.matrixL().solve(Eigen::MatrixXd::Identity(f.inverse.rows(), f.inverse.cols()));
    return (e.root ? f.root : f.inverse)(static_cast<Eigen::Index>(bound(e.row)),
                                         static_cast<Eigen::Index>(bound(e.column)));
  }

 private:
  // Returns the value of a formula with all indices as they are set now.
  double value(const Expr& e) { return std::visit(*this, e->form); }
  // Returns what an index variable is set to.
  std::size_t bound(Index i) const { return indices_.at(static_cast<std::size_t>(i.id)); }

  const Quantity* find(const std::string& name) const {
    const auto found = environment_.symbols.find(name);
    return found == environment_.symbols.end() ? nullptr : &found->second;
  }

  /// Returns component j of a vector. A scalar stands for a constant vector.
  static double component(const Quantity& q, std::size_t j) { return q.rank == 0 ? q.values[0] : q.values.at(j); }

  /// Returns entry (j, l) of a matrix. A scalar stands for a multiple of the identity.
  double entry(const Quantity& q, std::size_t j, std::size_t l) const {
    if (q.rank == 0) return j == l ? q.values[0] : 0.0;
    return q.values.at(j * environment_.extent + l);
  }

  /// Returns the factorisation of the matrix with this name, from the cache if it was computed before.
  Factorised& factorised(const std::string& matrix) {
    const auto cached = factorised_.find(matrix);
    if (cached != factorised_.end()) return cached->second;
    Factorised& result = factorised_[matrix];
    const Quantity* q = find(matrix);
    if (!q) return result;
    const auto n = static_cast<Eigen::Index>(environment_.extent);
    Eigen::MatrixXd m(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index l = 0; l < n; ++l)
        m(j, l) = entry(*q, static_cast<std::size_t>(j), static_cast<std::size_t>(l));
    }
    result.cholesky.compute(m);
    if (result.cholesky.info() != Eigen::Success) return result;
    result.inverse = result.cholesky.solve(Eigen::MatrixXd::Identity(n, n));
    result.logdet = 2.0 * result.cholesky.matrixLLT().diagonal().array().log().sum();
    return result;
  }

  const Environment& environment_;                  // values of all symbols
  bool zero_wins_;                                  // 0 times infinity is 0
  std::array<std::size_t, kMaxIndices> indices_{};  // current value of each index variable, by id
  std::map<std::string, Factorised> factorised_;    // by name of the matrix
};

/// Returns the softmax of the natural parameters, shifted by the largest so that nothing overflows.
std::vector<double> softmax(const std::vector<double>& naturals) {
  const double high = *std::max_element(naturals.begin(), naturals.end());
  std::vector<double> result;
  double total = 0.0;
  for (double n : naturals)
    total += result.emplace_back(std::exp(n - high));
  for (double& r : result)
    r /= total;
  return result;
}

/// Returns the log of the sum over x = 0, 1, 2, ... of exp(f(x)), for concave f that falls off. It finds the mode by
/// bisection and adds terms on both sides of it until they are negligible.
template <class F>
double log_sum_over_counts(const F& f) {
  const auto falls = [&](double x) { return !(f(x + 1.0) > f(x)); };
  double high = 1.0;
  while (!falls(high))
    high *= 2.0;
  double low = -1.0;  // the mode is the first x that falls
  while (high - low > 1.0) {
    const double middle = std::floor(0.5 * (low + high));
    (falls(middle) ? high : low) = middle;
  }
  const double top = f(high);
  double total = 1.0;
  for (const double step : {1.0, -1.0}) {
    for (double x = high + step; x >= 0.0; x += step) {
      const double term = std::exp(f(x) - top);
      total += term;
      if (!(term > 1e-18 * total)) break;
    }
  }
  return top + std::log(total);
}

using Quantities = std::map<std::string, Quantity>;

/// Returns the formula for all components of a symbol: x, x[j] or x[j,l].
Expr component_symbol(const std::string& name, int rank) {
  return rank == 0 ? symbol(name) : rank == 1 ? symbol(name, kFirst) : symbol(name, kFirst, kSecond);
}

/// Returns the parameter with this name. A scalar is repeated where a vector or matrix is needed.
Quantity at_rank(const std::string& name, int rank, const Environment& environment) {
  const auto it = environment.symbols.find(name);
  if (it != environment.symbols.end() && it->second.rank == rank) return it->second;
  return evaluate_all(component_symbol(name, rank), environment, rank);
}

/// Returns the log of the sum over counts or bits x of p(x)^(1/temperature).
double tempered_count_sum(const FamilyRow& row, Environment environment, double temperature) {
  const auto log_term = [&](double x) {
    environment.symbols["x"] = {0, {x}};
    return log_density(row, environment) / temperature;
  };
  if (row.support == Support::count) return log_sum_over_counts(log_term);
  const double zero = log_term(0.0), one = log_term(1.0), top = std::max(zero, one);
  return top + std::log(std::exp(zero - top) + std::exp(one - top));
}

}  // namespace

double evaluate(const Expr& e, const Environment& environment, std::size_t first, std::size_t second) {
  return Evaluator(environment).at(e, first, second);
}

Quantity evaluate_all(const Expr& e, const Environment& environment, int rank) {
  return Evaluator(environment).quantity(e, rank);
}

double log_density(const FamilyRow& row, const Environment& environment) {
  return Evaluator(environment, true).at(row.log_density, 0, 0);
}

const AtValue* categorical_lookup(const FamilyRow& row) {
  const auto* log = std::get_if<Apply>(&row.log_density->form);
  return log && log->function == Function::log ? std::get_if<AtValue>(&log->argument->form) : nullptr;
}

bool is_proper(const Factor& factor, const Environment& parameters) {
  Evaluator evaluator(parameters);
  for (const Expr& condition : factor.valid) {
    for (double v : evaluator.quantity(condition, free_event_rank(condition)).values) {
      if (!(v > 0.0)) return false;
    }
  }
  for (const FactorParameter& p : factor.parameters) {
    if (p.event_rank == 2 && p.exported && !std::isfinite(evaluator.at(logdet(p.name), 0, 0))) return false;
  }
  return true;
}

Quantities canonical_parameters(const FamilyRow& row, const Environment& spelled) {
  Quantities result;
  for (const Spelling& s : row.spellings) {
    if (!spelled.symbols.contains(s.name)) continue;
    // A parameter may have been typed as any of its spellings.
    result[s.canonical] =
        s.convert ? evaluate_all(*s.convert, spelled, s.event_rank) : at_rank(s.name, s.event_rank, spelled);
  }
  return result;
}

std::vector<double> flatten_parameters(const FamilyRow& row, const Environment& parameters) {
  std::vector<double> flat;
  for (const DensityParameter& p : density_parameters(row)) {
    const Quantity q = at_rank(p.name, p.event_rank, parameters);
    flat.insert(flat.end(), q.values.begin(), q.values.end());
  }
  return flat;
}

Quantities parameters_from_density(const Factor& factor, const Environment& density) {
  Quantities result;
  for (const FactorParameter& p : factor.parameters) {
    if (!p.exported) continue;
    result[p.name] =
        evaluate_all(p.from_density ? *p.from_density : component_symbol(p.name, p.event_rank), density, p.event_rank);
  }
  return result;
}

Quantities parameters_from_natural(const Factor& factor, const Environment& natural) {
  Environment extended = natural;
  Quantities result;
  for (const FactorParameter& p : factor.parameters) {
    Quantity q = factor.softmax ? Quantity{1, softmax(natural.symbols.begin()->second.values)}
                                : evaluate_all(p.from_natural, extended, p.event_rank);
    extended.symbols[p.name] = q;
    if (p.exported) result[p.name] = std::move(q);
  }
  return result;
}

Quantities natural_from_parameters(const Factor& factor, const Environment& parameters) {
  Quantities result;
  Evaluator evaluator(parameters);
  for (const StatisticRow& s : factor.statistics)
    result[natural_name(s.stat)] = evaluator.quantity(s.natural, free_event_rank(s.natural));
  return result;
}

double log_normaliser(const Factor& factor, const Environment& natural) {
  if (factor.softmax) {
    const auto& n = natural.symbols.begin()->second.values;
    const double high = *std::max_element(n.begin(), n.end());
    double total = 0.0;
    for (double v : n)
      total += std::exp(v - high);
    return high + std::log(total);
  }
  const Environment parameters{natural.extent, parameters_from_natural(factor, natural)};
  return is_proper(factor, parameters) ? evaluate(factor.log_normaliser, parameters)
                                       : std::numeric_limits<double>::infinity();
}

double tempered_log_normaliser(const FamilyRow& row, const Environment& parameters, double temperature) {
  if (row.improper) return kNaN;
  // Of probabilities that round to 0 or 1, only the logarithms are precise.
  constexpr double kRounds = -20;
  const bool rounds = std::ranges::any_of(
      parameters.logarithms, [](const auto& p) { return std::min(p.second.first, p.second.second) < kRounds; });
  if (rounds && (row.support == Support::bit || row.support == Support::count))
    return tempered_count_sum(row, parameters, temperature);
  if (row.tempered) return row.tempered(flatten_parameters(row, parameters), parameters.extent, temperature);
  // A density of other values without a factor needs a formula of its own (FamilyRow::tempered).
  if (!row.factor) return row.support == Support::count ? tempered_count_sum(row, parameters, temperature) : kNaN;

  // Factors have base measure 1: the integral of exp((eta.t - A(eta)) / T) is exp(A(eta / T) - A(eta) / T).
  const Factor& factor = *row.factor;
  const Environment ordinary{parameters.extent, parameters_from_density(factor, parameters)};
  Environment natural{parameters.extent, natural_from_parameters(factor, ordinary)};
  const double cold = log_normaliser(factor, natural);
  for (auto& [name, quantity] : natural.symbols) {
    for (double& v : quantity.values)
      v /= temperature;
  }
  return log_normaliser(factor, natural) - cold / temperature;
}

}  // namespace lehr::math
