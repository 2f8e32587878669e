// Edits of components, axis by axis. An array with a component axis is [outer, n, inner] in memory; the slice of
// component k is every run of `inner` numbers at k * inner. Proportions of items (Dirichlet concentrations) are edited
// above the smallest entry of a row, which is the prior's part.
#include "runtime/search/component_edits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace lehr {
namespace {

using Kind = ComponentArray::Kind;

/// The layout of an array along one component axis: [outer, n, inner].
struct Strides {
  std::size_t outer = 1, n = 1, inner = 1;

  Strides(const Engine& e, const ComponentArray& a, std::size_t axis) {
    const machine::BufferRow& row = e.model().buffers[a.buffer];
    for (std::int64_t k = 0; k < row.axes; ++k) {
      const auto extent = static_cast<std::size_t>(e.extent(e.model().axes[row.first_axis + k]));
      const auto at = static_cast<std::size_t>(k);
      (at < axis ? outer : at == axis ? n : inner) *= extent;
    }
  }

  /// Calls body(position of component 0) for each slice entry; that of component k is k * inner further.
  template <class Body>
  void each(const Body& body) const {
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < inner; ++i)
        body(o * n * inner + i);
    }
  }
};

/// Calls body(layout, numbers) for each component axis of an array.
template <class Body>
void each_axis(const Engine& e, const ComponentArray& a, const Body& body) {
  for (const std::size_t axis : a.axes) {
    const Strides s(e, a, axis);
    body(s, e.reals(a.buffer));
  }
}

/// Calls body(smallest entry, numbers, position of component 0, inner) for each row of proportions.
template <class Body>
void each_proportion(const Engine& e, const ComponentArray& a, const Body& body) {
  each_axis(e, a, [&](const Strides& s, std::span<double> x) {
    s.each([&](std::size_t at) {
      double least = x[at];
      for (std::size_t k = 1; k < s.n; ++k)
        least = std::min(least, x[at + k * s.inner]);
      body(least, x, at, s.inner);
    });
  });
}

/// Returns true if an array adds up over elements, so that slices of merged components are added.
bool is_sum(Kind k) { return k == Kind::statistic || k == Kind::responsibility || k == Kind::pair; }

/// Recomputes the expected statistics of the items' factors if proportions were edited. Returns a status.
std::int32_t follow_proportions(const Engine& e, const Components& c) {
  const bool any = std::ranges::any_of(c.arrays, [](const ComponentArray& a) { return a.kind == Kind::proportion; });
  return any ? machine::call_on_stored(e.machine(), e.model().expectations) : 0;
}

/// Normalises probabilities after a component was removed; a row without any other probability becomes uniform.
void normalise(const Engine& e, const ComponentArray& a, std::size_t removed) {
  each_axis(e, a, [&](const Strides& s, std::span<double> x) {
    s.each([&](std::size_t at) {
      double total = 0;
      for (std::size_t k = 0; k < s.n; ++k)
        total += x[at + k * s.inner];
      for (std::size_t k = 0; k < s.n; ++k) {
        double& p = x[at + k * s.inner];
        if (total > 1e-12) p /= total;
        else p = k == removed ? 0 : 1 / static_cast<double>(s.n - 1);
      }
    });
  });
}

/// Sets the slice of component k to zero.
void clear(const Engine& e, const ComponentArray& a, std::size_t k) {
  each_axis(e, a,
            [&](const Strides& s, std::span<double> x) { s.each([&](std::size_t at) { x[at + k * s.inner] = 0; }); });
}

/// Copies the slice of one component to another.
void copy(const Engine& e, const ComponentArray& a, std::size_t from, std::size_t to) {
  each_axis(e, a, [&](const Strides& s, std::span<double> x) {
    s.each([&](std::size_t at) { x[at + to * s.inner] = x[at + from * s.inner]; });
  });
}

/// Renumbers the components: component k becomes the one that was order[k].
void permute(const Engine& e, const ComponentArray& a, const std::vector<std::size_t>& order) {
  std::vector<double> before(order.size());
  each_axis(e, a, [&](const Strides& s, std::span<double> x) {
    s.each([&](std::size_t at) {
      for (std::size_t k = 0; k < s.n; ++k)
        before[k] = x[at + k * s.inner];
      for (std::size_t k = 0; k < s.n; ++k)
        x[at + k * s.inner] = before[order[k]];
    });
  });
}

/// Renumbers the components so that k is the last and the others keep their order.
void move_last(const Engine& e, const Components& c, std::size_t k) {
  std::vector<std::size_t> order(c.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(k), order.begin() + static_cast<std::ptrdiff_t>(k) + 1,
              order.end());
  for (const ComponentArray& a : c.arrays)
    permute(e, a, order);
}

}  // namespace

