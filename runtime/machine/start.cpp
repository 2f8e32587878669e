// Random starts. start() does this:
//
//     priors -> repair improper ones -> displace at random -> narrow factors of means (nearly points)
//            -> assign values of categories to some items -> statistics of these items alone
//            -> tangent points of local bounds -> global factors from these statistics
//
// Values of elements in a window or out of core are recorded (Start::deferred) and written when their items are loaded.
#include "runtime/machine/start.h"

#include <cmath>

#include "runtime/machine/items.h"

namespace lehr::machine {
namespace {

/// StartKind::seeds: how many items, or elements of a chain, each value of a category gets.
constexpr std::size_t kSeedsPerValue = 3;

/// Returns a random permutation of 0 .. n - 1, in the scratch memory of the start.
std::span<std::int64_t> random_order(const Start& s, std::size_t n, Rng& rng) {
  const std::span<std::int64_t> order{s.order, n};
  for (std::size_t i = 0; i < n; ++i)
    order[i] = static_cast<std::int64_t>(i);
  shuffle(rng, order);
  return order;
}

/// Returns the first `count` (n at most) numbers of a random permutation of 0 .. n - 1, in memory or deferred.
std::span<const std::int64_t> first_of_permutation(const Start& s, std::size_t n, std::size_t count, Rng& rng) {
  if (count > n) count = n;
  if (s.deferred) return {s.deferred->first(s.deferred->context, n, count, rng), count};
  return random_order(s, n, rng).first(count);
}

/// Returns true if values of this support are above 0.
bool is_positive(Support s) {
  return s == Support::positive || s == Support::unit || s == Support::simplex || s == Support::spd_matrix;
}

bool is_finite(double x) { return x - x == 0; }

/// Returns one entry of a standard factor, which replaces an improper one: 0 for means, the identity for matrices,
/// uniform probabilities, 1 otherwise. `entry` counts within an element, `extent` is the length of its last axis.
double standard(const ParameterRow& row, std::size_t entry, std::size_t extent) {
  if (row.parameter == Parameter::value && row.event_rank < 2) {
    return row.support == Support::simplex    ? 1 / static_cast<double>(extent)
           : row.support == Support::unit     ? 0.5
           : row.support == Support::positive ? 1
                                              : 0;
  }
  if (row.parameter == Parameter::mean) return 0;
  if (row.parameter == Parameter::df) return static_cast<double>(extent) + 1;
  if (row.parameter == Parameter::probs) return 1 / static_cast<double>(extent);
  if (row.parameter == Parameter::p) return 0.5;
  if (row.event_rank == 2) return (entry / extent) % extent == entry % extent ? 1 : 0;
  return 1;
}

/// Returns the length of the last axis of a parameter.
std::size_t last_extent(const View& v, const ParameterRow& row) {
  const BufferRow& b = v.model.buffers[row.buffer];
  return unsigned_of(v.extent(v.model.axes[b.first_axis + b.axes - 1]));
}

/// Puts all probability of an element of a category on one of its `n` values.
void take(std::span<double> probs, std::size_t n, std::size_t element, std::int64_t value) {
  for (std::size_t k = 0; k < n; ++k)
    probs[element * n + k] = static_cast<std::int64_t>(k) == value ? 1 : 0;
}

/// Displaces the values of a point factor within their support, by a step relative to `size`.
void displace_point(const View& v, const ParameterRow& row, double size, Rng& rng) {
  const std::span<double> x = v.reals(row.buffer);
  if (row.support == Support::real || row.support == Support::vector) {
    for (double& value : x)
      value += size * draw_normal(rng);
  } else if (row.support == Support::positive) {
    for (double& value : x)
      value *= std::exp(0.3 * size * draw_normal(rng));
  } else if (row.support == Support::unit) {
    for (double& value : x)
      value = 0.5 + 0.5 * size * (draw_uniform(rng) - 0.5);
  } else if (row.support == Support::simplex) {
    const std::size_t extent = last_extent(v, row);
    for (std::size_t e = 0; e + extent <= x.size(); e += extent) {
      double total = 0;
      for (double& value : x.subspan(e, extent))
        total += value *= std::exp(0.3 * size * draw_normal(rng));
      for (double& value : x.subspan(e, extent))
        value /= total;
    }
  } else if (row.support == Support::bit || row.support == Support::spin) {
    for (double& value : x)
      value = draw_uniform(rng) < 0.5 ? 1 : row.support == Support::bit ? 0 : -1;
  } else if (row.support == Support::category && !row.chain) {
    const std::size_t n = last_extent(v, row);
    for (std::size_t element = 0; (element + 1) * n <= x.size(); ++element)
      take(x, n, element, static_cast<std::int64_t>(draw_below(rng, n)));
  }
}

/// Displaces means by one standard deviation of their factor, 1 at most, times `size`.
void displace_mean(const View& v, const ParameterRow& row, double size, Rng& rng) {
  const std::span<double> x = v.reals(row.buffer);
  const std::size_t extent = row.event_rank == 1 ? last_extent(v, row) : 1;
  std::span<double> precisions;
  if (row.partner >= 0) precisions = v.reals(v.model.parameters[row.partner].buffer);
  // A vector may have a precision matrix, of which the diagonal counts. Means of switched variables also have a last
  // axis, but one number each for the precision.
  const bool matrices = row.event_rank == 1 && precisions.size() == x.size() * extent;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sd = 1;
    if (!precisions.empty()) {
      const std::size_t at = matrices ? (i / extent) * extent * extent + (i % extent) * (extent + 1) : i;
      sd = 1 / std::sqrt(precisions[at]);
    }
    x[i] += size * (sd < 1 ? sd : 1.0) * draw_normal(rng);
  }
}

/// Displaces one parameter at random, according to its meaning; `flat` makes the displacement small.
void displace(const View& v, const ParameterRow& row, bool flat, Rng& rng) {
  const std::span<double> x = v.reals(row.buffer);
  const double size = flat ? 0.1 : 1;
  if (row.parameter == Parameter::value) {
    displace_point(v, row, size, rng);
  } else if (row.parameter == Parameter::mean && row.support == Support::spin) {
    for (double& value : x)
      value = 0.5 * size * (2 * draw_uniform(rng) - 1);
  } else if (row.parameter == Parameter::mean) {
    displace_mean(v, row, size, rng);
  } else if (row.parameter == Parameter::rate) {
    for (double& value : x)
      value *= std::exp(0.3 * size * draw_normal(rng));
  } else if (row.parameter == Parameter::shape_like) {
    // Flat starts use Gamma(100, rate 100) whatever the prior, as is usual for topics (Hoffman et al. 2013).
    for (double& value : x)
      value = flat ? draw_gamma(rng, 100) / 100 : value + draw_exponential(rng);
  } else if (row.parameter == Parameter::p) {
    for (double& value : x)
      value = 0.5 + 0.5 * size * (draw_uniform(rng) - 0.5);
  } else if (row.parameter == Parameter::probs) {
    const std::size_t n = last_extent(v, row);
    for (std::size_t i = 0; i + n <= x.size(); i += n) {
      const std::span<double> element = x.subspan(i, n);
      for (double& value : element)
        value = flat ? 100.0 : 1.0;
      draw_dirichlet(rng, element, element);
    }
  }
}

/// Returns true if a start assigns values to this parameter: stored, local, of a variable of the model file.
bool takes_values(const ParameterRow& row) { return !row.streamed && row.local && !row.auxiliary; }

/// Gives all entries of a chain the probability 1 / total. Elements without a value then weigh together as much as one
/// with a value. Points that depend on these elements alone are then defined.
void take_nothing(std::span<double> probs, std::size_t total) {
  for (double& p : probs)
    p = 1 / static_cast<double>(total);
}

/// Assigns values to the elements of a chain: clusters, three seeds for each value, or all at random.
void allocate_chain(const View& v, const Start& s, std::int64_t parameter, Rng& rng) {
  const ParameterRow& row = v.model.parameters[parameter];
  const std::size_t length = v.length(row.buffer), n = last_extent(v, row), elements = length / n;
  const std::int64_t* clusters =
      s.kind == StartKind::points
          ? s.clusters->of_parameter(s.clusters->context, parameter, static_cast<std::int64_t>(n), rng)
          : nullptr;
  if (!s.deferred) take_nothing(v.reals(row.buffer), length);
  const auto put = [&](std::size_t element, std::int64_t value) {
    if (s.deferred) s.deferred->take(s.deferred->context, parameter, element, value);
    else take(v.reals(row.buffer), n, element, value);
  };
  if (clusters) {
    for (std::size_t i = 0; i < elements; ++i)
      put(i, clusters[i]);
  } else if (s.kind == StartKind::seeds) {
    const std::span<const std::int64_t> order = first_of_permutation(s, elements, kSeedsPerValue * n, rng);
    for (std::size_t i = 0; i < order.size(); ++i)
      put(unsigned_of(order[i]), static_cast<std::int64_t>(i % n));
  } else {
    for (std::size_t i = 0; i < elements; ++i)
      put(i, static_cast<std::int64_t>(draw_below(rng, n)));
  }
}

/// Assigns 0 or 1 to every stored bit at random.
void allocate_bits(const View& v, const Start& s, std::int64_t parameter, Rng& rng) {
  const ParameterRow& row = v.model.parameters[parameter];
  for (std::size_t i = 0; i < v.length(row.buffer); ++i) {
    const bool on = draw_uniform(rng) >= 0.5;
    if (s.deferred) s.deferred->take(s.deferred->context, parameter, i, on);
    else v.reals(row.buffer)[i] = on ? 1 : 0;
  }
}

/// Replaces improper priors by standard factors, then displaces all factors that no item stage updates.
void start_factors(const View& v, StartKind kind, Rng& rng) {
  repair(v, false);
  for (const ParameterRow& row : parameters_of(v.model)) {
    if (!row.streamed && !row.by_stage) displace(v, row, kind == StartKind::flat, rng);
  }
  // Precisions of means are raised: factors as wide as their priors would hide the differences of their means.
  for (const ParameterRow& row : parameters_of(v.model)) {
    if (row.parameter != Parameter::precision || row.by_stage || row.streamed || row.partner < 0) continue;
    for (double& value : v.reals(row.buffer))
      value *= 100;
  }
}

/// Assigns values to the elements of chains and to stored bits. Returns true if it did; the caller must then recompute
/// the expectations.
bool start_elements(const View& v, const Start& s, Rng& rng) {
  if (s.kind == StartKind::means || s.kind == StartKind::flat) return false;
  bool any = false;
  for (std::int64_t k = 0; k < v.model.parameter_count; ++k) {
    const ParameterRow& row = v.model.parameters[k];
    if (!takes_values(row)) continue;
    if (row.parameter == Parameter::probs && row.chain) {
      allocate_chain(v, s, k, rng);
      any = true;
    } else if (s.kind == StartKind::allocations && row.parameter == Parameter::p && row.support == Support::bit) {
      allocate_bits(v, s, k, rng);
      any = true;
    }
  }
  return any;
}

/// Takes back random values that the data already give to some item: that component is started by its observed items.
void drop_observed(const View& v, const PickRow& row) {
  if (row.observed < 0) return;
  const std::span<const std::int64_t> observed = v.integers(row.observed);
  for (std::int64_t& pick : v.integers(row.buffer)) {
    for (std::size_t i = 0; pick >= 0 && i < observed.size(); ++i) {
      if (observed[i] == pick) pick = -1;
    }
  }
}

/// Gives items with an observed value that value; their other categories get random values if they have none.
void assign_observed(const View& v, std::span<const PickRow> picks, Rng& rng) {
  for (const PickRow& row : picks) {
    if (row.observed < 0) continue;
    const std::span<const std::int64_t> observed = v.integers(row.observed);
    for (std::size_t i = 0; i < observed.size(); ++i) {
      for (const PickRow& other : picks) {
        std::int64_t& pick = v.integers(other.buffer)[i];
        if (observed[i] >= 0 && pick < 0)
          pick = static_cast<std::int64_t>(draw_below(rng, unsigned_of(v.extent(other.values))));
      }
      if (observed[i] >= 0) v.integers(row.buffer)[i] = observed[i];
    }
  }
}

/// Records the seeds of out-of-core items.
void seed_items(const View& v, const Start& s, const StepRow& stage, Rng& rng) {
  const PickRow* picks = v.model.picks + stage.first_pick;
  const std::size_t items = unsigned_of(v.extent(stage.items)),
                    seeds = kSeedsPerValue * unsigned_of(v.extent(picks[0].values));
  const std::span<const std::int64_t> order = first_of_permutation(s, items, stage.chains ? items : seeds, rng);
  for (std::int64_t k = 0; k < stage.picks; ++k) {
    const std::size_t n = unsigned_of(v.extent(picks[k].values));
    for (std::size_t i = 0; i < order.size(); ++i)
      s.deferred->take_item(s.deferred->context, stage.first_pick + k, order[i],
                            static_cast<std::int64_t>(k == 0 ? i % n : draw_below(rng, n)));
  }
}

/// Assigns values to the local categories of the items; `elsewhere`: their data are out of core. Returns true if the
/// model has such categories.
bool start_items(const View& v, const Start& s, bool elsewhere, Rng& rng) {
  if (s.kind == StartKind::means || s.kind == StartKind::flat) return false;
  bool any = false;
  for (std::int64_t step = 0; step < v.model.step_count; ++step) {
    const StepRow& stage = v.model.steps[step];
    if (!stage.stage || stage.refresh || stage.picks == 0) continue;
    any = true;
    if (elsewhere) {
      seed_items(v, s, stage, rng);
      continue;
    }
    const PickRow* picks = v.model.picks + stage.first_pick;
    const std::size_t items = unsigned_of(v.extent(stage.items)), first = unsigned_of(v.extent(picks[0].values));
    const std::span<const std::int64_t> order = random_order(s, items, rng);
    for (std::int64_t k = 0; k < stage.picks; ++k) {
      const std::span<std::int64_t> chosen = v.integers(picks[k].buffer);
      const std::size_t n = unsigned_of(v.extent(picks[k].values));
      const std::int64_t* clusters =
          s.kind == StartKind::points && k == 0
              ? s.clusters->of_step(s.clusters->context, step, static_cast<std::int64_t>(first), rng)
              : nullptr;
      for (std::size_t i = 0; i < items; ++i) {
        // With seeds, the first items of the order get the values 0, 1, ... in rotation; further categories of the same
        // items get random ones.
        const bool in = s.kind != StartKind::seeds || stage.chains || i < kSeedsPerValue * first;
        const bool dealt = k == 0 && s.kind == StartKind::seeds;
        std::int64_t& pick = chosen[unsigned_of(order[i])];
        pick = !in ? -1 : static_cast<std::int64_t>(dealt ? i % n : draw_below(rng, n));
        if (clusters) pick = clusters[order[i]];
      }
      if (s.kind == StartKind::seeds && !stage.chains) drop_observed(v, picks[k]);
    }
    assign_observed(v, {picks, unsigned_of(stage.picks)}, rng);
  }
  return any;
}

}  // namespace

