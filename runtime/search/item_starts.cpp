// Inference of items from several starts. For models with all local blocks in one stage, a start of all items is
// followed by visits until each item has converged; each item then keeps its best factors (offer()). Items leave the
// search on their own after a few starts without improvement. For other models, all items take one start together.
#include "runtime/search/item_starts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/machine/items.h"

namespace lehr {
namespace {

using machine::Parameter;
using machine::ParameterRow;
using machine::Support;

/// Random starts in a row without a higher local ELBO, after which an item has no more starts.
constexpr std::int64_t kPatience = 3;
/// Visits of an item with fixed discrete variables, in which its other variables adapt to them.
constexpr int kVisits = 5;
/// Relative difference below which ELBOs are equal.
constexpr double kEqual = 1e-9;
/// What a random point of the simplex is multiplied by when it is added to concentrations.
constexpr double kPoint = 10;

/// Returns true if a variable is a bit, a spin or a category.
bool is_discrete(const ParameterRow& row) {
  return row.support == Support::bit || row.support == Support::spin || row.support == Support::category;
}

/// Sets an element of a discrete variable to a value: one-hot probabilities of a category, or the number of a bit or
/// spin.
void put_value(const ParameterRow& row, std::span<double> element, std::size_t value) {
  for (std::size_t k = 0; k < element.size(); ++k) {
    if (row.support == Support::category) element[k] = k == value ? 1 : 0;
    else element[k] = value % 2 == 1 ? 1 : row.support == Support::spin ? -1 : 0;
  }
}

/// Displaces means by one standard deviation of their factors. The diagonal counts if precisions are matrices.
void displace_means(std::span<double> x, std::span<const double> precisions, std::size_t extent, Rng& rng) {
  const bool matrices = extent > 1 && precisions.size() == x.size() * extent;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = matrices ? (i / extent) * extent * extent + (i % extent) * (extent + 1) : i;
    const double sd = at < precisions.size() ? 1 / std::sqrt(precisions[at]) : 1;
    x[i] += (std::isfinite(sd) ? sd : 1) * draw_normal(rng);
  }
}

/// Moves points of the simplex (`point`), or concentrations, towards a random point.
void displace_simplex(std::span<double> x, std::size_t n, bool point, Rng& rng) {
  std::vector<double> random_point(n);
  for (std::size_t e = 0; e + n <= x.size(); e += n) {
    std::ranges::fill(random_point, 1.0);
    draw_dirichlet(rng, random_point, random_point);
    for (std::size_t k = 0; k < n; ++k)
      x[e + k] = point ? 0.5 * (x[e + k] + random_point[k]) : x[e + k] + kPoint * random_point[k];
  }
}

/// The inference of the items of one engine.
class Starts {
 public:
  Starts(Engine& engine, const ItemStarts& options, ItemSearch& result)
      : engine_(engine), o_(options), m_(engine.machine()), result_(result), model_(engine.model()) {
    m_.accuracy = options.accuracy;
    for (std::int64_t k = 0; k < model_.parameter_count; ++k) {
      const ParameterRow& row = model_.parameters[k];
      const bool updated = o_.scope == machine::SweepScope::stages ? row.by_stage != 0 : row.local != 0;
      if (updated && !row.streamed) parameters_.push_back(k);
    }
    for (const StepRow& step : engine.steps())
      if (step.stage && !step.refresh && !stage_) stage_ = &step;
  }

  /// Does all of the work. Returns 0 or a status of the generated code.
  std::int32_t run() {
    if (const std::int32_t status = has_sources() ? form_sources() : 0) return status;
    const bool alone = machine::has_single_stage(model_) && model_.item_energies >= 0;
    result_.items = stage_ ? engine_.extent(stage_->items) : 0;
    result_.given = std::ranges::count(o_.given, true);
    result_.together = !alone;
    return alone ? each_item() : all_items();
  }

 private:
  std::int64_t items() const { return result_.items; }
  /// Returns true if an item keeps the solution of its present factors.
  bool is_given(std::int64_t item) const { return !o_.given.empty() && o_.given[static_cast<std::size_t>(item)]; }
  /// Returns the local ELBO of each item, in nats.
  std::span<double> item_elbos() const { return engine_.reals(model_.item_energies); }

  /// Returns true if items have auxiliary variables that no stage updates (machine::SweepScope::sources).
  bool has_sources() const {
    const auto is_source = [](const ParameterRow& x) { return x.auxiliary && x.local && !x.by_stage; };
    return std::ranges::any_of(machine::parameters_of(model_), is_source);
  }

