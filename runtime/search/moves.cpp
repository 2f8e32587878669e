// Moves of components. A round tries to sort, merge, remove and split components; rounds go on until one accepts
// nothing.
//
// Many merges are possible, so they are first scored: the ELBO right after the edit, without a sweep. It is a
// pessimistic estimate, because the items' entropies are still those of two components; but it ranks the merges, and
// only the best few are tried with sweeps. If there are too many pairs even for that, only those with similar
// statistics are scored.
#include "runtime/search/moves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "runtime/inference/geometric.h"
#include "runtime/search/component_edits.h"
#include "runtime/search/divide.h"
#include "runtime/search/split.h"

namespace lehr {
namespace {

using Kind = ComponentArray::Kind;

constexpr std::size_t kPairs = 60;           // most merges that are scored in one round
constexpr std::size_t kMergeTries = 5;       // of these, merges that are tried with sweeps
constexpr std::size_t kLaterTries = 2;       // the same in later rounds
constexpr std::int64_t kUntilFirstMove = 6;  // divides the sweeps that are available until a move is accepted
constexpr std::int64_t kSharesOfSplits = 3;  // of these sweeps, with splits, if a component of a fixed number is empty
constexpr std::int64_t kTrial = 40;          // most sweeps of a trial
constexpr double kGain = 1e-6;               // least gain of an accepted move, relative to the ELBO
constexpr double kLittle = 1e-7;             // relative gain of a sweep at which an accepted move has converged enough
constexpr double kEmpty = 0.5;               // expected number of elements below which a component counts as empty

/// Thrown when the callback stops the run; never leaves this file.
struct Interrupted {};

/// Returns true if any move was accepted.
bool has_gained(const MoveReport& r) {
  return r.merges.accepted + r.removals.accepted + r.splits.accepted + r.orders.accepted > 0;
}

/// The moves of the components of one plate.
class Mover {
 public:
  Mover(const Engine& e, const MoveOptions& o, const Components& c, const OnSweep& on_sweep, MoveReport& report,
        Outcome& out)
      : e_(e), o_(o), c_(c), on_sweep_(on_sweep), report_(report), out_(out), rng_(o.seed, 0x30E5) {}

  /// Runs rounds of all moves until one accepts none; leaves the best state in place.
  void run() {
    best_ = e_.snapshot_state();
    elbo_ = out_.elbo;
    masses_ = component_sizes(e_, c_);
    if (!stick_sums_agree(e_, c_)) return;
    report_.plates.push_back(c_.name);
    try {
      while (has_sweeps()) {
        const bool ordered = order();
        const bool merged = merges(), removed = !c_.distinguished && removals(), split = !c_.distinguished && splits();
        if (!ordered && !merged && !removed && !split) break;
        first_ = false;
      }
    } catch (const Interrupted&) {
      out_.status = Status::interrupted;
    }
    e_.load(best_);
    out_.elbo = elbo_;
  }

 private:
  /// Returns true if sweeps are left for another move, up to `shares` times the sweeps until a first one is accepted.
  bool has_sweeps(std::int64_t shares = 1) const {
    return report_.sweeps < (has_gained(report_) ? o_.most_sweeps : shares * (o_.most_sweeps / kUntilFirstMove));
  }
  /// Returns true if a component of a fixed number is empty: it was asked for, and a split is likely to find its part.
  bool has_spare_component() const {
    return !c_.ordered && std::ranges::any_of(masses_, [](double m) { return m < kEmpty; });
  }
  /// Returns how many moves of a kind a round tries.
  std::size_t tries() const { return first_ ? kMergeTries : kLaterTries; }
  /// Returns the ELBO that a move must gain, in nats: more than plain sweeps would still gain.
  double margin() const { return kGain * (1 + std::abs(elbo_)); }

  /// Computes the ELBO. Returns false if it fails or is impossible.
  bool bound(double& value) const {
    Elbo elbo;
    if (e_.elbo(elbo) != 0 || !machine::is_possible(elbo.value)) return false;
    value = elbo.value;
    return true;
  }

