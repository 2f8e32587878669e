// The search where sweeps are much work. Sweeps over a sample, and those of the heating, are not counted, and the trace
// does not show them.
#include "runtime/search/long_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/inference/auto_svi.h"
#include "runtime/inference/improvement_bound.h"
#include "runtime/search/item_sample.h"
#include "runtime/search/race.h"

namespace lehr {
namespace {

constexpr double kSampleTolerance = 1e-5;    // SearchOptions::tolerance at least on a sample
constexpr std::int64_t kSampleSweeps = 60;   // SearchOptions::max_iterations at most on a sample
constexpr std::int64_t kCompared = 12;       // sweeps of the two runs on all items before the better one converges
constexpr std::int64_t kManyItems = 4096;    // items from which a flat start is annealed by minibatches
constexpr std::int64_t kBatch = 256;         // items of a minibatch
constexpr double kDelay = 64, kPasses = 10;  // SviOptions::tau0 and epochs
/// Of an annealed flat start: first temperature, between 1 and that at which a solution melts; annealed sweeps; most
/// iterations over the local blocks of an item in them.
constexpr double kFlat = 0.7;
constexpr std::int64_t kAnnealed = 160, kHotLocal = 3;
/// Of annealed runs from the best state: annealed sweeps, in lengths of the best run, and the fewest; the sweeps of the
/// search after which none follows, relative to those before; runs in a row without gain that end them.
constexpr double kArms = 0.3, kAllArms = 2;
constexpr std::int64_t kShortestAnneal = 10, kFailures = 1;

/// One search.
class LongSearch {
 public:
  LongSearch(const Engine& e, const SearchOptions& o, const OnSweep& on_sweep, SearchReport& report)
      : e_(e), o_(o), on_sweep_(on_sweep), report_(report) {}

  /// Does all of the work; see run_long_search().
  std::optional<Outcome> all(StartKind first) {
    const std::vector<std::int64_t> sample = sample_of_items(e_, o_.seed);
    if (sample.empty() && !has_own_proportions(e_)) return std::nullopt;
    const Snapshot begin = e_.snapshot_state();
    report_.starts.push_back({first, o_.seed, 0, NAN});
    const bool begun = sample.empty() ? from_flat() : from_sample(sample, first);
    if (!begun && !is_stopped()) {
      report_ = {};
      e_.load(begin);
      return std::nullopt;
    }
    if (!is_stopped()) compare(begin);
    if (sample.empty() && best_) {
      AutoReport::Candidate& annealed = report_.candidates.back();
      annealed.elbo = report_.starts.back().elbo;
      annealed.accepted = annealed.elbo == best_elbo_;
    }
    if (best_) {
      e_.load(best_);
      out_.elbo = best_elbo_;
      out_.failure.clear();
      if (!is_stopped()) out_.status = best_status_;
    }
    if (best_ && !is_stopped()) anneal();
    // Moves of topics find little, and runs that converge again are long.
    if (best_ && !is_stopped() && !sample.empty()) move();
    out_.iterations = report_.sweeps;
    return out_;
  }

 private:
  /// Returns true if the callback has stopped the search.
  bool is_stopped() const { return out_.status == Status::interrupted; }

  /// Returns a callback for sweeps that are not counted.
  OnSweep unseen() const {
    return [this](const SweepReport&) { return on_sweep_({report_.sweeps, NAN, 1, NAN}); };
  }

  /// Runs a method and adds its sweeps to those of the search.
  template <class Method>
  void run(const Method& method) {
    const TriedSteps before = out_.tried;
    const std::int64_t made = report_.sweeps;
    out_ = method([&](SweepReport s) {
      s.iteration += made;
      return on_sweep_(s);
    });
    out_.tried += before;
    report_.sweeps += out_.iterations;
  }