  /// Updates these variables, which are at their start values for new items. They depend on the global variables,
  /// weighted by the statistics of the stages, so a sweep over the stages comes first. Returns a status.
  std::int32_t form_sources() {
    const std::int32_t status = machine::sweep(m_, {.scope = o_.scope});
    return status == 0 ? machine::sweep(m_, {.scope = machine::SweepScope::sources}) : status;
  }

  /// Returns the random numbers of one start of an item, a function of both numbers.
  Rng random(std::int64_t start, std::int64_t item) const {
    return Rng(o_.seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(start),
               static_cast<std::uint64_t>(o_.first + item));
  }

  /// Returns the number of starts that try one value of all discrete variables each: the largest number of values; 0 if
  /// there are no such variables, or more values than starts.
  std::int64_t values() const {
    std::int64_t most = 0;
    for (const std::int64_t k : parameters_) {
      const ParameterRow& row = model_.parameters[k];
      if (is_discrete(row)) most = std::max(most, static_cast<std::int64_t>(values_of(row)));
    }
    for (std::int64_t k = 0; stage_ && k < stage_->picks; ++k)
      most = std::max(most, engine_.extent(model_.picks[stage_->first_pick + k].values));
    return most < o_.starts ? most : 0;
  }

  /// Returns the length of the last axis of a parameter.
  std::size_t last_extent(const ParameterRow& row) const {
    const machine::BufferRow& b = model_.buffers[row.buffer];
    return static_cast<std::size_t>(engine_.extent(model_.axes[b.first_axis + b.axes - 1]));
  }
  /// Returns the number of values of a discrete variable.
  std::size_t values_of(const ParameterRow& row) const {
    return row.support == Support::category ? last_extent(row) : 2;
  }
  /// Returns the numbers of an element of a discrete variable.
  std::size_t values_per_element(const ParameterRow& row) const {
    return row.support == Support::category ? last_extent(row) : 1;
  }

  /// Returns the numbers of a parameter that belong to an item; all of them for item -1.
  std::span<double> values_of_item(std::int64_t parameter, std::int64_t item) const {
    const std::int64_t buffer = model_.parameters[parameter].buffer;
    if (item < 0) return engine_.reals(buffer);
    return machine::factors_of(m_, 0, {item, item + 1}, buffer);
  }

  /// Displaces a parameter of one item (of all: -1) at random, according to its meaning.
  void displace(std::int64_t parameter, std::int64_t item, Rng& rng) const {
    const ParameterRow& row = model_.parameters[parameter];
    const std::span<double> x = values_of_item(parameter, item);
    if (is_discrete(row)) {
      const std::size_t n = values_per_element(row);
      for (std::size_t i = 0; i + n <= x.size(); i += n)
        put_value(row, x.subspan(i, n), static_cast<std::size_t>(draw_below(rng, values_of(row))));
    } else if (row.parameter == Parameter::mean ||
               (row.parameter == Parameter::value && row.support == Support::real) ||
               (row.parameter == Parameter::value && row.support == Support::vector)) {
      const std::span<const double> precisions =
          row.partner >= 0 ? values_of_item(row.partner, item) : std::span<const double>();
      displace_means(x, precisions, row.event_rank == 1 ? last_extent(row) : 1, rng);
    } else if (row.support == Support::simplex) {
      displace_simplex(x, last_extent(row), row.parameter == Parameter::value, rng);
    } else if (row.parameter == Parameter::probs) {
      displace_simplex(x, last_extent(row), true, rng);
    } else if (row.parameter == Parameter::p) {
      for (double& value : x)
        value = draw_uniform(rng);
    } else if (row.parameter == Parameter::rate ||
               (row.parameter == Parameter::value && row.support == Support::positive)) {
      for (double& value : x)
        value *= std::exp(0.3 * draw_normal(rng));
    } else if (row.parameter == Parameter::shape_like) {
      for (double& value : x)
        value += draw_exponential(rng);
    }
  }

  /// Stores the present factors of the items, at which every further start begins.
  void keep_beginning() {
    for (const std::int64_t b : engine_.state_buffers())
      if (machine::is_of_items(m_, b) && engine_.reals(b).size() > 0) buffers_.push_back(b);
    for (const std::int64_t b : buffers_) {
      const std::span<double> x = engine_.reals(b);
      beginning_.emplace_back(x.begin(), x.end());
    }
    best_ = beginning_;
  }

  /// Copies stored factors of all items back.
  void put(const Arrays& from) const {
    for (std::size_t k = 0; k < buffers_.size(); ++k)
      std::ranges::copy(from[k], engine_.reals(buffers_[k]).begin());
  }