std::size_t order_length(const View& v) {
  std::size_t longest = 0;
  const auto at_least = [&](std::size_t n) { longest = longest < n ? n : longest; };
  for (std::int64_t k = 0; k < v.model.step_count; ++k) {
    if (v.model.steps[k].picks > 0) at_least(unsigned_of(v.extent(v.model.steps[k].items)));
  }
  for (const ParameterRow& row : parameters_of(v.model)) {
    if (takes_values(row) && row.chain && row.parameter == Parameter::probs)
      at_least(v.length(row.buffer) / last_extent(v, row));
  }
  return longest;
}

bool repair(const View& v, const ParameterRow& row) {
  bool any = false;
  const std::size_t extent = row.event_rank > 0 ? last_extent(v, row) : unsigned_of(v.extent(row.event));
  const std::size_t per_element = row.event_rank == 2 ? extent * extent : row.event_rank == 1 ? extent : 1;
  const bool any_sign =
      row.parameter == Parameter::mean || (row.parameter == Parameter::value && !is_positive(row.support));
  const std::size_t next_signed = row.event_rank == 2 ? extent + 1 : 1;  // of a matrix, the diagonal is positive
  const std::span<double> x = v.reals(row.buffer);
  for (std::size_t e = 0; e + per_element <= x.size(); e += per_element) {
    bool proper = true;
    for (std::size_t i = 0; i < per_element; ++i)
      proper &= is_finite(x[e + i]);
    for (std::size_t i = 0; i < per_element && !any_sign; i += next_signed)
      proper &= x[e + i] > 0;
    if (proper) continue;
    any = true;
    for (std::size_t i = 0; i < per_element; ++i)
      x[e + i] = standard(row, i, extent);
  }
  return any;
}

