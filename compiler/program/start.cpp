#include "compiler/program/start.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/engine/sweep.h"

namespace lehr {
namespace {

using loops::ParameterSlot;

/// Items, or elements of chains, that each value of a category takes with StartKind::seeds.
constexpr std::size_t kSeedsPerValue = 3;

std::vector<std::size_t> random_order(std::size_t n, Rng& rng) {
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  shuffle(rng, order);
  return {order.begin(), order.end()};
}

bool is_positive(math::Support s) {
  return s == math::Support::positive || s == math::Support::unit || s == math::Support::simplex ||
         s == math::Support::spd_matrix;
}

/// A factor nobody knows anything about: 0 for means, the identity for matrices, 1 otherwise.
double standard(const ParameterSlot& slot, math::Support support, std::size_t entry, std::size_t extent) {
  if (slot.parameter == "value" && slot.event_rank < 2) {
    return support == math::Support::simplex    ? 1 / static_cast<double>(extent)
           : support == math::Support::unit     ? 0.5
           : support == math::Support::positive ? 1
                                                : 0;
  }
  if (slot.parameter == "mean") return 0;
  if (slot.parameter == "df") return static_cast<double>(extent) + 1;
  if (slot.parameter == "probs") return 1 / static_cast<double>(extent);
  if (slot.parameter == "p") return 0.5;
  if (slot.event_rank == 2) return (entry / extent) % extent == entry % extent ? 1 : 0;
  return 1;
}

class Starter {
 public:
  Starter(const Started& s, StartKind kind, Rng rng) : s_(s), kind_(kind), rng_(rng) {}

  std::int32_t run() {
    if (const std::int32_t status = s_.engine.call(s_.engine.initialise)) return status;
    for (const ParameterSlot& slot : slots()) {
      if (!slot.streamed) repair(slot);
    }
    for (const ParameterSlot& slot : slots()) {
      if (!slot.streamed && !slot.local) displace(slot);
    }
    // Nearly points: factors as wide as their priors would hide what their means say.
    for (const ParameterSlot& slot : slots()) {
      if (slot.parameter != "precision" || slot.local || slot.streamed || !sibling(slot, "mean")) continue;
      for (double& v : values(slot))
        v *= 100;
    }
    const bool stored = allocate_stored();
    if (const std::int32_t status = s_.engine.call(s_.engine.expectations)) return status;
    const bool picked = pick_items();
    if (!stored && !picked) return 0;
    if (const std::int32_t status = seed_statistics(s_.engine, stored)) return status;
    return update_globals(s_.engine);
  }

 private:
  const std::vector<ParameterSlot>& slots() const { return s_.lowered.interface.parameters; }
  std::span<double> values(const ParameterSlot& slot) const {
    return s_.engine.memory.reals(slot.buffer.index());
  }
  const model::Variable& variable(const ParameterSlot& slot) const { return s_.model[slot.variable]; }

  const ParameterSlot* sibling(const ParameterSlot& slot, std::string_view parameter) const {
    for (const ParameterSlot& other : slots()) {
      if (other.variable == slot.variable && other.parameter == parameter) return &other;
    }
    return nullptr;
  }

  std::size_t last_extent(const ParameterSlot& slot) const {
    const loops::Size& size = s_.lowered.program[s_.lowered.program[slot.buffer].axes.back()];
    return static_cast<std::size_t>(
        size.constant >= 0 ? size.constant : s_.engine.sizes[static_cast<std::size_t>(size.slot)]);
  }

  /// Factors of improper priors: the standard one.
  void repair(const ParameterSlot& slot) const {
    std::size_t extent = 1, per_element = 1;
    const model::Variable& var = variable(slot);
    if (slot.event_rank > 0) {
      extent = last_extent(slot);
      per_element = slot.event_rank == 2 ? extent * extent : extent;
    } else if (!var.event.empty()) {
      extent = static_cast<std::size_t>(s_.plate_sizes[s_.model[var.event[0]].set.index()]);
    }
    const std::span<double> x = values(slot);
    for (std::size_t e = 0; e + per_element <= x.size(); e += per_element) {
      bool proper = true;
      for (std::size_t i = 0; i < per_element; ++i) {
        const double v = x[e + i];
        const bool diagonal = slot.event_rank != 2 || i % (extent + 1) == 0;
        const bool any_sign =
            slot.parameter == "mean" || (slot.parameter == "value" && !is_positive(var.support));
        proper = proper && std::isfinite(v) && (any_sign || !diagonal || v > 0);
      }
      if (proper) continue;
      for (std::size_t i = 0; i < per_element; ++i)
        x[e + i] = standard(slot, var.support, i, extent);
    }
  }