  /// Stores the present factors of an item as its best.
  void keep(std::int64_t item) {
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      const std::span<double> x = machine::factors_of(m_, 0, {item, item + 1}, buffers_[k]);
      const auto at = x.data() - engine_.reals(buffers_[k]).data();
      std::ranges::copy(x, best_[k].begin() + at);
    }
  }

  /// Makes start `k` of all items: the first `values` starts set the discrete variables to one value each, later ones
  /// are random. Returns a status.
  std::int32_t begin(std::int64_t k, std::int64_t values) {
    put(beginning_);
    const bool random_start = k > values;
    bool any_stored = false;
    for (std::int64_t item = 0; item < items(); ++item) {
      Rng rng = random(k, item);
      for (const std::int64_t parameter : parameters_) {
        const ParameterRow& row = model_.parameters[parameter];
        if (!machine::is_of_items(m_, row.buffer)) continue;
        any_stored = any_stored || is_discrete(row);
        if (random_start) {
          displace(parameter, item, rng);
        } else if (is_discrete(row)) {
          const std::span<double> x = values_of_item(parameter, item);
          for (std::size_t i = 0; i + values_per_element(row) <= x.size(); i += values_per_element(row))
            put_value(row, x.subspan(i, values_per_element(row)), static_cast<std::size_t>(k - 1) % values_of(row));
        }
      }
    }
    const machine::ItemRange all{0, items()};
    if (const std::int32_t status = machine::run_expectations(m_, 0, all)) return status;
    return random_start && !any_stored ? 0 : follow_values(k - 1, random_start);
  }

  /// Lets the other variables of the items adapt to the values of the discrete ones. Categories that are not stored get
  /// `value`, or a random one. Returns a status.
  std::int32_t follow_values(std::int64_t value, bool at_random) {
    if (stage_->seed < 0) return 0;
    for (std::int64_t p = 0; p < stage_->picks; ++p) {
      const machine::PickRow& row = model_.picks[stage_->first_pick + p];
      engine_.resize(row.buffer, static_cast<std::size_t>(items()));
      const std::int64_t n = engine_.extent(row.values);
      const std::span<std::int64_t> picks = engine_.integers(row.buffer);
      for (std::int64_t item = 0; item < items(); ++item) {
        Rng rng = random(-value - 2, item);
        picks[static_cast<std::size_t>(item)] =
            at_random ? static_cast<std::int64_t>(draw_below(rng, static_cast<std::size_t>(n))) : value % n;
      }
    }
    std::int32_t status = machine::call(m_, stage_->tables);
    for (int visit = 0; status == 0 && visit < kVisits; ++visit)
      status = machine::run_items(m_, stage_->seed, {0, items()}, m_.table);
    for (std::int64_t p = 0; p < stage_->picks; ++p)
      engine_.resize(model_.picks[stage_->first_pick + p].buffer, 0);
    return status;
  }

  /// Visits all items until each has converged, and offers its solution. Returns a status.
  std::int32_t visit_until_converged() {
    std::vector<bool> done(static_cast<std::size_t>(items()), false);
    std::vector<double> before(done.size(), -std::numeric_limits<double>::infinity());
    const std::int64_t rounds = o_.converges_in_one_visit ? 1 : m_.accuracy.iterations;
    for (std::int64_t round = 1; round <= rounds; ++round) {
      std::ranges::fill(item_elbos(), 0.0);
      if (const std::int32_t status = machine::sweep(m_, {.scope = o_.scope})) return status;
      bool all = true;
      for (std::size_t i = 0; i < done.size(); ++i) {
        const double bound = item_elbos()[i];
        if (done[i]) continue;
        done[i] = round == rounds || std::abs(bound - before[i]) <= kEqual * (1 + std::abs(bound));
        before[i] = bound;
        all = all && done[i];
        if (done[i]) offer(i, bound);
      }
      if (all) break;
    }
    return 0;
  }

  /// Compares a solution of an item with its best one, and counts starts without improvement.
  void offer(std::size_t i, double bound) {
    if (tries_[i] < 0) return;
    const auto item = static_cast<std::int64_t>(i);
    const bool finite = std::isfinite(bound);
    if (finite) worst_[i] = std::min(worst_[i], bound);
    if (finite && !(bound <= highest_[i] + kEqual * (1 + std::abs(bound)))) {
      highest_[i] = bound;
      tries_[i] = 0;
      keep(item);
    } else {
      tries_[i] += counts_ ? 1 : 0;
    }
    if (tries_[i] >= kPatience || is_given(item)) tries_[i] = -1;
  }

