// Closed forms; what has none is drawn.
#include "compiler/fitting/predicted_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/forward_order.h"
#include "compiler/fitting/expectation.h"
#include "compiler/fitting/informed.h"
#include "compiler/fitting/moments.h"
#include "compiler/fitting/predicted_draws.h"

namespace lehr {
namespace {

using namespace model;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
    for (PredictedVariable& p : to_.variables)
      exact_numbers(p);
    if (std::optional<Error> e = add_drawn_numbers(to_, posterior_, informed_, options_)) return e;
    for (PredictedVariable& p : to_.variables)
      if (has_two_values(model()[p.variable])) add_binary_spread(p);
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