  void displace(const ParameterSlot& slot) {
    const std::span<double> x = values(slot);
    const bool flat = kind_ == StartKind::flat;
    const double size = flat ? 0.1 : 1;
    if (slot.parameter == "value") {
      displace_point(slot, size);
    } else if (slot.parameter == "mean" && variable(slot).support == math::Support::spin) {
      for (double& v : x)
        v = 0.5 * size * (2 * draw_uniform(rng_) - 1);
    } else if (slot.parameter == "mean") {
      const ParameterSlot* precision = sibling(slot, "precision");
      const std::size_t extent = slot.event_rank == 1 ? last_extent(slot) : 1;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double sd = 1;
        if (precision) {
          const std::size_t at =
              slot.event_rank == 1 ? (i / extent) * extent * extent + (i % extent) * (extent + 1) : i;
          sd = 1 / std::sqrt(values(*precision)[at]);
        }
        x[i] += size * std::min(1.0, sd) * draw_normal(rng_);
      }
    } else if (slot.parameter == "rate" || (slot.parameter == "scale" && slot.event_rank == 0)) {
      for (double& v : x)
        v *= std::exp(0.3 * size * draw_normal(rng_));
    } else if (slot.parameter == "concentration" || slot.parameter == "a" || slot.parameter == "b") {
      // Flat: Gamma(100, rate 100) whatever the prior, as is usual for topics (Hoffman et al. 2013).
      for (double& v : x)
        v = flat ? draw_gamma(rng_, 100) / 100 : v + draw_exponential(rng_);
    } else if (slot.parameter == "p") {
      for (double& v : x)
        v = 0.5 + 0.5 * size * (draw_uniform(rng_) - 0.5);
    } else if (slot.parameter == "probs") {
      const std::size_t n = last_extent(slot);
      const std::vector<double> ones(n, flat ? 100.0 : 1.0);
      for (std::size_t i = 0; i + n <= x.size(); i += n)
        draw_dirichlet(rng_, ones, x.subspan(i, n));
    }
  }

  /// A point moves inside its support.
  void displace_point(const ParameterSlot& slot, double size) {
    const std::span<double> x = values(slot);
    const math::Support support = variable(slot).support;
    if (support == math::Support::real || support == math::Support::vector) {
      for (double& v : x)
        v += size * draw_normal(rng_);
    } else if (support == math::Support::positive) {
      for (double& v : x)
        v *= std::exp(0.3 * size * draw_normal(rng_));
    } else if (support == math::Support::unit) {
      for (double& v : x)
        v = 0.5 + 0.5 * size * (draw_uniform(rng_) - 0.5);
    } else if (support == math::Support::simplex) {
      const std::size_t extent = last_extent(slot);
      for (std::size_t e = 0; e + extent <= x.size(); e += extent) {
        double total = 0;
        for (double& v : x.subspan(e, extent))
          total += v *= std::exp(0.3 * size * draw_normal(rng_));
        for (double& v : x.subspan(e, extent))
          v /= total;
      }
    } else if (support == math::Support::bit || support == math::Support::spin) {
      for (double& v : x)
        v = draw_uniform(rng_) < 0.5 ? 1 : support == math::Support::bit ? 0 : -1;
    }
  }

  /// Elements of chains, and with StartKind::allocations other stored local categories and bits, get values;
  /// whether any did.
  bool allocate_stored() {
    if (kind_ == StartKind::means || kind_ == StartKind::flat) return false;
    bool any = false;
    for (const ParameterSlot& slot : slots()) {
      if (slot.streamed || !s_.schedule.local[slot.block.index()] || variable(slot).auxiliary) continue;
      const bool chain = s_.schedule.conditionals[slot.block].chain.has_value();
      if (slot.parameter == "probs" && chain) {
        allocate_chain(slot);
        any = true;
      } else if (kind_ == StartKind::allocations && slot.parameter == "p") {
        for (double& v : values(slot))
          v = draw_uniform(rng_) < 0.5 ? 0 : 1;
        any = true;
      }
    }
    return any;
  }