std::vector<double> component_sizes(const Engine& e, const Components& c) {
  return e.recorded([&] {
    std::vector<double> out(c.count, 0.0);
    const ComponentArray& a = c.counts.front();
    if (a.kind != Kind::statistic) e.gather();
    const Strides s(e, a, a.axes.front());
    const std::span<const double> x = e.reals(a.buffer);
    s.each([&](std::size_t at) {
      for (std::size_t k = 0; k < s.n; ++k)
        out[k] += x[at + k * s.inner];
    });
    return out;
  });
}

bool stick_sums_agree(const Engine& e, const Components& c) {
  const auto agrees = [&](const auto& h) {
    const std::span<const double> head = e.reals(h.first), whole = e.reals(h.second);
    for (std::size_t i = 0; i < head.size(); ++i) {
      if (std::abs(head[i] - whole[i]) > 1e-9 * (1 + std::abs(whole[i]))) return false;
    }
    return true;
  };
  return e.recorded([&] { return std::ranges::all_of(c.stick_sums, agrees); });
}

void move_slice(const Engine& e, const ComponentArray& a, std::size_t from, std::size_t to, double fraction) {
  each_axis(e, a, [&](const Strides& s, std::span<double> x) {
    s.each([&](std::size_t at) {
      const double moved = fraction * x[at + from * s.inner];
      x[at + to * s.inner] += moved;
      x[at + from * s.inner] -= moved;
    });
  });
}

std::vector<double> slice_of(const Engine& e, const ComponentArray& a, std::size_t k) {
  std::vector<double> out;
  each_axis(e, a, [&](const Strides& s, std::span<double> x) {
    s.each([&](std::size_t at) { out.push_back(x[at + k * s.inner]); });
  });
  return out;
}

std::int32_t merge(const Engine& e, const Components& c, std::size_t from, std::size_t to) {
  for (const ComponentArray& a : c.arrays) {
    if (a.kind != Kind::proportion) continue;
    each_proportion(e, a, [&](double least, std::span<double> x, std::size_t at, std::size_t inner) {
      x[at + to * inner] += x[at + from * inner] - least;
      x[at + from * inner] = least;
    });
  }
  if (const std::int32_t status = follow_proportions(e, c)) return status;
  for (const ComponentArray& a : c.arrays) {
    if (is_sum(a.kind)) move_slice(e, a, from, to);
  }
  if (c.distinguished) move_last(e, c, from);
  return 0;
}

std::int32_t remove(const Engine& e, const Components& c, std::size_t k) {
  for (const ComponentArray& a : c.arrays) {
    if (a.kind != Kind::proportion) continue;
    each_proportion(
        e, a, [&](double least, std::span<double> x, std::size_t at, std::size_t inner) { x[at + k * inner] = least; });
  }
  if (const std::int32_t status = follow_proportions(e, c)) return status;
  for (const ComponentArray& a : c.arrays) {
    if (is_sum(a.kind)) clear(e, a, k);
    if (a.kind == Kind::responsibility) normalise(e, a, k);
  }
  return 0;
}

std::vector<std::size_t> by_size(const std::vector<double>& masses) {
  std::vector<std::size_t> out(masses.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, std::greater{}, [&](std::size_t k) { return masses[k]; });
  return out;
}

std::int32_t copy_component(const Engine& e, const Components& c, std::size_t from, std::size_t to) {
  for (const ComponentArray& a : c.arrays) {
    if (a.kind == Kind::factor) copy(e, a, from, to);
    if (a.kind != Kind::proportion) continue;
    each_proportion(e, a, [&](double least, std::span<double> x, std::size_t at, std::size_t inner) {
      const double half = (x[at + from * inner] - least) / 2;
      x[at + to * inner] += half;
      x[at + from * inner] -= half;
    });
  }
  return follow_proportions(e, c);
}

std::int32_t update_from_sums(const Engine& e, const Components& c) {
  e.invalidate_sums();
  if (c.ordered) {
    const std::vector<std::size_t> order = by_size(component_sizes(e, c));
    for (const ComponentArray& a : c.arrays)
      permute(e, a, order);
  }
  for (const auto& [head, whole] : c.stick_sums)
    std::ranges::copy(e.reals(whole).first(e.reals(head).size()), e.reals(head).begin());
  // Two rounds, because the factors of a component depend on each other.
  for (int round = 0; round < 2; ++round) {
    for (const StepRow& step : e.steps()) {
      if (step.stage || step.local) continue;
      if (const std::int32_t status = e.call(step.update)) return status;
    }
  }
  return 0;
}

std::int32_t sum_items(const Engine& e, const SweepOptions& o, const StepRow& stage,
                       std::span<const std::int64_t> items) {
  e.gather();
  machine::Machine m = e.machine();
  m.accuracy = {o.local_iterations, o.local_tolerance};
  for (const std::int64_t b : machine::statistics_of(e.model(), stage))
    std::ranges::fill(e.reals(b), 0.0);
  for (const std::int64_t i : items) {
    if (const std::int32_t status = machine::run_items(m, stage.update, {i, i + 1}, m.table)) return status;
  }
  return 0;
}

}  // namespace lehr
