// Estimates by simulation: each draw takes all factors, then everything that follows from them, parents first. A mean
// is estimated from conditional means where these have a closed form, since they vary less than draws (Rao-Blackwell).
#include "compiler/predict/predicted_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/evaluate/draw_values.h"
#include "compiler/evaluate/footprint.h"
#include "compiler/evaluate/limits.h"
#include "compiler/evaluate/packed.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/factor_sampler.h"
#include "compiler/predict/expectation.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

using namespace model;

/// Running mean and variance. Welford (1962), Note on a method for calculating corrected sums of squares and products.
struct Tally {
  double n = 0, mean = 0, squares = 0;

  void add(double x) {
    ++n;
    if (std::isinf(x) || std::isinf(mean)) {
      mean += x;
      squares = INFINITY;
      return;
    }
    const double off = x - mean;
    mean += off / n;
    squares += off * (x - mean);
  }
  /// Returns the standard deviation of what was added; 0 for fewer than two numbers.
  double sd() const { return n > 1 ? std::sqrt(squares / (n - 1)) : 0; }
};

/// The draws of one variable.
struct Drawn {
  PredictedVariable& of;             // the variable, which gets the results
  std::vector<Tally> values, means;  // by number: of its draws, and of its conditional means
  std::vector<double> all;           // all draws, as [number, draw]; empty for probabilities
};

/// Returns true if a variable has all numbers that are wanted; with `only_means` these are its means.
bool is_complete(const PredictedVariable& p, bool only_means) {
  const auto has_no_nan = [](const std::vector<double>& x) {
    return std::ranges::none_of(x, [](double number) { return std::isnan(number); });
  };
  return has_no_nan(p.mean) && (only_means || (has_no_nan(p.sd) && std::ranges::all_of(p.quantiles, has_no_nan)));
}

/// Returns by VariableId the latent variables that must be drawn: those of `drawn`, and all that these depend on.
std::vector<bool> required_by(const Model& m, const std::vector<Drawn>& drawn,
                              const std::vector<std::vector<bool>>& d_connected) {
  std::vector<bool> out(m.variables.size(), false);
  std::vector<VariableId> todo;
  for (const Drawn& d : drawn)
    todo.push_back(d.of.variable);
  while (!todo.empty()) {
    const VariableId v = todo.back();
    todo.pop_back();
    if (out[v.index()]) continue;
    out[v.index()] = true;
    const std::vector<bool>& elements = d_connected[v.index()];
    if (!m[v].observed && std::ranges::find(elements, false) == elements.end()) continue;
    for (const VariableRef* ref : references_under(m, roots_of(m[m[v].statement]))) {
      if (!m[ref->variable].observed) todo.push_back(ref->variable);
    }
  }
  return out;
}

/// Clears the values before a draw: wanted variables get NaN, so that they are drawn. Others get 0, since nothing reads
/// them.
void reset(ModelEvaluator& f, const std::vector<bool>& wanted) {
  const Model& m = f.model();
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (m.variables[k].auxiliary) continue;
    const std::span<double> to = f.values(VariableId(k));
    if (m.variables[k].observed) std::ranges::copy(f.data().observed[k].values, to.begin());
    else std::ranges::fill(to, std::nan(""));
    if (wanted[k]) continue;
    for (double& x : to)
      if (std::isnan(x)) x = 0;
  }
}

/// Records a draw of one variable. `fixed` is set for a `let`, whose value is its conditional mean.
void append_draw(const ModelEvaluator& f, std::size_t draw, std::size_t draws, bool fixed, Drawn& to) {
  const PredictedVariable& p = to.of;
  const Statement& s = f.model()[f.model()[p.variable].statement];
  const bool limited = s.limits.any() || is_within_limits(f.model(), p.variable);
  for (std::size_t i = 0; i < p.elements.size(); ++i) {
    const Element e{p.variable, p.elements[i]};
    std::span<const double> x = f.values(e);
    std::vector<double> mean;
    if (fixed || (std::isnan(p.mean[i * p.width]) && !limited)) mean = conditional_mean(f, s, f.at(e));
    if (fixed) x = mean;
    for (std::size_t j = 0; j < p.width; ++j) {
      const std::size_t at = i * p.width + j;
      if (!p.probabilities) to.values[at].add(to.all[at * draws + draw] = x[j]);
      if (!mean.empty()) to.means[at].add(mean[j]);
      else to.means[at].add(p.probabilities ? static_cast<double>(x[0] == static_cast<double>(j)) : x[j]);
    }
  }
}

/// Returns a quantile of sorted draws. Real numbers are interpolated between neighbours. Whole numbers (`whole`) are
/// not: the result is the least draw x such that a share q of the draws or more is at most x.
double quantile(std::span<const double> x, double q, bool whole) {
  const auto last = x.size() - 1;
  if (whole) return x[static_cast<std::size_t>(std::max(std::ceil(q * static_cast<double>(x.size())), 1.0)) - 1];
  const double position = q * static_cast<double>(last);
  const auto below = static_cast<std::size_t>(position);
  if (std::isinf(x[std::min(below + 1, last)])) return x[static_cast<std::size_t>(std::round(position))];
  return x[below] + (position - static_cast<double>(below)) * (x[std::min(below + 1, last)] - x[below]);
}

/// Fills in the numbers of a prediction that are NaN.
void fill_missing(Drawn& from, bool whole, std::size_t draws) {
  PredictedVariable& p = from.of;
  for (std::size_t at = 0; at < p.mean.size(); ++at) {
    if (std::isnan(p.mean[at])) {
      p.mean[at] = from.means[at].mean;
      p.error[at] = from.means[at].sd() / std::sqrt(static_cast<double>(draws));
    }
    if (p.probabilities) continue;
    if (std::isnan(p.sd[at])) p.sd[at] = from.values[at].sd();
    const std::span<double> x = std::span(from.all).subspan(at * draws, draws);
    std::ranges::sort(x);
    for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q)
      if (std::isnan(p.quantiles[q][at])) p.quantiles[q][at] = quantile(x, kPredictedQuantiles[q], whole);
  }
}

