#include "runtime/methods/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lehr {
namespace {

using State = std::vector<std::vector<double>>;

constexpr StartKind kKinds[] = {StartKind::seeds, StartKind::flat, StartKind::points, StartKind::allocations,
                                StartKind::means};
constexpr std::int64_t kFirstRung = 5, kSecondRung = 20;  // sweeps of an arm by then
constexpr double kMemory = 1e9;                           // bytes of all states that are kept
constexpr double kSame = 1e-11;                           // relative difference of the ELBOs of arms that are one

struct Arm {
  std::size_t start;  // in the report
  State state;
  double elbo = 0;
  bool settled = false;
};

/// The best arm; the first one, so that the end is never below that of a plain run; and the best of the others with
/// kinds of start that are not among them yet.
std::vector<Arm> leaders_of(std::vector<Arm> arms, std::size_t n, const SearchReport& report) {
  std::vector<Arm> out;
  const auto kind = [&](const Arm& a) { return report.starts[a.start].kind; };
  const auto take = [&](const auto& wanted) {
    for (Arm& a : arms) {
      if (out.size() < n && !a.state.empty() && wanted(a)) out.push_back(std::exchange(a, {}));
    }
  };
  take([&](const Arm&) { return out.empty(); });
  take([&](const Arm& a) { return a.start == 0; });
  take([&](const Arm& a) { return std::ranges::none_of(out, [&](const Arm& b) { return kind(a) == kind(b); }); });
  take([](const Arm&) { return true; });
  return out;
}

class Race {
 public:
  Race(const Engine& e, const SearchOptions& o, const OnSweep& on_sweep, SearchReport& report)
      : e_(e), o_(o), on_sweep_(on_sweep), report_(report) {}

  /// The arms that are left, best first; none: an interrupt, or all have failed.
  std::vector<Arm> run(StartKind first) {
    std::vector<Arm> arms;
    enter(arms, first, o_.seed);
    const auto most = static_cast<std::size_t>(std::max(2.0, kMemory / bytes(e_.save())));
    for (std::int64_t k = 0; k < o_.starts && !stopped_; ++k) {
      for (const StartKind kind : kKinds) {
        if ((k == 0 && kind == first) || stopped_ || arms.size() >= most || has_one_optimum(arms)) continue;
        const std::uint64_t seed = o_.seed + 7919 * static_cast<std::uint64_t>(k);
        if (const std::int32_t status = e_.restart(seed, kind); status == 0 && prepare_statistics(e_) == 0)
          enter(arms, kind, seed);
      }
    }
    keep(arms, (arms.size() + 1) / 2);
    for (Arm& a : arms) {
      e_.load(a.state);
      if (a.settled || stopped_) continue;
      if (prepare_statistics(e_) != 0 || !sweeps(a, kSecondRung - kFirstRung)) a.elbo = NAN;
    }
    keep(arms, arms.size());
    arms = leaders_of(std::move(arms), static_cast<std::size_t>(o_.leaders), report_);
    for (const Arm& a : arms)
      report_.starts[a.start].leader = true;
    return arms;
  }

 private:
  static double bytes(const State& s) {
    double out = 1;
    for (const std::vector<double>& x : s)
      out += 8.0 * static_cast<double>(x.size());
    return out;
  }

  void enter(std::vector<Arm>& arms, StartKind kind, std::uint64_t seed) {
    report_.starts.push_back({kind, seed, 0, NAN});
    Arm a{report_.starts.size() - 1, {}, 0};
    if (!sweeps(a, kFirstRung)) return;
    const bool same = std::ranges::any_of(
        arms, [&](const Arm& b) { return std::abs(a.elbo - b.elbo) <= kSame * (1 + std::abs(b.elbo)); });
    report_.starts[a.start].same = same;
    if (!same) arms.push_back(std::move(a));
  }

  /// False: the arm has failed.
  bool sweeps(Arm& a, std::int64_t n) {
    SearchReport::Start& start = report_.starts[a.start];
    Outcome checked;
    Elbo elbo;
    Settling settling(e_, o_.tolerance);
    for (std::int64_t k = 0; k < n && !stopped_ && !a.settled; ++k) {
      start.elbo = NAN;
      if (sweep(e_, o_) != 0 || e_.elbo(elbo) != 0 || !check_elbo(elbo.value, checked)) return false;
      ++start.sweeps;
      ++report_.sweeps;
      a.elbo = start.elbo = elbo.value;
      a.settled = settling.settled(elbo.value);
      stopped_ = !on_sweep_({report_.sweeps, elbo.value, 1, elbo.value});
    }
    a.state = e_.save();
    return true;
  }

  /// Several arms have settled, and all that were seen are the same.
  bool has_one_optimum(const std::vector<Arm>& arms) const {
    constexpr std::size_t kEnough = 3;
    return arms.size() == 1 && arms[0].settled && report_.starts.size() >= kEnough;
  }

  static void keep(std::vector<Arm>& arms, std::size_t n) {
    std::erase_if(arms, [](const Arm& a) { return std::isnan(a.elbo); });
    std::ranges::stable_sort(arms, [](const Arm& a, const Arm& b) { return a.elbo > b.elbo; });
    if (arms.size() <= n) return;
    // The first start goes on in any case.
    const auto first = std::ranges::find(arms, std::size_t{0}, &Arm::start);
    if (first != arms.end() && first - arms.begin() >= static_cast<std::ptrdiff_t>(n))
      std::iter_swap(first, arms.begin() + static_cast<std::ptrdiff_t>(n) - 1);
    arms.resize(n);
  }

  const Engine& e_;
  const SearchOptions& o_;
  const OnSweep& on_sweep_;
  SearchReport& report_;
  bool stopped_ = false;
};

}  // namespace

Outcome run_search(const Engine& e, const SearchOptions& o, StartKind first, const OnSweep& on_sweep,
                   SearchReport& report) {
  Outcome out;
  const PlainAtEnd plain{e};
  e.set({});
  if (const std::int32_t status = prepare_statistics(e)) return failure(e, status, out);
  const State begin = e.save();
  const auto counted = [&](const SweepReport& s) {
    SweepReport later = s;
    later.iteration += report.sweeps;
    return on_sweep(later);
  };
  // The iterations of the outcome are those of all arms.
  const auto run = [&](const auto& method) {
    out = method();
    report.sweeps += out.iterations;
    out.iterations = report.sweeps;
  };
  std::vector<Arm> leaders = Race(e, o, on_sweep, report).run(first);
  if (leaders.empty()) {
    // Every start fails: the plain run says how.
    e.load(begin);
    run([&] { return run_cavi(e, o, counted); });
    return out;
  }
  State best;
  double best_elbo = -INFINITY;
  for (Arm& a : leaders) {
    e.load(a.state);
    const std::int64_t before = report.sweeps;
    run([&] { return run_cavi(e, o, counted); });
    report.starts[a.start].sweeps += report.sweeps - before;
    report.starts[a.start].elbo = out.elbo;
    if (out.status != Status::numerical_failure && out.elbo > best_elbo) {
      best = e.save();
      best_elbo = out.elbo;
    }
    if (out.status == Status::interrupted) break;
  }
  if (best.empty()) return out;
  e.load(best);
  if (out.status == Status::interrupted) {
    out.elbo = best_elbo;
    return out;
  }
  run([&] { return run_auto(e, o, counted, report); });
  return out;
}

}  // namespace lehr
