// The search. Search::all() has its order: agree, race, lead, more races while they are cheap, anneal, move. The best
// state is stored throughout and restored at the end, whatever the last step led to. If every start fails, a plain run
// from the first state gives the error message.
#include "runtime/search/search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/inference/improvement_bound.h"
#include "runtime/inference/saddle.h"
#include "runtime/search/agreement.h"
#include "runtime/search/item_sample.h"
#include "runtime/search/long_search.h"
#include "runtime/search/race.h"
#include "runtime/threshold.h"

namespace lehr {
namespace {

/// Operations of long sweeps, see long_sweep().
constexpr Threshold<double> kLongSweep("search.long_sweep", 1.5e7);
constexpr Threshold<double> kLongSweepOfMoves("search.long_sweep_of_moves", 2e8);
/// Operations of all sweeps of a search up to which spare candidates are annealed where leaders differ.
constexpr Threshold<double> kFewOperations("search.few_operations", 2e8);
constexpr std::int64_t kLengthsOfFew = 12;     // lengths of the best run up to which they are
constexpr std::int64_t kShortestArm = 10;      // least annealed sweeps of a candidate
constexpr double kArm = 0.3;                   // annealed sweeps of a candidate, in lengths of the best run
constexpr std::uint64_t kNextMelt = 15485863;  // difference of the seeds of successive melts
constexpr double kAgree = 1e-6;                // relative difference of ELBOs that count as the same solution
constexpr std::int64_t kFewestConfirming = 5;  // sweeps of other starts that may confirm a solution in any case
constexpr std::int64_t kRacesOfChoices = 8;    // further races where items make several choices
constexpr double kShortRaces = 2e8;            // operations of a search up to which these races are made

/// Returns true if an item has several discrete factors, such as a category and the part of a mixture, or some bits.
/// What a choice is worth then depends on the others, and moves of one at a time lead away from few solutions.
bool has_several_choices(const machine::Model& m) {
  std::int64_t choices = 0;
  for (const machine::ParameterRow& row : machine::parameters_of(m)) {
    if (!row.local || row.chain || row.auxiliary) continue;
    const bool bit = row.parameter == machine::Parameter::p && row.support == machine::Support::bit;
    if (bit && row.subject >= 0 && m.subjects[row.subject].axes > 1) ++choices;
    if (bit || row.parameter == machine::Parameter::probs) ++choices;
  }
  return choices > 1;
}

/// One search.
class Search {
 public:
  Search(const Engine& e, const SearchOptions& o, const OnSweep& on_sweep, SearchReport& report)
      : e_(e), o_(o), on_sweep_(on_sweep), report_(report) {}

  /// Does all of the work, from the start of the kind `first` that is in place.
  Outcome all(StartKind first) {
    const Snapshot begin = e_.snapshot_state();
    std::vector<Candidate> begun;
    if ((o_.one_optimum || o_.agreement) && agree(first, begun)) return out_;
    const std::int64_t before = report_.sweeps;
    std::vector<Candidate> candidates = race(e_, o_, first, 0, on_sweep_, report_, std::move(begun));
    const std::int64_t raced = report_.sweeps - before;
    double melted = -INFINITY;
    if (!candidates.empty() && !o_.agreement && has_own_proportions(e_)) {
      e_.load(candidates.front().state);
      melt(candidates.front());
      melted = best_elbo_;
    }
    lead(candidates);
    if (!best_ && out_.status != Status::interrupted) {
      candidates = race(e_, o_, first, 1, on_sweep_, report_);
      lead(candidates);
    }
    if (!best_ && out_.status != Status::interrupted) {
      // Every start has failed: a plain run gives the message.
      if (failed_) {
        failed_->iterations = report_.sweeps;
        return *failed_;
      }
      e_.load(begin);
      run([&](const OnSweep& counted) { return run_cavi(e_, o_, counted); });
    }
    if (!best_) return out_;
    if (best_elbo_ > melted) race_more(first, raced);
    restore();
    if (out_.status == Status::interrupted) return out_;
    out_.status = best_status_;
    if (!o_.agreement && best_elbo_ > melted) anneal();
    if (o_.agreement && best_status_ == Status::max_iter)
      run([&](const OnSweep& counted) { return run_cavi(e_, o_, counted); });
    if (out_.status == Status::numerical_failure) {  // of an annealed candidate: the result so far stays
      restore();
      out_.status = best_status_;
    }
    if (out_.status != Status::interrupted) move();
    if (!(out_.elbo >= best_elbo_)) restore();
    return out_;
  }

