// Closed forms first; then draws for what has none.
#include "compiler/fitting/predicted_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/footprint.h"
#include "compiler/evaluate/forward_order.h"
#include "compiler/evaluate/packed.h"
#include "compiler/fitting/expectation.h"
#include "compiler/fitting/factor_values.h"
#include "compiler/fitting/informed.h"
#include "compiler/fitting/moments.h"
#include "compiler/model/walk.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

using namespace model;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool is_binary(const Variable& v) { return v.support == math::Support::bit || v.support == math::Support::spin; }

class Predictor {
 public:
  Predictor(Prediction& to, const std::map<std::string, SavedVariable>& posterior, const PredictionOptions& options)
      : to_(to),
        posterior_(posterior),
        options_(options),
        means_(to.analysed.model, to.data),
        informed_(informed_elements(to.analysed, means_)),
        beliefs_(to.analysed.model.variables.size()),
        moments_(to.analysed.model.variables.size()),
        expectation_(to.analysed, means_, beliefs_, informed_) {}

  std::optional<Error> run() {
    if (std::optional<Error> e = read_moments()) return e;
    place_means();
    choose();
    if (to_.variables.empty())
      return Error{ExitCode::data,
                   option("data"),
                   "there is nothing to predict: no observation is missing, and the items have no latent variables",
                   {"leave out the variable that is to be predicted, or have empty fields where it is"}};
    std::vector<double> draws_of;
    for (PredictedVariable& p : to_.variables)
      exact_numbers(p);
    if (std::optional<Error> e = draw_others()) return e;
    for (PredictedVariable& p : to_.variables)
      if (is_binary(model()[p.variable])) add_binary_spread(p);
    return std::nullopt;
  }

 private:
  const Model& model() const { return to_.analysed.model; }
  const Statement& statement(VariableId v) const { return model()[model()[v].statement]; }
  bool is_local(VariableId v) const {
    const conditionals::BlockId b = to_.analysed.schedule.conditionals.block_of[v.index()];
    return b.valid() && to_.analysed.schedule.stage_of[b.index()].has_value();
  }
  bool is_informed(Element e) const {
    return !model()[e.variable].observed && informed_[e.variable.index()][e.position];
  }
  /// Every informed element has a mean: of its factor.
  std::optional<Error> read_moments();
  void place_means();
  void choose();
  void exact_numbers(PredictedVariable& p);
  std::optional<Error> draw_others();
  std::optional<Error> draw(const std::vector<PredictedVariable*>& inexact);
  void reset(Forward& f, const std::vector<bool>& drawn, const std::vector<bool>& wanted) const;
  void add_binary_spread(PredictedVariable& p) const;

  Prediction& to_;
  const std::map<std::string, SavedVariable>& posterior_;
  const PredictionOptions& options_;
  Forward means_;
  std::vector<std::vector<bool>> informed_;
  std::vector<std::vector<double>> beliefs_;  // of categories, [element, value]
  std::vector<std::optional<Moments>> moments_;
  Expectation expectation_;
};

std::optional<Error> Predictor::read_moments() {
  const conditionals::Conditionals& c = to_.analysed.schedule.conditionals;
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const Variable& v = model().variables[k];
    if (v.observed || v.auxiliary) continue;
    const conditionals::Block& block = c[c.block_of[k]];
    const auto own = posterior_.find(v.name);
    const SavedVariable* other = nullptr;
    if (block.mean) {
      const VariableId id = block.variable == VariableId(k) ? *block.mean : block.variable;
      const auto it = posterior_.find(model()[id].name);
      other = it == posterior_.end() ? nullptr : &it->second;
    }
    if (own != posterior_.end()) moments_[k] = moments(*block.family, own->second, other);
    const std::size_t width = v.value_plate ? means_.extent(VariableId(k)) : means_.width(VariableId(k));
    if (!moments_[k] || moments_[k]->mean.size() != width * means_.elements(VariableId(k)))
      return Error{ExitCode::data,
                   "posterior.npz",
                   fmt::format("it has no factor of '{}' for these data", v.name),
                   {"what the fit knows nothing of cannot be used"}};
  }
  return std::nullopt;
}

