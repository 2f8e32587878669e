// The race of random starts. A candidate makes kFirstRung sweeps from each start; the better half goes on to
// kSecondRung. Candidates with equal ELBOs have found the same solution and count once. The states of all candidates
// are stored, as many as memory allows.
#include "runtime/search/race.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/search/random_start.h"

namespace lehr {
namespace {

constexpr StartKind kRacedKinds[] = {StartKind::seeds, StartKind::flat, StartKind::points, StartKind::allocations,
                                     StartKind::means};
constexpr std::int64_t kFirstRung = 5, kSecondRung = 14;  // sweeps of a candidate after the first and the second stage
constexpr double kMaxStateBytes = 1e9;                    // most bytes of all stored states
constexpr double kSameSolution = 1e-11;  // relative difference of ELBOs that count as the same solution

/// Returns true if a start of this kind draws the same as one of kind StartKind::means: it is another kind, and there
/// are no values that it could assign.
bool is_like_means(const machine::Model& m, StartKind kind) {
  if (kind == StartKind::means || kind == StartKind::flat) return false;
  for (const StepRow& step : machine::steps_of(m)) {
    if (step.stage && !step.refresh && step.picks > 0) return false;
  }
  return std::ranges::none_of(machine::parameters_of(m), [&](const machine::ParameterRow& row) {
    const bool bits = row.parameter == machine::Parameter::p && row.support == machine::Support::bit;
    const bool chains = row.parameter == machine::Parameter::probs && row.chain;
    return (!row.streamed && row.local && !row.auxiliary && (chains || (bits && kind == StartKind::allocations))) ||
           (kind == StartKind::points && is_placed_in_clusters(m, row));
  });
}

/// Sorts the remaining candidates, which come best first, into the order in which they should converge.
std::vector<Candidate> in_order(std::vector<Candidate> candidates, const SearchReport& report) {
  std::vector<Candidate> out;
  const auto kind = [&](const Candidate& a) { return report.starts[a.start].kind; };
  const auto take = [&](const auto& wanted) {
    for (Candidate& a : candidates) {
      if (a.state && wanted(a)) out.push_back(std::exchange(a, {}));
    }
  };
  take([&](const Candidate&) { return out.empty(); });
  take([&](const Candidate& a) { return a.start == 0; });
  take([&](const Candidate& a) {
    return std::ranges::none_of(out, [&](const Candidate& b) { return kind(a) == kind(b); });
  });
  take([](const Candidate&) { return true; });
  return out;
}

/// One race.
class Race {
 public:
  Race(const Engine& e, const SearchOptions& o, const OnSweep& on_sweep, SearchReport& report)
      : e_(e), o_(o), report_(report), sweeps_(e, on_sweep, report) {}

  /// Runs the race; see race() for the result.
  std::vector<Candidate> run(StartKind first, std::int64_t round, std::vector<Candidate> begun) {
    std::vector<Candidate> candidates;
    const bool converged = !report_.starts.empty();  // the first start, before the race
    if (round == 0 && !converged) enter(candidates, begin(first, o_.seed));
    const auto most = static_cast<std::size_t>(std::max(2.0, kMaxStateBytes / bytes()));
    for (std::int64_t k = round * o_.starts; k < (round + 1) * o_.starts && !sweeps_.stopped(); ++k) {
      for (const StartKind kind : kRacedKinds) {
        if ((k == 0 && kind == first) || sweeps_.stopped() || candidates.size() >= most ||
            has_one_optimum(candidates) || is_like_means(e_.model(), kind))
          continue;
        const std::uint64_t seed = seed_of_starts(o_, k);
        const auto same = [&](const Candidate& a) {
          const SearchReport::Start& start = report_.starts[a.start];
          return start.kind == kind && start.seed == seed;
        };
        if (const auto at = std::ranges::find_if(begun, same); at != begun.end()) {
          e_.load(at->state);
          enter(candidates, std::move(*at));
          begun.erase(at);
        } else if (e_.restart(seed, kind) == 0) {
          enter(candidates, begin(kind, seed));
        }
      }
    }
    keep(candidates, (candidates.size() + (round == 0 && converged ? 0 : 1)) / 2);
    for (Candidate& a : candidates) {
      if (a.run->converged() || sweeps_.stopped()) continue;
      e_.load(a.state);
      if (!make(a, kSecondRung)) a.elbo = NAN;
    }
    keep(candidates, candidates.size());
    return in_order(std::move(candidates), report_);
  }

