// The single-bond heat bath and its coupling from the past. Whether the ends of a bond are connected is found by
// alternating searches from both ends, which end with the smaller cluster.
#include "runtime/inference/samplers/random_cluster.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/rng.h"

namespace lehr {
namespace {

/// The number that stands for a time in the stream of the signs of clusters.
constexpr std::uint64_t kSigns = ~std::uint64_t{0};

/// Returns a stream for each pair of a sample and a time.
std::uint64_t stream_at(std::uint64_t stream, std::uint64_t time) { return Rng(stream, time).next(); }

}  // namespace

std::optional<RandomClusters> RandomClusters::make(const SpinPairs& pairs) {
  RandomClusters out;
  const std::int64_t ghost = pairs.spins;
  std::vector<SpinPairs::Bond> all = pairs.bonds;
  for (std::int64_t i = 0; i < pairs.spins; ++i)
    all.push_back({ghost, i, pairs.fields[static_cast<std::size_t>(i)]});
  out.bonds_of_.resize(static_cast<std::size_t>(pairs.spins) + 1);
  for (const SpinPairs::Bond& e : all) {
    if (e.coupling == 0 || e.a == e.b) continue;
    out.bonds_of_[static_cast<std::size_t>(e.a)].push_back(out.bonds_.size());
    out.bonds_of_[static_cast<std::size_t>(e.b)].push_back(out.bonds_.size());
    out.bonds_.push_back({e.a, e.b, e.coupling});
  }
  // Signs by a search from each spin, one after another, the ghost first: across a negative coupling the sign changes.
  out.signs_.assign(out.bonds_of_.size(), 0);
  for (std::int64_t first = ghost; first >= 0; --first) {
    if (out.signs_[static_cast<std::size_t>(first)] != 0) continue;
    out.signs_[static_cast<std::size_t>(first)] = 1;
    std::vector<std::int64_t> to_visit{first};
    while (!to_visit.empty()) {
      const std::int64_t i = to_visit.back();
      to_visit.pop_back();
      for (const std::size_t e : out.bonds_of_[static_cast<std::size_t>(i)]) {
        const Bond& bond = out.bonds_[e];
        const std::int64_t other = bond.a == i ? bond.b : bond.a;
        const double sign = out.signs_[static_cast<std::size_t>(i)] * (bond.p < 0 ? -1 : 1);
        double& theirs = out.signs_[static_cast<std::size_t>(other)];
        if (theirs == -sign) return std::nullopt;
        if (theirs == 0) to_visit.push_back(other);
        theirs = sign;
      }
    }
  }
  for (Bond& bond : out.bonds_)
    bond.p = -std::expm1(-2 * std::abs(bond.p));
  return out;
}

bool RandomClusters::connected(std::size_t bond, const std::vector<char>& open, Visits& visits) const {
  // A mark of this search is 2 k for one end and 2 k + 1 for the other; those of earlier searches are smaller.
  visits.last += 2;
  std::array<std::vector<std::int64_t>, 2>& found = visits.found;
  std::array<std::size_t, 2> next{0, 0};
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int64_t end = side == 0 ? bonds_[bond].a : bonds_[bond].b;
    found[side].assign(1, end);
    visits.marks[static_cast<std::size_t>(end)] = visits.last + side;
  }
  for (std::size_t side = 0;; side = 1 - side) {
    if (next[side] == found[side].size()) return false;  // the whole cluster of this end
    const std::int64_t i = found[side][next[side]++];
    for (const std::size_t e : bonds_of_[static_cast<std::size_t>(i)]) {
      if (e == bond || !open[e]) continue;
      const std::int64_t other = bonds_[e].a == i ? bonds_[e].b : bonds_[e].a;
      std::uint64_t& mark = visits.marks[static_cast<std::size_t>(other)];
      if (mark == visits.last + 1 - side) return true;
      if (mark == visits.last + side) continue;
      mark = visits.last + side;
      found[side].push_back(other);
    }
  }
}

RandomClusters::Run RandomClusters::run(std::uint64_t seed, std::uint64_t stream, std::int64_t back) const {
  std::vector<char> most(bonds_.size(), 1), least(bonds_.size(), 0);
  Visits visits;
  visits.marks.resize(bonds_of_.size());
  for (std::int64_t time = -back; time < 0; ++time) {
    Rng rng(seed, stream_at(stream, static_cast<std::uint64_t>(-time)));
    for (std::size_t e = 0; e < bonds_.size(); ++e) {
      const double p = bonds_[e].p, u = draw_uniform(rng);
      const auto opens = [&](const std::vector<char>& open) {
        // Between the two probabilities it opens only if its ends are connected without it.
        return u < p / (2 - p) || (u < p && connected(e, open, visits));
      };
      least[e] = opens(least);
      most[e] = least[e] || opens(most);
    }
  }
  Run out;
  for (std::size_t e = 0; e < bonds_.size(); ++e)
    out.undecided += most[e] != least[e];
  if (out.undecided > 0) return out;
  Rng rng(seed, stream_at(stream, kSigns));
  const std::size_t ghost = bonds_of_.size() - 1;
  out.spins.assign(bonds_of_.size(), 0);
  for (std::size_t first = bonds_of_.size(); first-- > 0;) {
    if (out.spins[first] != 0) continue;
    const double value = first == ghost || draw_uniform(rng) < 0.5 ? 1 : -1;
    std::vector<std::size_t> to_visit{first};
    out.spins[first] = value;
    while (!to_visit.empty()) {
      const std::size_t i = to_visit.back();
      to_visit.pop_back();
      for (const std::size_t e : bonds_of_[i]) {
        const auto other =
            static_cast<std::size_t>(bonds_[e].a == static_cast<std::int64_t>(i) ? bonds_[e].b : bonds_[e].a);
        if (!most[e] || out.spins[other] != 0) continue;
        out.spins[other] = value;
        to_visit.push_back(other);
      }
    }
  }
  out.spins.pop_back();
  for (std::size_t i = 0; i < out.spins.size(); ++i)
    out.spins[i] *= signs_[i];
  return out;
}

Outcome run_clusters(const Engine& e, const ExactOptions& o, const RandomClusters& clusters,
                     const std::function<void(const std::vector<double>&)>& place, const OnSweep& on_sweep,
                     const std::function<void(double)>& on_draw) {
  const auto run = [&](std::int64_t draw, std::int64_t back, double& undecided) {
    const auto stream = static_cast<std::uint64_t>(draw) + (o.chain << 32);
    undecided = static_cast<double>(e.recorded([&] {
      const RandomClusters::Run sample = clusters.run(o.seed, stream, back);
      if (sample.undecided == 0) place(sample.spins);
      return sample.undecided;
    }));
    return 0;
  };
  return coupled_draws(e, o, "bonds", run, on_sweep, on_draw);
}

}  // namespace lehr