bool repair(const View& v, bool local) {
  bool any = false;
  for (const ParameterRow& row : parameters_of(v.model)) {
    if (!row.streamed && (row.local || !local) && repair(v, row)) any = true;
  }
  return any;
}

void write_start_values(const ParameterRow& row, std::span<double> factors, std::span<const std::int32_t> values,
                        std::size_t total) {
  const std::size_t n = factors.size() / values.size();
  if (row.chain) take_nothing(factors, total);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) continue;
    if (row.chain) take(factors, n, i, values[i]);
    else factors[i] = values[i];
  }
}

std::int32_t start(const Machine& m, const Start& s, Rng& rng) {
  const Model& model = *m.model;
  if (const std::int32_t status = call_on_stored(m, model.initialise)) return status;
  start_factors({model, m.table, m.stored_sizes}, s.kind, rng);
  const bool formed = has_single_stage(model) && m.stores_all_items();
  if (formed) {
    if (const std::int32_t status = call_on_stored(m, model.global_expectations)) return status;
    if (const std::int32_t status = items_to_priors(m)) return status;
  }
  // Values are assigned to stored elements before the expectations are computed, to fused ones afterwards.
  const bool stored = start_elements(m.whole(), s, rng);
  if (const std::int32_t status = stored || !formed ? call_on_stored(m, model.expectations) : 0) return status;
  const bool picked = start_items(m.whole(), s, m.loader != nullptr, rng);
  invalidate_sums(m);
  if (stored || picked) {
    if (const std::int32_t status = seed_statistics(m, s.deferred)) return status;
    if (const std::int32_t status = move_tangent_points(m)) return status;
    if (const std::int32_t status = update_globals(m)) return status;
  }
  return finish_item_start(m, formed && !stored && !picked);
}

}  // namespace lehr::machine