  /// Searches on a sample, and infers all items from the solution. Returns false if that fails.
  bool from_sample(std::span<const std::int64_t> sample, StartKind first) {
    SearchOptions part = o_;
    part.items = sample;
    part.tolerance = std::max(o_.tolerance, kSampleTolerance);
    part.max_iterations = std::min(o_.max_iterations, kSampleSweeps);
    part.invariances = false;
    part.starts = o_.starts + 1;  // sweeps cost little here
    part.leaders = o_.leaders + 2;
    // What follows the first annealed runs would fit the sample more closely than all items.
    part.spare_lengths = part.most_lengths = 0;
    part.components.clear();
    SearchReport found;
    const std::int32_t summed = sum_data(e_, sample);
    const Outcome out = summed == 0 ? run_search(e_, part, first, unseen(), found) : failure(e_, summed, {});
    if (e_.prepare() != 0 || out.status == Status::numerical_failure || found.starts.empty()) return false;
    if (sweep(e_, o_, {.items_only = true}) != 0) return false;
    const auto best = std::ranges::max_element(found.starts, {}, [](const SearchReport::Start& s) {
      return s.converged && std::isfinite(s.elbo) ? s.elbo : -INFINITY;
    });
    report_.starts.push_back({best->kind, best->seed, 0, NAN});
    report_.sample = static_cast<std::int64_t>(sample.size());
    report_.sample_sweeps = found.sweeps;
    static_cast<AutoReport&>(report_) = std::move(found);
    if (out.status == Status::interrupted) stop();
    return true;
  }

  /// Ends the search with the state in place.
  void stop() {
    Elbo elbo;
    if (e_.elbo(elbo) == 0) out_.elbo = elbo.value;
    out_.status = Status::interrupted;
  }

  /// Anneals from a flat start: by minibatches if there are many items. Returns false if nothing melts or the run
  /// fails.
  bool from_flat() { return e_.items() >= kManyItems ? by_minibatches() : by_entropies(); }

  /// Anneals the data by stochastic steps from a flat start, and infers all items from the result. Steps are not
  /// counted. Returns false if that fails.
  bool by_minibatches() {
    if (e_.restart(o_.seed, StartKind::flat) != 0) return false;
    SviOptions steps;
    static_cast<CaviOptions&>(steps) = o_;
    steps.batch = kBatch;
    steps.tau0 = kDelay;
    steps.epochs = kPasses;
    steps.fresh = machine::has_single_stage(e_.model());
    ProbeReport probe;
    const Outcome out = run_auto_svi(e_, steps, unseen(), probe);
    const bool failed = e_.prepare() != 0 || out.status == Status::numerical_failure;
    if (failed || sweep(e_, o_, {.items_only = true}) != 0) return false;
    report_.starts.push_back({StartKind::flat, o_.seed, 0, NAN});
    report_.sample = kBatch;
    report_.sample_sweeps = probe.steps + out.iterations;
    report_.melting = probe.melting;
    report_.heating = std::move(probe.heating);
    report_.fresh = true;
    report_.candidates.push_back({probe.melting, NAN, false});
    if (out.status == Status::interrupted) stop();
    return true;
  }

  /// Anneals all entropies from a flat start. Returns false if nothing melts or the run fails.
  bool by_entropies() {
    AutoOptions heating = o_;
    heating.fresh = true;
    run([&](const OnSweep& counted) { return measure_melting(e_, heating, counted, report_); });
    if (is_stopped()) return false;
    if (!(report_.melting > 0) || e_.restart(o_.seed, StartKind::flat) != 0) return false;
    CaviOptions hot = o_;
    hot.annealing.kind = report_.kind;
    hot.annealing.from = 1 + kFlat * (report_.melting - 1);
    hot.annealing.over = hot.max_iterations = kAnnealed;
    hot.local_iterations = std::min(hot.local_iterations, kHotLocal);
    report_.starts.push_back({StartKind::flat, o_.seed, 0, NAN});
    report_.candidates.push_back({hot.annealing.from, NAN, false});
    const std::int64_t before = report_.sweeps;
    run([&](const OnSweep& counted) { return run_cavi(e_, hot, counted); });
    report_.starts.back().sweeps = report_.sweeps - before;
    return !is_stopped() && out_.status != Status::numerical_failure;
  }

  /// Lets the run that is in place and that of the first start converge, the better one first.
  void compare(const Snapshot& begin) {
    std::vector<Candidate> runs;
    CandidateSweeps sweeps(e_, on_sweep_, report_);
    for (const std::size_t start : {std::size_t{1}, std::size_t{0}}) {
      if (start == 0) e_.load(begin);
      Candidate a{start, {}, 0, std::make_unique<CaviRun>(e_, o_)};
      if (!sweeps.make(a, kCompared)) continue;
      if (!best_) keep(a.elbo, Status::max_iter);
      runs.push_back(std::move(a));
      if (sweeps.stopped()) out_.status = Status::interrupted;
      if (is_stopped()) return;
    }
    std::ranges::stable_sort(runs, std::greater{}, &Candidate::elbo);
    best_elbo_ = -INFINITY;
    for (Candidate& a : runs) {
      if (!is_stopped()) converge(a);
    }
    if (!std::isfinite(best_elbo_)) best_.reset();
    report_.plain_elbo = report_.starts[0].elbo;
    report_.plain_sweeps = report_.starts[0].sweeps;
  }