/// Random numbers for each variable and item, or for each variable outside the items. They do not depend on which other
/// variables and items are predicted, so parts of the items give the same numbers as all.
class ItemStreams {
 public:
  ItemStreams(const Prediction& of, const ModelEvaluator& forward, std::uint64_t seed)
      : of_(of), forward_(forward), seed_(seed), variables_(of.model.variables.size()) {}

  Rng& operator()(Element e) {
    Stream& s = variables_[e.variable.index()];
    if (s.rngs.empty()) begin(e.variable, s);
    return s.rngs[s.item.empty() ? 0 : static_cast<std::size_t>(s.item[e.position])];
  }

 private:
  /// The random numbers of one variable.
  struct Stream {
    std::vector<std::int64_t> item;  // by element: the item that it lies on; empty: none
    std::vector<Rng> rngs;           // by item, or one
  };

  /// Makes the stream of a variable and an item; 0 stands for no item.
  Rng rng(VariableId v, std::int64_t item) const {
    constexpr int kVariableBits = 20;
    return Rng(seed_, (static_cast<std::uint64_t>(item) << kVariableBits) + v.index());
  }

  /// Makes the streams of a variable at its first draw.
  void begin(VariableId id, Stream& s) const {
    const Model& m = of_.model;
    const std::vector<IndexVarId>& bounds = m[m[id].statement].index_vars;
    const auto own = std::ranges::find_if(bounds, [&](IndexVarId b) { return m[m[b].plate].set == of_.items; });
    if (own == bounds.end()) {
      s.rngs.push_back(rng(id, 0));
      return;
    }
    for (std::size_t k = 0; k < forward_.elements(id); ++k)
      s.item.push_back(forward_.at({id, k})[own->index()]);
    for (std::int64_t i = 0; i < of_.data.sizes[of_.items->index()]; ++i)
      s.rngs.push_back(rng(id, of_.first + i + 1));
  }

  const Prediction& of_;
  const ModelEvaluator& forward_;
  const std::uint64_t seed_;
  std::vector<Stream> variables_;
};

/// Draws some variables together, with all that they depend on, and fills in their numbers.
std::optional<Error> draw_all(Prediction& to, std::vector<Drawn> drawn,
                              const std::map<std::string, SavedVariable>& posterior,
                              const std::vector<std::vector<bool>>& d_connected, PosteriorMoments& posterior_moments,
                              const PredictionOptions& options) {
  if (drawn.empty()) return std::nullopt;
  const Model& m = to.model;
  const auto n = static_cast<std::size_t>(options.draws);
  for (Drawn& d : drawn) {
    d.values.resize(d.of.mean.size());
    d.means.resize(d.of.mean.size());
    if (!d.of.probabilities) d.all.resize(d.of.mean.size() * n);
  }
  const std::vector<bool> wanted = required_by(m, drawn, d_connected);
  const Result<FactorSampler> factors = FactorSampler::make(to.analysed, posterior, wanted, posterior_moments);
  if (!factors) return factors.error();
  ModelEvaluator f(m, to.data);
  ItemStreams streams(to, f, options.seed);
  const RngOf rng_of = std::ref(streams);
  std::set<std::pair<VariableId, std::size_t>> beyond;
  std::string first;
  const OnOverflow overflowed = [&](Element e, const std::string& drawn_from) {
    if (beyond.empty()) first = drawn_from;
    beyond.emplace(e.variable, e.position);
  };
  for (std::size_t draw = 0; draw < n; ++draw) {
    reset(f, wanted);
    factors->draw(d_connected, f, rng_of);
    if (std::optional<Error> e = draw_values(f, rng_of, overflowed)) return e;
    for (Drawn& d : drawn)
      append_draw(f, draw, n, to.is_let(d.of.variable), d);
  }
  for (Drawn& d : drawn)
    fill_missing(d, has_integers(m[d.of.variable].support), n);
  to.draws = options.draws;
  if (!beyond.empty())
    to.notes.push_back(
        make_warning(out_of_range(first, beyond.size()),
                     {"its mean is that of the limit, maybe infinite: is it far outside the data of the fit?"}));
  return std::nullopt;
}

}  // namespace

bool has_two_values(const Variable& v) { return v.support == math::Support::bit || v.support == math::Support::spin; }

std::optional<Error> add_drawn_values(Prediction& to, const std::map<std::string, SavedVariable>& posterior,
                                      const std::vector<std::vector<bool>>& d_connected,
                                      PosteriorMoments& posterior_moments, const PredictionOptions& options) {
  const Model& m = to.model;
  std::vector<Drawn> variables, lets;
  double count = 0;
  for (PredictedVariable& p : to.variables) {
    if (is_complete(p, p.probabilities || has_two_values(m[p.variable]))) continue;
    count += static_cast<double>(p.mean.size()) * (p.probabilities ? 1 : static_cast<double>(options.draws));
    (to.is_let(p.variable) ? lets : variables).push_back({p, {}, {}, {}});
  }
  if (std::optional<Error> e = too_large({{"draws", count}})) return e;
  // Variables and `let`s are drawn separately, so that a `let` changes no other number.
  if (std::optional<Error> e = draw_all(to, std::move(variables), posterior, d_connected, posterior_moments, options))
    return e;
  return draw_all(to, std::move(lets), posterior, d_connected, posterior_moments, options);
}

}  // namespace lehr