  /// Makes one sweep and computes its ELBO. Returns false if either fails; throws Interrupted if the callback stops.
  bool step(double& value) {
    if (sweep(e_, o_) != 0 || !bound(value)) return false;
    ++report_.sweeps;
    if (!on_sweep_({report_.sweeps, value, 1, value})) throw Interrupted{};
    return true;
  }

  /// Sweeps an edited state. Returns true as soon as it beats the best by margin(). Returns false when the geometric
  /// series of its gains, times 3, cannot reach the best.
  bool rises() {
    double previous = 0, gain = 0, value = 0;
    for (std::int64_t k = 0; k < kTrial; ++k) {
      if (!step(value)) return false;
      if (value > elbo_ + margin()) return true;
      if (k >= 2) {
        const double ratio = std::clamp((value - previous) / std::max(gain, 1e-300), 0.0, 0.95);
        if (value + 3 * tail_after(value - previous, ratio) < elbo_) return false;
      }
      gain = k > 0 ? value - previous : INFINITY;
      previous = value;
    }
    return false;
  }

  /// Accepts the state in place as the best, after further sweeps until one gains little.
  void keep() {
    double value = 0;
    bound(value);
    for (std::int64_t k = 0; k < kTrial; ++k) {
      best_ = e_.snapshot_state();
      const double before = elbo_ = value;
      if (!step(value) || value - before <= kLittle * (1 + std::abs(before))) break;
    }
    if (value > elbo_) {
      best_ = e_.snapshot_state();
      elbo_ = value;
    } else {
      e_.load(best_);
    }
    masses_ = component_sizes(e_, c_);
    memberships_.clear();
    scored_.clear();
  }

  /// Makes an edit and completes it. Returns false if the generated code fails.
  template <class Edit>
  bool edit_succeeds(const Edit& edit) const {
    return e_.recorded([&] { return edit() == 0 && update_from_sums(e_, c_) == 0; });
  }

  /// Tries a move from the best state: edit, trial sweeps, accept or not. Returns true if it was accepted.
  template <class Edit>
  bool attempt(MoveReport::Kind& kind, const Edit& edit) {
    ++kind.tried;
    e_.load(best_);
    if (!edit_succeeds(edit) || !rises()) return false;
    ++kind.accepted;
    keep();
    return true;
  }

  /// Returns the components that are not empty, by size.
  std::vector<std::size_t> occupied() const {
    std::vector<std::size_t> out = by_size(masses_);
    std::erase_if(out, [&](std::size_t k) { return masses_[k] < kEmpty; });
    return out;
  }

  /// A possible merge; its score is better if higher, or, in pairs(), if lower.
  struct Pair {
    std::size_t from, to;
    double score;
  };

  /// Tries to sort components with stick-breaking weights by size. Returns true if that is accepted.
  bool order() {
    const bool sorted =
        std::ranges::adjacent_find(masses_, [](double a, double b) { return b > a + kEmpty; }) == masses_.end();
    if (!c_.ordered || sorted) return false;
    return attempt(report_.orders, [] { return 0; });
  }

  /// Returns pairs of non-empty components. If there are too many to be scored, it returns the nearest ones, by Ward's
  /// criterion (1963): the increase of the squared deviations from the component mean, here of the mean statistics.
  std::vector<Pair> pairs() const {
    if (c_.distinguished) return neighbours();
    const std::vector<std::size_t> in = occupied();
    std::vector<Pair> out;
    for (std::size_t a = 0; a < in.size(); ++a) {
      for (std::size_t b = a + 1; b < in.size(); ++b)
        out.push_back({in[b], in[a], 0});
    }
    if (out.size() <= kPairs) return out;
    const std::vector<std::vector<double>> means = means_of(in);
    for (Pair& p : out) {
      const double weight = masses_[p.from] * masses_[p.to] / (masses_[p.from] + masses_[p.to]);
      for (std::size_t i = 0; i < means[p.to].size(); ++i)
        p.score += weight * (means[p.from][i] - means[p.to][i]) * (means[p.from][i] - means[p.to][i]);
    }
    std::ranges::stable_sort(out, {}, &Pair::score);
    out.resize(kPairs);
    return out;
  }