void Predictor::place_means() {
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const Variable& v = model().variables[k];
    if (!moments_[k]) continue;
    const std::vector<double>& mean = moments_[k]->mean;
    if (v.value_plate) {
      beliefs_[k] = mean;
      continue;
    }
    const std::size_t width = means_.width(VariableId(k));
    const std::span<double> to = means_.values(VariableId(k));
    for (std::size_t i = 0; i < mean.size(); ++i)
      if (informed_[k][i / width]) to[i] = mean[i];
  }
  // The others follow their parents.
  for (const ForwardGroup& group : forward_order(model())) {
    for (const StatementId id : group.statements) {
      const Statement& s = model()[id];
      const Variable& v = model()[s.variable];
      if (v.observed || v.value_plate || !is_local(s.variable)) continue;
      for (std::size_t e = 0; e < informed_[s.variable.index()].size(); ++e) {
        const Element element{s.variable, e};
        if (is_informed(element)) continue;
        if (const auto mean = expectation_.mean(s, means_.at(element)))
          std::ranges::copy(*mean, means_.values(element).begin());
      }
    }
  }
}

void Predictor::choose() {
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const Variable& v = model().variables[k];
    const VariableId id(k);
    if (v.auxiliary || !(v.observed || is_local(id))) continue;
    PredictedVariable p;
    p.variable = id;
    p.probabilities = v.value_plate.has_value();
    p.width = p.probabilities ? means_.extent(id) : means_.width(id);
    for (std::size_t e = 0; e < means_.elements(id); ++e)
      if (!v.observed || std::isnan(to_.data.observed[k].values[e * means_.width(id)])) p.elements.push_back(e);
    if (!p.elements.empty()) to_.variables.push_back(std::move(p));
  }
}

/// What has no closed form stays NaN.
void Predictor::exact_numbers(PredictedVariable& p) {
  const std::size_t n = p.elements.size() * p.width;
  p.mean.assign(n, kNaN);
  p.error.assign(n, kNaN);
  if (!p.probabilities) {
    p.sd.assign(n, kNaN);
    p.quantiles.fill(std::vector<double>(n, kNaN));
  }
  const auto put = [](std::vector<double>& to, std::size_t at, const auto& from) {
    std::ranges::copy(from, to.begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (std::size_t i = 0; i < p.elements.size(); ++i) {
    const Element e{p.variable, p.elements[i]};
    const std::size_t at = i * p.width;
    if (is_informed(e)) {
      const Moments& m = *moments_[p.variable.index()];
      put(p.mean, at, std::span(m.mean).subspan(e.position * p.width, p.width));
      if (!p.probabilities && !m.sd.empty()) put(p.sd, at, std::span(m.sd).subspan(e.position * p.width, p.width));
    } else if (const auto mean = expectation_.mean(statement(p.variable), means_.at(e))) {
      put(p.mean, at, *mean);
    } else {
      continue;
    }
    put(p.error, at, std::vector<double>(p.width, 0.0));
  }
}

/// Spread of numbers, and means that are not known.
std::optional<Error> Predictor::draw_others() {
  std::vector<PredictedVariable*> inexact;
  for (PredictedVariable& p : to_.variables) {
    const bool known = std::ranges::none_of(p.mean, [](double x) { return std::isnan(x); });
    if (!known || !(p.probabilities || is_binary(model()[p.variable]))) inexact.push_back(&p);
  }
  return inexact.empty() ? std::nullopt : draw(inexact);
}

/// Sums over draws of one number.
struct Tally {
  double sum = 0, squares = 0;

  void add(double x) {
    sum += x;
    squares += x * x;
  }
  double mean(double n) const { return sum / n; }
  double sd(double n) const { return n > 1 ? std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1))) : 0; }
};

/// What is neither drawn nor read by anything that is has some value or other.
void Predictor::reset(Forward& f, const std::vector<bool>& drawn, const std::vector<bool>& wanted) const {
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const Variable& v = model().variables[k];
    const std::span<double> to = f.values(VariableId(k));
    if (v.auxiliary) continue;
    if (!v.observed) std::ranges::fill(to, wanted[k] ? kNaN : 0.0);
    else std::ranges::copy(to_.data.observed[k].values, to.begin());
    if (!v.observed || drawn[k]) continue;
    for (double& x : to)
      if (std::isnan(x)) x = 0;
  }
}