  /// Tries starts item by item. Returns a status.
  std::int32_t each_item() {
    keep_beginning();
    const auto n = static_cast<std::size_t>(items());
    highest_.assign(n, -std::numeric_limits<double>::infinity());
    worst_.assign(n, std::numeric_limits<double>::infinity());
    tries_.assign(n, 0);
    if (const std::int32_t status = visit_until_converged()) return status;
    if (buffers_.empty() || o_.unique || o_.starts <= 1) return 0;
    const std::int64_t of_values = values();
    for (std::int64_t k = 1; k < o_.starts; ++k) {
      if (std::ranges::all_of(tries_, [](std::int64_t t) { return t < 0; })) break;
      if (o_.on_start) o_.on_start(k, o_.starts);
      counts_ = k > of_values;
      std::int32_t status = begin(k, of_values);
      if (status == 0) status = visit_until_converged();
      // A start that fails is skipped.
      if (status == 0) result_.starts = k + 1;
    }
    put(best_);
    engine_.invalidate_parts();
    for (std::size_t i = 0; i < n; ++i) {
      const double gap = highest_[i] - worst_[i];
      if (!(gap > kDifferentSolution)) continue;
      ++result_.differing;
      result_.largest = std::max(result_.largest, gap);
    }
    return machine::sweep(m_, {.scope = o_.scope});
  }

  /// Visits all items until their joint ELBO has converged; once if one visit suffices. Returns a status.
  std::int32_t visit_all() {
    double before = 0;
    for (std::int64_t round = 0;; ++round) {
      if (const std::int32_t status = machine::infer_items(m_, o_.scope)) return status;
      Elbo now;
      if (o_.converges_in_one_visit || round + 1 >= m_.accuracy.iterations || engine_.elbo(now) != 0) return 0;
      if (round > 0 && std::abs(now.value - before) <= kEqual * (1 + std::abs(now.value))) return 0;
      before = now.value;
    }
  }

  /// Tries starts of all items together, for models with local blocks in several stages, where ELBOs of single items
  /// are not available. Returns a status.
  std::int32_t all_items() {
    if (const std::int32_t status = visit_all()) return status;
    // Code with one stage but without ELBOs of single items gives nothing to choose by.
    const bool given = (result_.given > 0 && result_.given == result_.items) || machine::has_single_stage(model_);
    Elbo now;
    if (given || o_.unique || parameters_.empty() || engine_.elbo(now) != 0) return 0;
    result_.given = 0;  // a start of all items together leaves none of them as it was
    double highest = now.value, worst = now.value;
    Arrays best = engine_.save();
    const Arrays beginning = best;
    std::int64_t without = 0;
    for (std::int64_t k = 1; k < o_.starts && without < kPatience; ++k, ++without) {
      if (o_.on_start) o_.on_start(k, o_.starts);
      engine_.load(beginning);
      Rng rng = random(k, 0);
      for (const std::int64_t parameter : parameters_)
        displace(parameter, -1, rng);
      result_.starts = k + 1;
      if (machine::call_on_stored(m_, model_.expectations) != 0 || machine::infer_items(m_, o_.scope) != 0 ||
          engine_.elbo(now) != 0 || !machine::is_possible(now.value))
        continue;
      worst = std::min(worst, now.value);
      if (now.value <= highest + kEqual * (1 + std::abs(highest))) continue;
      highest = now.value;
      best = engine_.save();
      without = -1;
    }
    engine_.load(best);
    if (highest - worst > kDifferentSolution) {
      result_.differing = result_.items;
      result_.largest = highest - worst;
    }
    return machine::infer_items(m_, o_.scope);
  }

  Engine& engine_;
  const ItemStarts& o_;
  machine::Machine m_;
  ItemSearch& result_;
  const machine::Model& model_;
  std::vector<std::int64_t> parameters_;  // indices of the stored parameters of local variables
  const StepRow* stage_ = nullptr;
  std::vector<std::int64_t> buffers_;
  Arrays beginning_, best_;
  std::vector<double> highest_, worst_;  // by item: highest and lowest ELBO of its solutions, in nats
  std::vector<std::int64_t> tries_;      // by item: random starts since its best one; -1: it has no more starts
  bool counts_ = false;                  // true: the present start counts towards kPatience
};

}  // namespace

std::int32_t infer_from_starts(Engine& engine, const ItemStarts& options, ItemSearch& result) {
  return Starts(engine, options, result).run();
}

}  // namespace lehr