 private:
  /// Runs a method. Its sweeps are added to those of the search, and the iterations of the outcome are their sum.
  template <class Method>
  void run(const Method& method) {
    const auto counted = [&](const SweepReport& s) {
      SweepReport later = s;
      later.iteration += report_.sweeps;
      return on_sweep_(later);
    };
    const TriedSteps before = out_.tried;
    out_ = method(counted);
    out_.tried += before;
    report_.sweeps += out_.iterations;
    out_.iterations = report_.sweeps;
  }

  /// Lets the first start converge, and makes sweeps from others unless there is one optimum. Returns true if the
  /// search is over: the first start has reached the one optimum, the others are on their way to the same solution, or
  /// the callback has stopped the run. The best state is then in place. Otherwise it leaves the suspended runs of the
  /// others in `begun`.
  bool agree(StartKind first, std::vector<Candidate>& begun) {
    RunPath path(e_);
    report_.starts.push_back({first, o_.seed, 0, NAN});
    Candidate leader{0, {}, 0, std::make_unique<CaviRun>(e_, o_)};
    converge(leader, o_.one_optimum ? nullptr : &path);
    if (out_.status == Status::interrupted) return true;
    if (!best_) failed_ = out_;
    if (!best_ || best_status_ != Status::converged) return false;
    if (o_.one_optimum) return true;
    report_.agree = confirmed(path, begun);
    if (!report_.agree && out_.status != Status::interrupted) return false;
    restore();
    if (report_.agree) out_.status = best_status_;
    out_.iterations = report_.sweeps;
    return true;
  }

  /// Returns true if runs from two other starts join the path of the leader. They should need half of its sweeps. The
  /// first of them is enough if it needs a quarter, and may need as many as the leader.
  bool confirmed(const RunPath& path, std::vector<Candidate>& begun) {
    const std::int64_t before = report_.sweeps, usual = std::max(length_ / 2, kFewestConfirming);
    const auto made = [&] { return report_.sweeps - before; };
    CandidateSweeps sweeps(e_, on_sweep_, report_);
    for (const auto& [kind, k] : {std::pair{StartKind::means, 1}, std::pair{StartKind::flat, 0}}) {
      if (!begun.empty() && 2 * made() >= usual) return true;
      const std::int64_t most = begun.empty() ? std::max(length_, usual) : usual;
      const std::uint64_t seed = seed_of_starts(o_, k);
      if (e_.restart(seed, kind) != 0) return false;
      PathFollower follower(e_, path);
      report_.starts.push_back({kind, seed, 0, NAN});
      begun.push_back({report_.starts.size() - 1, {}, 0, std::make_unique<CaviRun>(e_, o_)});
      bool joined = false;
      for (std::int64_t sweep = 1; !joined && made() < most; ++sweep) {
        if (!sweeps.make(begun.back(), sweep)) {
          begun.pop_back();
          return false;
        }
        if (sweeps.stopped()) {
          out_.status = Status::interrupted;
          return false;
        }
        joined = follower.joins(begun.back().elbo);
        if (begun.back().run->converged()) break;
      }
      report_.starts.back().same = joined;
      if (!joined) return false;
    }
    return true;
  }

  /// Lets candidates converge until enough() is true.
  void lead(std::vector<Candidate>& candidates) {
    for (Candidate& a : candidates) {
      if (enough() || out_.status == Status::interrupted) break;
      converge(a);
    }
  }

  /// Returns true if no more candidates need to converge: the least number has, and their results agree or further ones
  /// would be costly.
  bool enough() const { return leaders_ >= o_.leaders && (agree_ || report_.sweeps >= o_.patience * length_); }

  /// Continues a candidate until it converges or cannot become the best, and adds its sweeps to `path` unless that is
  /// null. The first start always converges, so that the search is never worse than a plain run.
  void converge(Candidate& a, RunPath* path = nullptr) {
    SearchReport::Start& start = report_.starts[a.start];
    if (a.state) e_.load(std::exchange(a.state, {}));
    const std::int64_t before = report_.sweeps, made = a.run->outcome().iterations;
    ImprovementBound outlook;
    bool hopeless = false;
    run([&](const OnSweep& counted) {
      Outcome out = a.run->go_on(o_.max_iterations, [&](SweepReport s) {
        if (a.start > 0 && std::isfinite(s.elbo)) hopeless = !outlook.may_reach(best_elbo_, s.elbo);
        if (path) path->add(s.elbo);
        s.iteration -= made;
        return counted(s) && !hopeless;
      });
      out.iterations -= made;
      return out;
    });
    a.run.reset();
    if (hopeless) out_.status = Status::max_iter;
    start.leader = true;
    start.converged = !hopeless;
    start.sweeps += report_.sweeps - before;
    start.elbo = out_.elbo;
    if (out_.status == Status::numerical_failure) {
      start.converged = false;
      start.elbo = NAN;
      return;
    }
    agree_ = agree_ && (leaders_ == 0 || std::abs(out_.elbo - best_elbo_) <= kAgree * (1 + std::abs(best_elbo_)));
    ++leaders_;
    if (out_.elbo <= best_elbo_) {
      others_.push_back(e_.snapshot_state());
      return;
    }
    if (best_) others_.push_back(std::move(best_));
    keep();
    length_ = start.sweeps;
  }

