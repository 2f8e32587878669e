#include "runtime/methods/item_starts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/machine/items.h"

namespace lehr {
namespace {

using machine::Parameter;
using machine::ParameterRow;
using machine::Support;

/// Random starts without a better bound, after which an item has no more.
constexpr std::int64_t kPatience = 3;
/// Visits in which the other variables of an item come to the values that its discrete ones were given.
constexpr int kVisits = 5;
/// Relative: bounds that differ by less are equal.
constexpr double kEqual = 1e-9;
/// Weight of a random point of the simplex in concentrations.
constexpr double kPoint = 10;

bool is_discrete(const ParameterRow& row) {
  return row.support == Support::bit || row.support == Support::spin || row.support == Support::category;
}

/// The value of an element of a discrete variable; a category has `n` numbers, others have one.
void put_value(const ParameterRow& row, std::span<double> element, std::size_t value) {
  for (std::size_t k = 0; k < element.size(); ++k) {
    if (row.support == Support::category) element[k] = k == value ? 1 : 0;
    else element[k] = value % 2 == 1 ? 1 : row.support == Support::spin ? -1 : 0;
  }
}

void displace_means(std::span<double> x, std::span<const double> precisions, std::size_t extent, Rng& rng) {
  const bool matrices = extent > 1 && precisions.size() == x.size() * extent;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t at = matrices ? (i / extent) * extent * extent + (i % extent) * (extent + 1) : i;
    const double sd = at < precisions.size() ? 1 / std::sqrt(precisions[at]) : 1;
    x[i] += (std::isfinite(sd) ? sd : 1) * draw_normal(rng);
  }
}

/// Moves points of the simplex, or concentrations towards one.
void displace_simplex(std::span<double> x, std::size_t n, bool point, Rng& rng) {
  std::vector<double> share(n);
  for (std::size_t e = 0; e + n <= x.size(); e += n) {
    std::ranges::fill(share, 1.0);
    draw_dirichlet(rng, share, share);
    for (std::size_t k = 0; k < n; ++k)
      x[e + k] = point ? 0.5 * (x[e + k] + share[k]) : x[e + k] + kPoint * share[k];
  }
}

class Starts {
 public:
  Starts(Engine& engine, const ItemStarts& options, ItemSearch& found)
      : engine_(engine), o_(options), m_(engine.machine()), found_(found), model_(engine.model()) {
    m_.accuracy = options.accuracy;
    for (std::int64_t k = 0; k < model_.parameter_count; ++k) {
      const ParameterRow& row = model_.parameters[k];
      const bool updated = o_.which == machine::Which::stages ? row.of_items != 0 : row.local != 0;
      if (updated && !row.streamed) rows_.push_back(k);
    }
    for (const StepRow& step : engine.steps())
      if (step.stage && !step.refresh && !stage_) stage_ = &step;
  }

  std::int32_t run() {
    if (const std::int32_t status = has_sources() ? form_sources() : 0) return status;
    const bool alone = machine::one_stage(model_) && model_.item_energies >= 0;
    found_.items = stage_ ? engine_.extent(stage_->items) : 0;
    found_.given = std::ranges::count(o_.given, true);
    found_.together = !alone;
    return alone ? each_item() : all_items();
  }

 private:
  std::int64_t items() const { return found_.items; }
  bool is_given(std::int64_t item) const { return !o_.given.empty() && o_.given[static_cast<std::size_t>(item)]; }
  std::span<double> bounds() const { return engine_.reals(model_.item_energies); }

  /// Whether items have auxiliary variables that no stage updates (machine::Which::sources).
  bool has_sources() const {
    const std::span rows(model_.parameters, static_cast<std::size_t>(model_.parameter_count));
    const auto is_source = [](const ParameterRow& x) { return x.auxiliary && x.local && !x.of_items; };
    return std::ranges::any_of(rows, is_source);
  }

  /// Of new items they stand at a start. They depend on the global variables, weighted by what the stages sum up.
  std::int32_t form_sources() {
    const std::int32_t status = machine::sweep(m_, {.which = o_.which});
    return status == 0 ? machine::sweep(m_, {.which = machine::Which::sources}) : status;
  }

  Rng random(std::int64_t start, std::int64_t item) const {
    return Rng(o_.seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(start),
               static_cast<std::uint64_t>(o_.first + item));
  }

