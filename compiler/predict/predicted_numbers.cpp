// Predicts in closed form, and leaves NaN for what has none; predicted_draws.cpp then estimates these numbers. Elements
// that are d-connected to data have the moments of their factors, all others the average of their distribution given
// their parents.
#include "compiler/predict/predicted_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "compiler/evaluate/packed.h"
#include "compiler/fit/item_independence.h"
#include "compiler/instance/d_connected.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "compiler/predict/expectation.h"
#include "compiler/predict/let_variables.h"
#include "compiler/predict/predicted_draws.h"
#include "compiler/predict/state_paths.h"
#include "compiler/support/printing.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using namespace model;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns true if some entry of the element is missing.
bool is_missing(const BoundArray& a, std::size_t element, std::size_t width) {
  return std::ranges::any_of(std::span(a.values).subspan(element * width, width),
                             [](double x) { return std::isnan(x); });
}

/// Returns the values of a path at the predicted elements.
std::vector<std::int64_t> chosen(const PredictedVariable& p, const std::vector<std::int64_t>& path) {
  std::vector<std::int64_t> out;
  for (const std::size_t e : p.elements)
    if (!path.empty()) out.push_back(path[e]);
  return out;
}

/// Extends the list to the variables of `m`, which has those of the fit first.
std::vector<std::vector<bool>> seen_elements(const Model& m, std::vector<std::vector<bool>> seen) {
  seen.resize(m.variables.size());
  return seen;
}

/// Computes one prediction.
class Predictor {
 public:
  Predictor(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
            const std::vector<std::vector<bool>>& seen, const PredictionOptions& options)
      : to_(to),
        posterior_(posterior),
        seen_(seen_elements(to.model, seen)),
        options_(options),
        values_(to.model, to.data),
        d_connected_(d_connected_elements(to.analysed, values_, seen_)),
        beliefs_(to.model.variables.size()),
        moments_(to.model.variables.size()),
        symbolic_(values_),
        posterior_moments_(to.analysed, posterior, d_connected_, symbolic_),
        expectation_(to.analysed, values_, beliefs_, d_connected_, symbolic_, posterior_moments_) {}

  /// Fills in the prediction, or returns an error.
  std::optional<Error> run() {
    if (std::optional<Error> e = lost_observation()) return e;
    if (std::optional<Error> e = read_moments()) return e;
    choose();
    if (to_.variables.empty())
      return Error{ExitCode::data,
                   option("data"),
                   "there is nothing to predict: no observation is missing, and the items have no latent variables",
                   {"leave out the variable that is to be predicted, or have empty fields where it is"}};
    for (PredictedVariable& p : to_.variables)
      fill_closed_form(p);
    if (std::optional<Error> e = add_drawn_values(to_, posterior_, d_connected_, posterior_moments_, options_))
      return e;
    for (PredictedVariable& p : to_.variables) {
      if (has_two_values(model()[p.variable])) add_binary_spread(p);
      if (is_state(p.variable)) p.path = chosen(p, most_probable_states(model(), to_.data, p.variable, means()));
    }
    return std::nullopt;
  }

 private:
  /// Returns the model that is predicted.
  const Model& model() const { return to_.model; }
  /// Returns the statement that draws a variable.
  const Statement& statement(VariableId v) const { return model()[model()[v].statement]; }
  /// Returns true if the variable is inferred item by item.
  bool is_local(VariableId v) const {
    if (model()[v].observed) return false;
    const conditionals::BlockId b = to_.analysed.schedule.conditionals.block_of[v.index()];
    return b.valid() && to_.analysed.schedule.stage_of[b.index()].has_value();
  }
  /// Returns true if the variable is a latent chain of categories.
  bool is_state(VariableId v) const {
    return !model()[v].observed && model()[v].value_plate && statement(v).lagged.has_value();
  }
  /// Returns true if items outside this part have predicted elements of the variable: it is then listed, without
  /// elements.
  bool is_partial(VariableId id) const {
    const Variable& v = model()[id];
    if (!options_.part || !lies_on_plate(model(), v.axes, *to_.items)) return false;
    const std::vector<std::int64_t> shape = stored_shape(model(), options_.part->whole, v.axes, {});
    return (!v.observed || to_.data.observed[id.index()].has_missing) && std::ranges::count(shape, 0) == 0;
  }
  /// Returns true if the data have no items.
  bool has_no_items() const {
    return std::ranges::all_of(to_.data.observed, [](const BoundArray& a) { return a.values.empty(); });
  }
  /// Returns true if the element is latent and d-connected to data.
  bool is_d_connected(Element e) const {
    return !model()[e.variable].observed && d_connected_[e.variable.index()][e.position];
  }
  /// Returns an error if an observation depends on an element without a factor, which would have to be inferred too.
  std::optional<Error> lost_observation() const;
  /// Returns true if a `let` reads several steps of a chain whose covariances are not available.
  bool lacks_step_covariance(VariableId let);
  /// Reads the means of all latent variables, or returns an error if a factor is absent or has another size.
  std::optional<Error> read_moments();
  /// Lists the variables and elements to predict.
  void choose();
  /// Fills in the closed-form numbers of a variable.
  void fill_closed_form(PredictedVariable& p);
  /// Returns moments and distribution of a d-connected element.
  ElementPrediction of_factor(const PredictedVariable& p, Element e);
  /// Stores the numbers of the i-th predicted element.
  void put(PredictedVariable& p, std::size_t i, const ElementPrediction& from) const;
  /// Derives sd and quantiles of bits and spins from their means.
  void add_binary_spread(PredictedVariable& p) const;
  /// Returns the name of an element for messages, with the labels of its plates: mu['b', 2].
  std::string name_of(VariableId id, std::size_t element) const;
  /// Returns the means of latent variables other than categories, by VariableId.
  std::vector<std::vector<double>> means() const;