  /// Stores the state in place as the best one.
  void keep(double elbo, Status status) {
    best_ = e_.snapshot_state();
    best_elbo_ = elbo;
    best_status_ = status;
  }

  /// Continues a run until it converges or cannot become the best.
  void converge(Candidate& a) {
    ImprovementBound outlook;
    bool hopeless = false;
    SearchReport::Start& start = report_.starts[a.start];
    start.leader = true;
    for (const double elbo : a.elbos) {
      if (std::isfinite(elbo)) hopeless = !outlook.may_reach(best_elbo_, elbo);
    }
    if (hopeless) {
      others_.push_back(std::move(a.state));
      return;
    }
    e_.load(a.state);
    const std::int64_t made = a.run->outcome().iterations, before = report_.sweeps;
    run([&](const OnSweep& counted) {
      Outcome out = a.run->go_on(o_.max_iterations, [&](SweepReport s) {
        if (std::isfinite(s.elbo)) hopeless = !outlook.may_reach(best_elbo_, s.elbo);
        s.iteration -= made;
        return counted(s) && !hopeless;
      });
      out.iterations -= made;
      return out;
    });
    if (hopeless) out_.status = Status::max_iter;
    const bool failed = out_.status == Status::numerical_failure;
    start.sweeps += report_.sweeps - before;
    start.elbo = failed ? NAN : out_.elbo;
    start.converged = !hopeless && !failed;
    if (failed) return;
    if (!(start.elbo > best_elbo_)) {
      others_.push_back(e_.snapshot_state());
      return;
    }
    if (std::isfinite(best_elbo_)) others_.push_back(std::move(best_));
    length_ = start.sweeps;
    keep(start.elbo, out_.status);
  }

  /// Anneals from the best state, which is in place, and from the other one, if the sample has melted.
  void anneal() {
    if (report_.fresh || !(report_.melting > 0)) return;
    AutoOptions annealed = o_;
    annealed.melting = report_.melting;
    annealed.stop_early = true;
    annealed.candidate_sweeps = std::clamp(static_cast<std::int64_t>(kArms * static_cast<double>(length_)),
                                           kShortestAnneal, o_.candidate_sweeps);
    annealed.most = static_cast<std::int64_t>(kAllArms * static_cast<double>(report_.sweeps));
    annealed.failures = kFailures;
    annealed.others = std::move(others_);
    AutoReport found;
    run([&](const OnSweep& counted) { return run_auto(e_, annealed, counted, found); });
    std::ranges::copy(found.candidates, std::back_inserter(report_.candidates));
    if (!(out_.elbo > best_elbo_) || out_.status == Status::numerical_failure) {
      e_.load(best_);
      out_.elbo = best_elbo_;
      if (!is_stopped()) out_.status = best_status_;
      return;
    }
    keep(out_.elbo, out_.status);
  }

  /// Moves components from the best state, which is in place.
  void move() {
    const MoveOptions moves = move_options(o_, report_.sweeps);
    const Outcome converged = out_;
    run([&](const OnSweep& counted) { return run_moves(e_, moves, o_.components, converged, counted, report_.moves); });
    if (out_.elbo >= best_elbo_) return;
    e_.load(best_);
    out_.elbo = best_elbo_;
  }

  const Engine& e_;
  const SearchOptions& o_;
  const OnSweep& on_sweep_;
  SearchReport& report_;
  Outcome out_;
  Snapshot best_;
  std::vector<Snapshot> others_;  // other solutions
  std::int64_t length_ = 0;       // sweeps of the best run
  double best_elbo_ = -INFINITY;
  Status best_status_ = Status::max_iter;
};

}  // namespace

std::optional<Outcome> run_long_search(const Engine& engine, const SearchOptions& options, StartKind first,
                                       const OnSweep& on_sweep, SearchReport& report) {
  return LongSearch(engine, options, on_sweep, report).all(first);
}

}  // namespace lehr