  /// Returns all pairs of neighbours of which at least one is not empty.
  std::vector<Pair> neighbours() const {
    std::vector<Pair> out;
    for (std::size_t k = 0; k + 1 < c_.count; ++k) {
      if (masses_[k] >= kEmpty || masses_[k + 1] >= kEmpty) out.push_back({k + 1, k, 0});
    }
    return out;
  }

  /// Returns the mean statistics of an element of each component, in units of their spread over the components.
  std::vector<std::vector<double>> means_of(const std::vector<std::size_t>& in) const {
    std::vector<std::vector<double>> out(c_.count);
    for (const ComponentArray& a : c_.arrays) {
      if (a.kind != Kind::statistic) continue;
      for (std::size_t k = 0; k < c_.count; ++k) {
        const std::vector<double> part = slice_of(e_, a, k);
        out[k].insert(out[k].end(), part.begin(), part.end());
      }
    }
    for (const std::size_t k : in) {
      for (double& x : out[k])
        x /= masses_[k];
    }
    for (std::size_t i = 0; i < out[0].size(); ++i) {
      double mean = 0, square = 0;
      for (const std::size_t k : in)
        mean += out[k][i] / static_cast<double>(in.size());
      for (const std::size_t k : in)
        square += (out[k][i] - mean) * (out[k][i] - mean);
      for (const std::size_t k : in)
        out[k][i] /= square > 0 ? std::sqrt(square) : 1;
    }
    return out;
  }

  /// Returns merges with their ELBO right after the edit, best first.
  std::vector<Pair> scored_pairs() {
    e_.load(best_);
    std::vector<Pair> out = e_.recorded([&] { return pairs(); });
    for (Pair& p : out) {
      e_.load(best_);
      const bool merged = edit_succeeds([&] { return merge(e_, c_, p.from, p.to); });
      if (!merged || !bound(p.score)) p.score = -INFINITY;
    }
    std::ranges::stable_sort(out, std::greater{}, &Pair::score);
    return out;
  }

  /// Tries the best merges, again after each one that is accepted. Returns true if any was accepted.
  bool merges() {
    bool any = false, again = true;
    while (again && has_sweeps()) {
      again = false;
      if (scored_.empty()) scored_ = scored_pairs();
      std::vector<Pair> candidates = scored_;
      if (candidates.size() > tries()) candidates.resize(tries());
      for (const Pair& p : candidates) {
        if (!has_sweeps()) break;
        again = attempt(report_.merges, [&] { return merge(e_, c_, p.from, p.to); });
        if (again) break;
      }
      any = any || again;
    }
    return any;
  }

  /// Tries to remove components, the smallest first. Returns true if one was accepted.
  bool removals() {
    bool any = false;
    std::vector<std::size_t> order = occupied();
    std::ranges::reverse(order);
    if (order.size() > tries()) order.resize(tries());
    for (const std::size_t k : order) {
      if (!has_sweeps() || occupied().size() < 2) break;
      any = attempt(report_.removals, [&] { return remove(e_, c_, k); }) || any;
    }
    return any;
  }

  /// Returns an empty component for the second half of a split; otherwise the one that the best merge empties. None if
  /// every merge would involve the component to be split.
  std::optional<SplitTarget> split_target(std::size_t split) {
    for (std::size_t k = 0; k < c_.count; ++k) {
      if (masses_[k] < kEmpty && k != split) return SplitTarget{k};
    }
    if (scored_.empty()) scored_ = scored_pairs();
    for (const Pair& p : scored_) {
      if (p.from != split && p.to != split) return SplitTarget{p.from, std::pair(p.from, p.to)};
    }
    return std::nullopt;
  }

  /// Tries to split every component that is large enough, in several ways. Returns true if any split was accepted.
  bool splits() {
    constexpr SplitRule kDivisions[] = {SplitRule::early, SplitRule::two_means, SplitRule::ball, SplitRule::half,
                                        SplitRule::few};
    bool any = false;
    const std::int64_t shares = has_spare_component() ? kSharesOfSplits : 1;
    for (const Allocation& a : c_.allocations) {
      const std::span<const SplitRule> divisions = std::span(kDivisions).subspan(a.chain ? 0 : 1);
      for (const std::size_t k : by_size(masses_)) {
        for (std::int64_t n = 0;
             n < (first_ ? o_.splits : (o_.splits + 1) / 2) && has_sweeps(shares) && masses_[k] > 2 * kEmpty; ++n) {
          if (!split(a, k, divisions[static_cast<std::size_t>(n) % divisions.size()])) continue;
          any = true;
          n = -1;
        }
      }
    }
    return any;
  }