  Prediction& to_;  // the prediction that is filled in
  /// The factors by name.
  const std::map<std::string, SavedVariable>& posterior_;
  std::vector<std::vector<bool>> seen_;         // by VariableId: the elements that the fit has; empty: all
  const PredictionOptions& options_;            // the options of the prediction
  ModelEvaluator values_;                       // values of the data; latent variables have NaN
  std::vector<std::vector<bool>> d_connected_;  // by VariableId and element
  std::vector<std::vector<double>> beliefs_;    // probabilities of categories, [element, value]
  std::vector<std::optional<Moments>> moments_;
  Symbolic symbolic_;
  PosteriorMoments posterior_moments_;
  Expectation expectation_;
};

std::string Predictor::name_of(VariableId id, std::size_t element) const {
  const Variable& v = model()[id];
  std::vector<std::string> names;
  for (std::size_t axis = v.axes.size(); axis-- > 0;) {
    const PlateId set = model()[v.axes[axis]].set;
    if (model()[set].parent) return fmt::format("an element of '{}'", v.name);
    const auto size = static_cast<std::size_t>(to_.data.sizes[set.index()]);
    const std::vector<std::string>& labels = to_.data.labels[set.index()];
    const std::size_t here = element % size;
    element /= size;
    names.push_back(labels.empty() ? fmt::format("{}", model()[set].from + static_cast<std::int64_t>(here))
                                   : "'" + printable(labels[here], labels[here].size()) + "'");
  }
  std::ranges::reverse(names);
  return v.name + bracketed(fmt::format("{}", fmt::join(names, ", ")));
}

/// A d-connected element that the fit does not have is such a case.
std::optional<Error> Predictor::lost_observation() const {
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    const Variable& v = model().variables[k];
    std::size_t at = 0;  // the first such element
    while (at < seen_[k].size() && (seen_[k][at] || !d_connected_[k][at]))
      ++at;
    const bool lost = at < seen_[k].size();
    if (lost && v.clamped)
      return Error{
          ExitCode::data,
          option("data"),
          fmt::format("'{0}' is missing, other variables depend on {0}, and the items are not independent", v.name),
          {fmt::format("fit the model to these data: `show` then has '{}' where it is missing", v.name)}};
    if (lost && statement(VariableId(k)).limits.any() && (v.joint || statement(VariableId(k)).lagged))
      return Error{ExitCode::data,
                   option("data"),
                   fmt::format("the fit has not seen an element of '{}', whose limits count as an observation", v.name),
                   {"fit the model again with it"}};
    if (lost)
      return Error{ExitCode::data,
                   option("data"),
                   fmt::format("an observation depends on {}, which the fit has not seen", name_of(VariableId(k), at)),
                   {"a misspelt name in the data makes a new element; leave observations of new ones missing, or fit "
                    "the model again with them"}};
  }
  return std::nullopt;
}

std::optional<Error> Predictor::read_moments() {
  const conditionals::Conditionals& c = to_.analysed.schedule.conditionals;
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const Variable& v = model().variables[k];
    if (v.observed || v.auxiliary) continue;
    const conditionals::Block& block = c[c.block_of[k]];
    const auto own = posterior_.find(v.name);
    const SavedVariable* partner = nullptr;
    if (block.mean) {
      const VariableId id = block.variable == VariableId(k) ? *block.mean : block.variable;
      const auto it = posterior_.find(model()[id].name);
      partner = it == posterior_.end() ? nullptr : &it->second;
    }
    if (own != posterior_.end())
      moments_[k] = moments(conditionals::family_of(to_.analysed.model, c, VariableId(k)), own->second, partner);
    const std::size_t width = v.value_plate ? values_.extent(VariableId(k)) : values_.width(VariableId(k));
    if (!moments_[k] || moments_[k]->mean.size() != width * values_.elements(VariableId(k)))
      return Error{ExitCode::data,
                   kPosteriorFile,
                   fmt::format("it has no factor of '{}' for these data", v.name),
                   {"what the fit knows nothing of cannot be used"}};
    if (v.value_plate) beliefs_[k] = moments_[k]->mean;
  }
  return std::nullopt;
}