  /// Values that each of the items' categories and bits takes in a start of its own; 0: none, or too many.
  std::int64_t values() const {
    std::int64_t most = 0;
    for (const std::int64_t k : rows_) {
      const ParameterRow& row = model_.parameters[k];
      if (is_discrete(row)) most = std::max(most, static_cast<std::int64_t>(values_of(row)));
    }
    for (std::int64_t k = 0; stage_ && k < stage_->picks; ++k)
      most = std::max(most, engine_.extent(model_.picks[stage_->first_pick + k].values));
    return most < o_.starts ? most : 0;
  }

  /// Numbers along the last axis.
  std::size_t last_extent(const ParameterRow& row) const {
    const machine::BufferRow& b = model_.buffers[row.buffer];
    return static_cast<std::size_t>(engine_.extent(model_.axes[b.first_axis + b.axes - 1]));
  }
  std::size_t values_of(const ParameterRow& row) const {
    return row.support == Support::category ? last_extent(row) : 2;
  }
  std::size_t numbers_of(const ParameterRow& row) const {
    return row.support == Support::category ? last_extent(row) : 1;
  }

  /// Numbers of a parameter that belong to an item; all of them where items are not told apart.
  std::span<double> numbers(std::int64_t parameter, std::int64_t item) const {
    const std::int64_t buffer = model_.parameters[parameter].buffer;
    if (item < 0) return engine_.reals(buffer);
    return machine::factors_of(m_, 0, {item, item + 1}, buffer);
  }