 private:
  /// Returns the bytes that a stored candidate takes: its state and a snapshot of its parameters.
  double bytes() const {
    double out = 1;
    for (const std::int64_t b : e_.state_buffers())
      out += 8.0 * static_cast<double>(e_.reals(b).size());
    for (const std::int64_t b : e_.global_buffers())
      out += 8.0 * static_cast<double>(e_.reals(b).size());
    return out;
  }

  /// Returns a candidate at the start in place, of this kind and seed.
  Candidate begin(StartKind kind, std::uint64_t seed) {
    report_.starts.push_back({kind, seed, 0, NAN});
    return {report_.starts.size() - 1, {}, 0, std::make_unique<CaviRun>(e_, o_)};
  }

  /// Adds a candidate, whose state is in place, after its first sweeps, unless it fails or equals another.
  void enter(std::vector<Candidate>& candidates, Candidate a) {
    if (!make(a, kFirstRung)) return;
    const bool same = std::ranges::any_of(candidates, [&](const Candidate& b) {
      return std::abs(a.elbo - b.elbo) <= kSameSolution * (1 + std::abs(b.elbo));
    });
    report_.starts[a.start].same = same;
    if (!same) candidates.push_back(std::move(a));
  }

  /// Continues a candidate, whose state is in place, until it has made `until` sweeps. One that has made more is judged
  /// by its ELBO after so many. Returns false if it has failed.
  bool make(Candidate& a, std::int64_t until) {
    const auto sweeps = static_cast<std::size_t>(until);
    if (a.elbos.size() <= sweeps && !sweeps_.make(a, until)) return false;
    if (a.elbos.size() > sweeps) a.elbo = a.elbos[sweeps - 1];
    return true;
  }

  /// Returns true if several starts have led to one solution, and none to another.
  bool has_one_optimum(const std::vector<Candidate>& candidates) const {
    constexpr std::size_t kEnough = 3;
    return candidates.size() == 1 && candidates[0].run->converged() && report_.starts.size() >= kEnough;
  }

  /// Removes failed candidates, sorts the others by ELBO, and keeps the best `n`.
  static void keep(std::vector<Candidate>& candidates, std::size_t n) {
    std::erase_if(candidates, [](const Candidate& a) { return std::isnan(a.elbo); });
    std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) { return a.elbo > b.elbo; });
    if (candidates.size() <= n) return;
    // The start in place at the beginning always goes on, beside the best, so that the search is never worse than a
    // plain run.
    const auto first = std::ranges::find(candidates, std::size_t{0}, &Candidate::start);
    if (first != candidates.end() && first - candidates.begin() >= static_cast<std::ptrdiff_t>(n)) {
      n = std::max<std::size_t>(n, 2);
      std::iter_swap(first, candidates.begin() + static_cast<std::ptrdiff_t>(n) - 1);
    }
    candidates.resize(n);
  }

  const Engine& e_;
  const SearchOptions& o_;
  SearchReport& report_;
  CandidateSweeps sweeps_;
};

}  // namespace

bool CandidateSweeps::make(Candidate& a, std::int64_t until) {
  SearchReport::Start& start = report_.starts[a.start];
  start.elbo = NAN;
  const Outcome& out = a.run->go_on(until, [&](const SweepReport& s) {
    ++start.sweeps;
    ++report_.sweeps;
    a.elbos.push_back(s.elbo);
    stopped_ = !on_sweep_({report_.sweeps, s.elbo, 1, s.elbo}) || stopped_;
    return !stopped_;
  });
  if (out.status == Status::numerical_failure) return false;
  a.elbo = start.elbo = out.elbo;
  a.state = e_.snapshot_state();
  return true;
}

std::vector<Candidate> race(const Engine& engine, const SearchOptions& options, StartKind first, std::int64_t round,
                            const OnSweep& on_sweep, SearchReport& report, std::vector<Candidate> begun) {
  return Race(engine, options, on_sweep, report).run(first, round, std::move(begun));
}

}  // namespace lehr