  /// Runs further races of fresh starts while all races together have made fewer sweeps than the best run, and the
  /// search is still cheap; some races in any case where items make several choices and a sweep is little work. The
  /// best candidate of each converges.
  void race_more(StartKind first, std::int64_t raced) {
    const bool several = has_several_choices(e_.model());
    const auto is_cheap = [&](std::int64_t round) {
      const double operations = static_cast<double>(report_.sweeps) * operations_of_sweep(e_);
      return (raced < length_ && report_.sweeps < o_.spare_lengths * length_) ||
             (several && round <= kRacesOfChoices && operations < kShortRaces);
    };
    for (std::int64_t round = 1; is_cheap(round) && out_.status != Status::interrupted; ++round) {
      const std::int64_t before = report_.sweeps;
      std::vector<Candidate> candidates = race(e_, o_, first, round, on_sweep_, report_);
      raced += report_.sweeps - before;
      if (candidates.empty()) return;
      converge(candidates.front());
    }
  }

  /// Stores the state in place as the best one.
  void keep() {
    best_ = e_.snapshot_state();
    best_elbo_ = out_.elbo;
    best_status_ = out_.status;
  }

  /// Loads the best state.
  void restore() {
    e_.load(best_);
    out_.elbo = best_elbo_;
    out_.failure.clear();
  }

  /// Anneals all entropies from fresh flat starts, for models with proportions of items. The result depends little on
  /// the start, and plain runs rarely reach it.
  void melt(const Candidate& leader) {
    AutoOptions annealed = o_;
    annealed.stop_early = annealed.fresh = true;
    for (std::int64_t k = 0; k < o_.melts && out_.status != Status::interrupted; ++k) {
      e_.load(leader.state);
      annealed.seed = o_.seed + kNextMelt * static_cast<std::uint64_t>(k);
      AutoReport report;
      run([&](const OnSweep& counted) { return run_auto(e_, annealed, counted, report); });
      const bool whole = out_.status != Status::interrupted && out_.status != Status::numerical_failure;
      if (whole && !report.candidates.empty() && out_.elbo > best_elbo_) {
        keep();
        static_cast<AutoReport&>(report_) = std::move(report);
      }
    }
    if (out_.status == Status::interrupted && !best_) {
      best_ = leader.state;
      best_elbo_ = leader.elbo;
    }
  }

  /// Returns the sweeps of the search up to which further candidates are annealed in any case.
  std::int64_t spare_sweeps() const {
    if (agree_ || o_.spare_lengths == 0) return o_.spare_lengths / 2 * length_;
    const double few = thresholds_of_environment()[kFewOperations] / std::max(1.0, operations_of_sweep(e_));
    const double most = static_cast<double>(kLengthsOfFew * length_);
    return std::max(o_.spare_lengths * length_, static_cast<std::int64_t>(std::min(few, most)));
  }

  /// Anneals from the best state, which is in place. The shorter the best run was, the fewer sweeps a candidate makes
  /// at each temperature.
  void anneal() {
    AutoOptions annealed = o_;
    annealed.candidate_sweeps =
        std::clamp(static_cast<std::int64_t>(kArm * static_cast<double>(length_)), kShortestArm, o_.candidate_sweeps);
    annealed.stop_early = true;
    annealed.spare = spare_sweeps() - report_.sweeps;
    annealed.most = o_.most_lengths * length_ - report_.sweeps;
    annealed.others = std::move(others_);
    annealed.converged = best_status_ == Status::converged;
    static_cast<AutoReport&>(report_) = {};
    run([&](const OnSweep& counted) { return run_auto(e_, annealed, counted, report_); });
    report_.plain_sweeps = length_;
  }