  void displace(std::int64_t parameter, std::int64_t item, Rng& rng) const {
    const ParameterRow& row = model_.parameters[parameter];
    const std::span<double> x = numbers(parameter, item);
    if (is_discrete(row)) {
      const std::size_t n = numbers_of(row);
      for (std::size_t i = 0; i + n <= x.size(); i += n)
        put_value(row, x.subspan(i, n), static_cast<std::size_t>(draw_below(rng, values_of(row))));
    } else if (row.parameter == Parameter::mean ||
               (row.parameter == Parameter::value && row.support == Support::real) ||
               (row.parameter == Parameter::value && row.support == Support::vector)) {
      const std::span<const double> precisions =
          row.partner >= 0 ? numbers(row.partner, item) : std::span<const double>();
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

  /// Those of the items, from which all starts lead away.
  void keep_beginning() {
    for (const std::int64_t b : engine_.state_buffers())
      if (machine::is_of_items(m_, b) && engine_.reals(b).size() > 0) buffers_.push_back(b);
    for (const std::int64_t b : buffers_) {
      const std::span<double> x = engine_.reals(b);
      beginning_.emplace_back(x.begin(), x.end());
    }
    best_ = beginning_;
  }

  void put(const Arrays& from) const {
    for (std::size_t k = 0; k < buffers_.size(); ++k)
      std::ranges::copy(from[k], engine_.reals(buffers_[k]).begin());
  }

  void keep(std::int64_t item) {
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      const std::span<double> x = machine::factors_of(m_, 0, {item, item + 1}, buffers_[k]);
      const auto at = x.data() - engine_.reals(buffers_[k]).data();
      std::ranges::copy(x, best_[k].begin() + at);
    }
  }

  /// Start `k` of all items. Of each value in turn, then at random.
  std::int32_t begin(std::int64_t k, std::int64_t values) {
    put(beginning_);
    const bool random_start = k > values;
    bool any_stored = false;
    for (std::int64_t item = 0; item < items(); ++item) {
      Rng rng = random(k, item);
      for (const std::int64_t parameter : rows_) {
        const ParameterRow& row = model_.parameters[parameter];
        if (!machine::is_of_items(m_, row.buffer)) continue;
        any_stored = any_stored || is_discrete(row);
        if (random_start) {
          displace(parameter, item, rng);
        } else if (is_discrete(row)) {
          const std::span<double> x = numbers(parameter, item);
          for (std::size_t i = 0; i + numbers_of(row) <= x.size(); i += numbers_of(row))
            put_value(row, x.subspan(i, numbers_of(row)), static_cast<std::size_t>(k - 1) % values_of(row));
        }
      }
    }
    const machine::ItemRange all{0, items()};
    if (const std::int32_t status = machine::run_expectations(m_, 0, all)) return status;
    return random_start && !any_stored ? 0 : follow_values(k - 1, random_start);
  }

  /// The other variables of the items, with these values.
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

  /// Items at the solutions that their factors lead to; what is better than before is kept.
  std::int32_t settle() {
    std::vector<bool> done(static_cast<std::size_t>(items()), false);
    std::vector<double> before(done.size(), -std::numeric_limits<double>::infinity());
    const std::int64_t rounds = o_.settles ? 1 : m_.accuracy.iterations;
    for (std::int64_t round = 1; round <= rounds; ++round) {
      std::ranges::fill(bounds(), 0.0);
      if (const std::int32_t status = machine::sweep(m_, {.which = o_.which})) return status;
      bool all = true;
      for (std::size_t i = 0; i < done.size(); ++i) {
        const double bound = bounds()[i];
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

  std::int32_t each_item() {
    keep_beginning();
    const auto n = static_cast<std::size_t>(items());
    highest_.assign(n, -std::numeric_limits<double>::infinity());
    worst_.assign(n, std::numeric_limits<double>::infinity());
    tries_.assign(n, 0);
    if (const std::int32_t status = settle()) return status;
    if (buffers_.empty() || o_.unique || o_.starts <= 1) return 0;
    const std::int64_t of_values = values();
    for (std::int64_t k = 1; k < o_.starts; ++k) {
      if (std::ranges::all_of(tries_, [](std::int64_t t) { return t < 0; })) break;
      if (o_.on_start) o_.on_start(k, o_.starts);
      counts_ = k > of_values;
      std::int32_t status = begin(k, of_values);
      if (status == 0) status = settle();
      // A start that leads to no factors says nothing of the others.
      if (status == 0) found_.starts = k + 1;
    }
    put(best_);
    engine_.forget_parts();
    for (std::size_t i = 0; i < n; ++i) {
      const double apart = highest_[i] - worst_[i];
      if (!(apart > kApart)) continue;
      ++found_.apart;
      found_.largest = std::max(found_.largest, apart);
    }
    return machine::sweep(m_, {.which = o_.which});
  }

  /// Until the bound of all items together has settled, where one visit does not lead there.
  std::int32_t visit_all() {
    double before = 0;
    for (std::int64_t round = 0;; ++round) {
      if (const std::int32_t status = machine::infer_items(m_, o_.which)) return status;
      Elbo now;
      if (o_.settles || round + 1 >= m_.accuracy.iterations || engine_.elbo(now) != 0) return 0;
      if (round > 0 && std::abs(now.value - before) <= kEqual * (1 + std::abs(now.value))) return 0;
      before = now.value;
    }
  }

  /// All blocks of the items in one go: with single stages for some of them, bounds of items are not told apart.
  std::int32_t all_items() {
    if (const std::int32_t status = visit_all()) return status;
    // Without bounds of single items (built objects) there is nothing to choose by.
    const bool given = (found_.given > 0 && found_.given == found_.items) || machine::one_stage(model_);
    Elbo now;
    if (given || o_.unique || rows_.empty() || engine_.elbo(now) != 0) return 0;
    double highest = now.value, worst = now.value;
    Arrays best = engine_.save();
    const Arrays beginning = best;
    std::int64_t without = 0;
    for (std::int64_t k = 1; k < o_.starts && without < kPatience; ++k, ++without) {
      if (o_.on_start) o_.on_start(k, o_.starts);
      engine_.load(beginning);
      Rng rng = random(k, 0);
      for (const std::int64_t parameter : rows_)
        displace(parameter, -1, rng);
      found_.starts = k + 1;
      if (machine::call_on_kept(m_, model_.expectations) != 0 || machine::infer_items(m_, o_.which) != 0 ||
          engine_.elbo(now) != 0 || !machine::is_possible(now.value))
        continue;
      worst = std::min(worst, now.value);
      if (now.value <= highest + kEqual * (1 + std::abs(highest))) continue;
      highest = now.value;
      best = engine_.save();
      without = -1;
    }
    engine_.load(best);
    if (highest - worst > kApart) {
      found_.apart = found_.items;
      found_.largest = highest - worst;
    }
    return machine::infer_items(m_, o_.which);
  }

  Engine& engine_;
  const ItemStarts& o_;
  machine::Machine m_;
  ItemSearch& found_;
  const machine::Model& model_;
  std::vector<std::int64_t> rows_;  // stored parameters of local variables
  const StepRow* stage_ = nullptr;
  std::vector<std::int64_t> buffers_;
  Arrays beginning_, best_;
  std::vector<double> highest_, worst_;  // by item, in nats
  std::vector<std::int64_t> tries_;      // by item: random starts since its best one; -1: it has no more
  bool counts_ = false;                  // the start is a random one
};

}  // namespace

std::int32_t infer_from_starts(Engine& engine, const ItemStarts& options, ItemSearch& found) {
  return Starts(engine, options, found).run();
}

}  // namespace lehr