void Predictor::choose() {
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    const Variable& v = model().variables[k];
    const VariableId id(k);
    // Predicted are observed and local variables, unseen elements of global ones, and chains of categories.
    const bool grown = !seen_[k].empty() && !is_state(id);
    if (to_.is_let(id) && lacks_step_covariance(id)) continue;
    if (v.auxiliary || !(v.observed || is_local(id) || grown || is_state(id))) continue;
    PredictedVariable p;
    p.variable = id;
    p.probabilities = v.value_plate.has_value();
    p.width = p.probabilities ? values_.extent(id) : values_.width(id);
    for (std::size_t e = 0; e < values_.elements(id); ++e)
      if (grown ? !seen_[k][e] : !has_data(v) || is_missing(to_.data.observed[k], e, values_.width(id)))
        p.elements.push_back(e);
    if (!p.elements.empty() || is_partial(id) || has_no_items()) to_.variables.push_back(std::move(p));
  }
}

bool Predictor::lacks_step_covariance(VariableId let) {
  const Statement& s = statement(let);
  for (const VariableRef* ref : references_under(model(), roots_of(s))) {
    if (model()[ref->variable].observed || !statement(ref->variable).lagged) continue;
    const conditionals::BlockId b = to_.analysed.schedule.conditionals.block_of[ref->variable.index()];
    if (!reads_one_element(model(), s, ref->variable) && !posterior_moments_.steps_of(b)) return true;
  }
  return false;
}

/// Numbers without a closed form stay NaN.
void Predictor::fill_closed_form(PredictedVariable& p) {
  const std::size_t n = p.elements.size() * p.width;
  p.mean.assign(n, kNaN);
  p.error.assign(n, kNaN);
  if (!p.probabilities) {
    p.sd.assign(n, kNaN);
    p.quantiles.fill(std::vector<double>(n, kNaN));
  }
  for (std::size_t i = 0; i < p.elements.size(); ++i) {
    const Element e{p.variable, p.elements[i]};
    ElementPrediction of_element;
    if (is_d_connected(e)) {
      of_element = of_factor(p, e);
    } else {
      of_element = expectation_.of(statement(p.variable), values_.at(e), !p.probabilities);
      if (p.probabilities && !model()[p.variable].observed) expectation_.remember(e);
    }
    put(p, i, of_element);
  }
}

ElementPrediction Predictor::of_factor(const PredictedVariable& p, Element e) {
  const Moments& m = *moments_[p.variable.index()];
  const auto own = [&](const std::vector<double>& all) {
    const std::span<const double> part = std::span(all).subspan(e.position * p.width, p.width);
    return std::vector<double>(part.begin(), part.end());
  };
  ElementPrediction out;
  out.mean = own(m.mean);
  if (p.probabilities) return out;
  if (!m.sd.empty()) out.sd = own(m.sd);
  const ElementMarginal* law = posterior_moments_.find(e);
  const auto has_none = [](const math::ScalarMarginal& margin) {
    return margin.kind == math::ScalarMarginal::Kind::none;
  };
  if (!law || law->margins.size() != p.width || std::ranges::any_of(law->margins, has_none)) return out;
  if (law->fixed) out.sd.assign(p.width, 0.0);
  for (const math::ScalarMarginal& margin : law->margins)
    out.distribution.push_back({{1.0, math::predictive_of(margin)}});
  return out;
}

void Predictor::put(PredictedVariable& p, std::size_t i, const ElementPrediction& from) const {
  const std::size_t at = i * p.width;
  for (std::size_t j = 0; j < from.mean.size(); ++j) {
    p.mean[at + j] = from.mean[j];
    p.error[at + j] = 0;
  }
  for (std::size_t j = 0; j < from.sd.size(); ++j)
    p.sd[at + j] = from.sd[j];
  if (has_two_values(model()[p.variable])) return;
  for (std::size_t j = 0; j < from.distribution.size(); ++j)
    for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q)
      p.quantiles[q][at + j] = math::quantile(from.distribution[j], kPredictedQuantiles[q]);
}

/// Unseen elements have the placeholders of enlarge_factors.cpp.
std::vector<std::vector<double>> Predictor::means() const {
  std::vector<std::vector<double>> out(moments_.size());
  for (std::size_t k = 0; k < moments_.size(); ++k)
    if (moments_[k] && !model().variables[k].value_plate) out[k] = moments_[k]->mean;
  return out;
}

/// The probability of the upper value determines everything. A quantile is the lower value if its probability reaches
/// q.
void Predictor::add_binary_spread(PredictedVariable& p) const {
  const double low = values_.state(p.variable, 0), high = values_.state(p.variable, 1);
  for (std::size_t at = 0; at < p.mean.size(); ++at) {
    const double one = (p.mean[at] - low) / (high - low);
    p.sd[at] = (high - low) * std::sqrt(std::max(one * (1 - one), 0.0));
    for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q)
      p.quantiles[q][at] = 1 - one >= kPredictedQuantiles[q] ? low : high;
  }
}

}  // namespace

std::optional<Error> add_predicted_values(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                          const std::vector<std::vector<bool>>& seen,
                                          const PredictionOptions& options) {
  return Predictor(to, posterior, seen, options).run();
}

}  // namespace lehr