  /// Moves components from the best state, within a budget of sweeps relative to those made so far.
  void move() {
    const MoveOptions moves = move_options(o_, report_.sweeps);
    const Outcome converged = out_;
    run([&](const OnSweep& counted) { return run_moves(e_, moves, o_.components, converged, counted, report_.moves); });
  }

  const Engine& e_;
  const SearchOptions& o_;
  const OnSweep& on_sweep_;
  SearchReport& report_;
  Outcome out_;
  Snapshot best_;
  std::vector<Snapshot> others_;  // solutions of the other leaders
  double best_elbo_ = -INFINITY;
  Status best_status_ = Status::max_iter;
  std::optional<Outcome> failed_;  // of the first start, if it ran alone and failed
  std::int64_t length_ = 0;        // sweeps of the best run
  std::int64_t leaders_ = 0;       // candidates that have converged
  bool agree_ = true;              // true: all of them have found the same ELBO
};

/// Returns true if membership is mixed: items belong to several components at once, in proportions of their own.
bool is_mixed(const Components& c) {
  return std::ranges::any_of(c.arrays,
                             [](const ComponentArray& a) { return a.kind == ComponentArray::Kind::proportion; });
}

/// Returns true if some components can be moved.
bool has_movable(const SearchOptions& o) {
  return std::ranges::any_of(o.components, [](const Components& c) { return !c.distinguished; });
}

/// Returns the least operations of a sweep that is long, so that a search makes few of them. Moves of whole components
/// are best on all items, so a sweep may be longer with them.
double long_sweep(const SearchOptions& o) {
  const bool moves = has_movable(o) && std::ranges::none_of(o.components, is_mixed);
  return thresholds_of_environment()[moves ? kLongSweepOfMoves : kLongSweep];
}

/// Adapts a quick search to a model whose components can be moved. Moves repair what starts miss, so there are fewer
/// starts. With mixed membership moves find little and annealing much, so moves get fewer sweeps.
SearchOptions beside_moves(SearchOptions o) {
  if (!has_movable(o) || o.cycles) return o;
  if (std::ranges::any_of(o.components, is_mixed)) {
    o.move_fraction = 0.2;
    return o;
  }
  o.starts = 1;
  o.patience = 0;
  return o;
}

/// Tests the end of a search, whose factors are in place, for a saddle point at which products of factors are 0, and
/// goes on from there.
Outcome leave_zeros(const Engine& e, const SearchOptions& o, Outcome ended, const OnSweep& on_sweep,
                    SearchReport& report) {
  const bool tested = o.products && o.test_end && o.items.empty() && o.slack.movement < kSingleSlack.movement;
  if (!tested || !can_test_end(e) || !has_means_at_zero(e)) return ended;
  const std::int64_t made = std::exchange(ended.iterations, 0);
  Outcome out = leave_saddles(e, o, std::move(ended), [&](SweepReport s) {
    s.iteration += made;
    return on_sweep(s);
  });
  report.sweeps += out.iterations;
  out.iterations += made;
  return out;
}

}  // namespace

SearchOptions search_options(bool full) {
  SearchOptions out;
  if (!full) return out;
  out.starts = 4;
  out.leaders = 4;
  out.patience = 10;
  out.cycles = true;
  out.move_fraction = 4;
  out.splits = 8;
  out.spare_lengths = 14;
  out.most_lengths = 60;
  out.failures = 6;
  out.melts = 3;
  return out;
}

MoveOptions move_options(const SearchOptions& o, std::int64_t sweeps) {
  MoveOptions out{o};
  out.most_sweeps = static_cast<std::int64_t>(o.move_fraction * static_cast<double>(sweeps));
  out.splits = o.splits;
  return out;
}

Outcome run_search(const Engine& e, const SearchOptions& o, StartKind first, const OnSweep& on_sweep,
                   SearchReport& report) {
  const WeightsGuard plain{e};
  e.set({});
  if (const std::int32_t status = prepare_statistics(e, o)) return failure(e, status, {});
  const SearchOptions options = beside_moves(o);
  const bool alone = o.one_optimum || o.agreement || o.cycles || !o.items.empty();
  if (!alone && operations_of_sweep(e) >= long_sweep(o)) {
    if (std::optional<Outcome> out = run_long_search(e, options, first, on_sweep, report))
      return leave_zeros(e, options, *std::move(out), on_sweep, report);
  }
  return leave_zeros(e, options, Search(e, options, on_sweep, report).all(first), on_sweep, report);
}

}  // namespace lehr