  /// Tries one way of splitting component k. Returns true if it was accepted.
  bool split(const Allocation& a, std::size_t k, SplitRule division) {
    if (!memberships_.contains(&a)) {
      e_.load(best_);
      Rng rng = rng_;
      memberships_[&a] = e_.snapshot([&] { return memberships_of(e_, o_, c_, a, rng); });
      rng_ = e_.recorded([&] { return rng; });
    }
    std::vector<std::int64_t> part;
    struct Drawn {
      bool any;
      Rng rng;
    };
    const Drawn drawn = e_.recorded([&] {
      Rng rng = rng_;
      part = smaller_part(members_of(*memberships_[&a], k, c_, elements_of(e_, c_, a)), features(a), division, rng);
      return Drawn{!part.empty(), rng};
    });
    rng_ = drawn.rng;
    if (!drawn.any) return false;
    const std::optional<SplitTarget> target = split_target(k);
    if (!target) return false;
    return attempt(report_.splits, [&] { return divide(e_, o_, c_, a, *best_, k, *target, part); });
  }

  /// Returns the features of the elements of an allocation; computes them once.
  const Features& features(const Allocation& a) {
    const auto at = static_cast<std::size_t>(&a - c_.allocations.data());
    features_.resize(c_.allocations.size());
    if (!features_[at]) features_[at] = a.features ? a.features() : Features{};
    return *features_[at];
  }

  const Engine& e_;
  const MoveOptions& o_;
  const Components& c_;
  const OnSweep& on_sweep_;
  MoveReport& report_;
  Outcome& out_;
  Rng rng_;
  Snapshot best_;
  double elbo_ = 0;
  bool first_ = true;                                  // true: the first round
  std::vector<double> masses_;                         // expected elements of each component in the best state
  std::map<const Allocation*, Snapshot> memberships_;  // in the best state, by allocation, as far as computed
  std::vector<Pair> scored_;                           // merges of the best state, best first; empty: not scored yet
  std::vector<std::optional<Features>> features_;
};

/// Returns true if components have stored probabilities of items, which sweeps without SweepOptions::item_parameters do
/// not write.
bool has_responsibilities(const Components& c) {
  return std::ranges::any_of(c.arrays,
                             [](const ComponentArray& a) { return a.kind == ComponentArray::Kind::responsibility; });
}

}  // namespace

Outcome run_moves(const Engine& e, const MoveOptions& o, const std::vector<Components>& components, Outcome converged,
                  const OnSweep& on_sweep, MoveReport& report) {
  const WeightsGuard plain{e};
  Outcome out = std::move(converged);
  out.tried = {};
  if (omits_item_parameters(e, o) && o.most_sweeps > 0 && std::ranges::any_of(components, has_responsibilities)) {
    Elbo elbo;
    if (evaluate(e, o, elbo) == 0) out.elbo = elbo.value;
  }
  report.before = out.elbo;
  for (const Components& c : components) {
    if (out.status != Status::interrupted && o.most_sweeps > 0) Mover(e, o, c, on_sweep, report, out).run();
  }
  out.iterations = report.sweeps;
  if (out.elbo <= report.before || out.status == Status::interrupted) return out;
  const Snapshot best = e.snapshot_state();
  const double elbo = out.elbo;
  const auto later = [&](SweepReport s) {
    s.iteration += report.sweeps;
    return on_sweep(s);
  };
  const Outcome finished = run_cavi(e, o, later);
  report.sweeps += finished.iterations;
  out.tried += finished.tried;
  if (finished.status == Status::numerical_failure) {
    e.load(best);
    out.elbo = elbo;
  } else {
    out.status = finished.status;
    out.elbo = finished.elbo;
    out.decreases += finished.decreases;
  }
  out.iterations = report.sweeps;
  return out;
}

}  // namespace lehr