  void allocate_chain(const ParameterSlot& slot) {
    const std::span<double> probs = values(slot);
    const std::size_t n = last_extent(slot), elements = probs.size() / n;
    std::vector<std::int64_t> value(elements, -1);
    if (kind_ == StartKind::points)
      value = cluster(s_, variable(slot).axes, static_cast<std::int64_t>(n), rng_);
    if (kind_ == StartKind::allocations || value.size() != elements) {
      value.resize(elements);
      for (std::int64_t& v : value)
        v = static_cast<std::int64_t>(draw_below(rng_, n));
    } else if (kind_ == StartKind::seeds) {
      const std::vector<std::size_t> order = random_order(elements, rng_);
      for (std::size_t i = 0; i < std::min(elements, kSeedsPerValue * n); ++i)
        value[order[i]] = static_cast<std::int64_t>(i % n);
    }
    // Those without a value weigh as much as one together, so that points of what only they inform are
    // defined.
    std::ranges::fill(probs, 1 / static_cast<double>(probs.size()));
    for (std::size_t i = 0; i < elements; ++i) {
      if (value[i] < 0) continue;
      for (std::size_t k = 0; k < n; ++k)
        probs[i * n + k] = static_cast<std::int64_t>(k) == value[i] ? 1 : 0;
    }
  }

  /// Values for the local categories of the items; whether there are any.
  bool pick_items() {
    if (kind_ == StartKind::means || kind_ == StartKind::flat) return false;
    bool any = false;
    for (std::size_t turn = 0; turn < s_.engine.steps.size(); ++turn) {
      const auto* stage = std::get_if<EngineStage>(&s_.engine.steps[turn]);
      if (!stage || stage->refresh || stage->picks.empty()) continue;
      any = true;
      const auto items = static_cast<std::size_t>(stage->items);
      const std::vector<std::size_t> order = random_order(items, rng_);
      for (std::size_t k = 0; k < stage->picks.size(); ++k) {
        const std::span<std::int64_t> picks = s_.engine.memory.integers(stage->picks[k]);
        const auto n = static_cast<std::size_t>(stage->pick_sizes[k]);
        std::vector<std::int64_t> clusters;
        if (kind_ == StartKind::points && k == 0)
          clusters = cluster(s_, {stage_item(turn)}, stage->pick_sizes[0], rng_);
        for (std::size_t i = 0; i < items; ++i) {
          const bool in = kind_ != StartKind::seeds || stage->chains ||
                          i < kSeedsPerValue * static_cast<std::size_t>(stage->pick_sizes[0]);
          const bool dealt = k == 0 && kind_ == StartKind::seeds;
          std::int64_t& pick = picks[order[i]];
          pick = !in ? -1 : static_cast<std::int64_t>(dealt ? i % n : draw_below(rng_, n));
          if (!clusters.empty()) pick = clusters[order[i]];
        }
      }
    }
    return any;
  }

  model::PlateId stage_item(std::size_t turn) const {
    return std::get<loops::StageFunctions>(s_.lowered.interface.steps[s_.lowered.interface.sweep[turn].step])
        .item;
  }

  const Started& s_;
  StartKind kind_;
  Rng rng_;
};

}  // namespace

std::optional<StartKind> start_kind(std::string_view name) {
  const std::pair<std::string_view, StartKind> kinds[] = {{"seeds", StartKind::seeds},
                                                          {"means", StartKind::means},
                                                          {"allocations", StartKind::allocations},
                                                          {"points", StartKind::points},
                                                          {"flat", StartKind::flat}};
  for (const auto& [n, kind] : kinds) {
    if (n == name) return kind;
  }
  return std::nullopt;
}

std::int32_t random_start(const Started& s, StartKind kind, Rng rng) { return Starter(s, kind, rng).run(); }

}  // namespace lehr