std::optional<Error> Predictor::draw(const std::vector<PredictedVariable*>& inexact) {
  const Model& m = model();
  std::vector<bool> drawn(m.variables.size(), false), wanted(m.variables.size(), false);
  std::vector<VariableId> todo;
  double numbers = 0;
  for (const PredictedVariable* p : inexact) {
    drawn[p->variable.index()] = true;
    todo.push_back(p->variable);
    numbers += static_cast<double>(p->mean.size());
  }
  if (std::optional<Error> e = too_large({{"draws", numbers * static_cast<double>(options_.draws)}})) return e;
  while (!todo.empty()) {
    const VariableId v = todo.back();
    todo.pop_back();
    if (wanted[v.index()]) continue;
    wanted[v.index()] = true;
    const bool all_informed = std::ranges::find(informed_[v.index()], false) == informed_[v.index()].end();
    if (!m[v].observed && all_informed) continue;
    for (const ExprId id : nodes_under(m, roots_of(statement(v)))) {
      const auto* ref = std::get_if<VariableRef>(&m[id].node);
      if (ref && !m[ref->variable].observed) todo.push_back(ref->variable);
    }
  }
  const Result<FactorValues> factors = FactorValues::make(to_.analysed, posterior_, wanted);
  if (!factors) return factors.error();
  Forward f(m, to_.data);
  Rng rng(options_.seed);
  const auto n = static_cast<std::size_t>(options_.draws);
  std::vector<std::vector<Tally>> values(inexact.size()), means(inexact.size());
  std::vector<std::vector<double>> all(inexact.size());  // [number, draw]
  for (std::size_t k = 0; k < inexact.size(); ++k) {
    values[k].resize(inexact[k]->mean.size());
    means[k].resize(inexact[k]->mean.size());
    if (!inexact[k]->probabilities) all[k].resize(inexact[k]->mean.size() * n);
  }
  for (std::size_t d = 0; d < n; ++d) {
    reset(f, drawn, wanted);
    factors->draw(informed_, f, rng);
    if (std::optional<Error> e = draw_values(f, rng)) return e;
    for (std::size_t k = 0; k < inexact.size(); ++k) {
      const PredictedVariable& p = *inexact[k];
      for (std::size_t i = 0; i < p.elements.size(); ++i) {
        const Element e{p.variable, p.elements[i]};
        const std::span<const double> x = std::as_const(f).values(e);
        std::vector<double> mean;
        if (std::isnan(p.mean[i * p.width])) mean = conditional_mean(f, statement(p.variable), f.at(e));
        for (std::size_t j = 0; j < p.width; ++j) {
          const std::size_t at = i * p.width + j;
          if (!p.probabilities) values[k][at].add(all[k][at * n + d] = x[j]);
          means[k][at].add(!mean.empty() ? mean[j] : p.probabilities ? 0.0 : x[j]);
        }
      }
    }
  }
  const double count = static_cast<double>(n);
  for (std::size_t k = 0; k < inexact.size(); ++k) {
    PredictedVariable& p = *inexact[k];
    const bool whole = has_integers(m[p.variable].support);
    for (std::size_t at = 0; at < p.mean.size(); ++at) {
      if (std::isnan(p.mean[at])) {
        p.mean[at] = means[k][at].mean(count);
        p.error[at] = means[k][at].sd(count) / std::sqrt(count);
      }
      if (p.probabilities) continue;
      if (std::isnan(p.sd[at])) p.sd[at] = values[k][at].sd(count);
      const std::span<double> x = std::span(all[k]).subspan(at * n, n);
      std::ranges::sort(x);
      for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q) {
        const double position = kPredictedQuantiles[q] * (count - 1);
        const auto below = static_cast<std::size_t>(position);
        const double rest = position - static_cast<double>(below);
        const double above = x[std::min(below + 1, n - 1)];
        p.quantiles[q][at] =
            whole ? x[static_cast<std::size_t>(kPredictedQuantiles[q] * count)] : x[below] + rest * (above - x[below]);
      }
    }
  }
  to_.draws = options_.draws;
  return std::nullopt;
}

/// Of two values the probability says everything.
void Predictor::add_binary_spread(PredictedVariable& p) const {
  const double low = means_.state(p.variable, 0), high = means_.state(p.variable, 1);
  for (std::size_t at = 0; at < p.mean.size(); ++at) {
    const double one = (p.mean[at] - low) / (high - low);
    p.sd[at] = (high - low) * std::sqrt(std::max(0.0, one * (1 - one)));
    for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q)
      p.quantiles[q][at] = 1 - one >= kPredictedQuantiles[q] ? low : high;
  }
}

}  // namespace

std::optional<Error> add_predicted_numbers(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                           const PredictionOptions& options) {
  return Predictor(to, posterior, options).run();
}

}  // namespace lehr
