// Automatic annealing. The order of the work is in Run::all():
//
//     converge plainly -> heat a copy to the melting temperature -> two candidates from the plain solution
//     -> further candidates from the best, from other solutions and from fresh starts -> converge the best
//
// Every candidate anneals from a state to temperature 1, converges for a while, and is accepted if it beats the best so
// far.
#include "runtime/inference/auto_anneal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/inference/cancelled.h"
#include "runtime/inference/improvement_bound.h"

namespace lehr {
namespace {

constexpr double kMelted = 0.7;          // fraction of the entropy's rise that counts as melted
constexpr std::int64_t kFinishing = 60;  // sweeps of a candidate at temperature 1, before it is compared
constexpr std::int64_t kHasty = 40;      // the same with AutoOptions::stop_early
constexpr double kSame = 1e-6;           // relative difference of ELBOs that count as the same solution
constexpr double kBetter = 1e-5;         // relative gain from which a candidate is accepted
constexpr double kDoubt = 10;            // safety factor for candidates that converge, see ImprovementBound
constexpr double kLost = 0.02;  // how far below the best one's objective, relative to the ELBO, a candidate is given up
constexpr std::int64_t kGains = 3;        // accepted candidates that allow one more failure
constexpr std::int64_t kOfEntropies = 3;  // with `fresh`: limit of all sweeps, in lengths of the first candidate
/// Factors of the next first temperature after a candidate that was too cool, and after one that was too hot.
constexpr double kUp = 1.2, kDown = 0.8;

/// Ends a run from within; never leaves this file.
struct Stop {
  Status status;
  std::int32_t code = 0;
};

/// One run of automatic annealing.
class Run {
 public:
  Run(const Engine& e, const AutoOptions& o, const OnSweep& on_sweep, AutoReport& report, Outcome& out)
      : e_(e), o_(o), on_sweep_(on_sweep), report_(report), out_(out) {}

  /// Converges plainly, or makes one sweep for fresh starts, and finds the melting temperature. Returns true if the
  /// solution melts; throws Stop.
  bool measure() {
    check(prepare_statistics(e_, o_));
    if (!o_.fresh && !o_.converged && o_.melting == 0) converge();
    make(1);
    if (o_.converged) out_.status = Status::converged;
    best_ = e_.snapshot_state();
    best_elbo_ = elbo_.value;
    if (has_own_proportions(e_)) report_.kind = form_.kind = Annealing::Kind::entropy;
    if (o_.melting > 0) {
      report_.melting = o_.melting;
      return true;
    }
    report_.plain_elbo = best_elbo_;
    report_.plain_sweeps = out_.iterations;
    report_.fresh = o_.fresh;
    return melt();
  }

  /// Does all of the work; throws Stop.
  void all() {
    if (!measure()) {
      out_.elbo = best_elbo_;  // the last sweep was a hot one, and its ELBO does not count
      return;
    }
    if (o_.fresh) {
      check(e_.restart(o_.seed, StartKind::flat));
      check(prepare_statistics(e_, o_));
      plain_ = e_.snapshot_state();
    }
    const double t = report_.melting;
    double best_factor = 0.7;
    for (const double factor : {o_.stop_early ? 1.0 : 0.7, o_.stop_early ? 0.7 : 1.0}) {
      const bool accepted = run_candidate(plain(), first_temperature(t, factor), o_.candidate_sweeps, 1e-3);
      if (accepted) best_factor = factor;
      if (o_.fresh || (o_.stop_early && !accepted && is_best(elbo_.value))) break;
    }
    if ((!o_.stop_early && best_factor == 1.0) || of_entropies())
      run_candidate(best_, first_temperature(t, best_factor), 2 * o_.candidate_sweeps, 1e-3);
    if (report_.plateau) run_candidate(plain(), first_temperature(early_, 0.75), o_.candidate_sweeps, 1e-3);
    for (std::int64_t k = 0; goes_on(); ++k)
      more(k, first_temperature(t, best_factor));
    if (o_.cycles) {
      run_candidate(plain(), first_temperature(t, 3), 2 * o_.candidate_sweeps, 1e-6);
      const std::pair<double, std::int64_t> cycles[] = {{1.0, o_.candidate_sweeps},
                                                        {0.8, o_.candidate_sweeps},
                                                        {1.15, 2 * o_.candidate_sweeps},
                                                        {0.9, 2 * o_.candidate_sweeps}};
      std::size_t k = 0;
      do {
        const auto [factor, sweeps] = cycles[k % std::size(cycles)];
        run_candidate(best_, first_temperature(t, factor * best_factor), sweeps, 1e-3);
        ++k;
      } while (o_.budget > 0 ? out_.iterations < o_.budget : k < std::size(cycles));
    }
    e_.load(best_);
    if (survives([&] { converge(); })) return;
    e_.load(best_);
    out_.elbo = best_elbo_;
  }

 private:
  /// Ends the run if a status is not 0.
  void check(std::int32_t status) const {
    if (status != 0) throw Stop{Status::numerical_failure, status};
  }

  /// Runs a part of the work that may fail without ending the run. Returns false after a numerical failure.
  template <class Part>
  bool survives(const Part& part) {
    try {
      part();
      return true;
    } catch (const Stop& stop) {
      if (stop.status != Status::numerical_failure) throw;
    }
    out_.status = Status::max_iter;
    out_.failure.clear();
    elbo_.value = NAN;
    return false;
  }

  /// Returns true if the temperature divides all entropies.
  bool of_entropies() const { return form_.kind == Annealing::Kind::entropy; }

  /// Returns the first temperature of a candidate: a multiple of the melting temperature, or, since entropies melt near
  /// 1, of its distance from 1.
  double first_temperature(double t, double factor) const { return of_entropies() ? 1 + factor * (t - 1) : factor * t; }

  /// Returns true if an ELBO is that of the best solution.
  bool is_best(double elbo) const { return std::abs(elbo - best_elbo_) <= kSame * (1 + std::abs(best_elbo_)); }

  /// Returns the ELBO that a candidate must gain over the best, in nats; one that ends closer has returned to the best.
  double margin() const { return kBetter * std::abs(best_elbo_); }

  /// Returns true if further candidates should follow: they are free, or one was accepted and few have failed since.
  bool goes_on() const {
    if (out_.iterations < o_.spare) return true;
    const auto accepted = [](const AutoReport::Candidate& a) { return a.accepted; };
    const auto last = std::find_if(report_.candidates.rbegin(), report_.candidates.rend(), accepted);
    return last - report_.candidates.rbegin() <
               o_.failures + std::ranges::count_if(report_.candidates, accepted) / kGains &&
           last != report_.candidates.rend() && out_.iterations < (o_.fresh ? kOfEntropies * length_ : o_.most);
  }

  /// Returns the solution of the plain run, which is the best one until a candidate is accepted.
  const Snapshot& plain() {
    if (!plain_) plain_ = best_;
    return plain_;
  }

  /// Makes one sweep at a temperature and computes its ELBO. `shown`: it is reported to the callback.
  void make(double temperature, bool shown = true) {
    e_.set(weights_at(form_, temperature));
    check(sweep(e_, o_, {.parts = temperature > 1 && shown}));
    check(e_.elbo(elbo_));
    ++out_.iterations;
    if (!check_elbo(elbo_.value, out_)) throw Stop{Status::numerical_failure};
    if (!shown) return;
    out_.elbo = elbo_.value;
    const double objective = annealed_objective(form_, temperature, elbo_);
    if (!on_sweep_({out_.iterations, elbo_.value, temperature, objective})) throw Stop{Status::interrupted};
  }

  /// Lets coordinate ascent converge from the state in place, at temperature 1 and with extrapolation.
  void converge() {
    const Outcome before = out_;
    CaviOptions plain = o_;
    plain.max_iterations += before.iterations;
    e_.set({});
    out_ = run_on(e_, plain, before, on_sweep_);
    if (out_.status == Status::numerical_failure || out_.status == Status::interrupted) throw Stop{out_.status};
    elbo_.value = out_.elbo;
  }

  /// Makes sweeps at temperature 1: `most`, or fewer if the run converges or cannot reach `target`.
  void finish(std::int64_t most, double target = -INFINITY) {
    StoppingRule stopping_rule(e_, o_);
    ImprovementBound outlook(kDoubt);
    double previous = -INFINITY;
    for (std::int64_t k = 0; k < most; ++k) {
      make(1);
      if (elbo_.value < previous - allowed_fall(o_.slack.elbo, elbo_.value, elbo_)) ++out_.decreases;
      previous = elbo_.value;
      if (stopping_rule.converged(elbo_.value) || !outlook.may_reach(target, elbo_.value)) return;
    }
  }

  /// Finds the melting temperature. Returns false if there is none, or if the heating fails; restores the best state.
  bool melt() {
    bool melted = false;
    if (survives([&] { melted = heat(); })) return melted;
    e_.load(best_);
    return false;
  }

  /// Heats until the discrete entropy has risen by kMelted of its way. Returns false if it does not.
  bool heat() {
    const double cold = elbo_.discrete_entropy;
    const Annealing::Kind kind = std::exchange(form_.kind, Annealing::Kind::data);
    make(kInfiniteTemperature, false);
    form_.kind = kind;
    const double hot = elbo_.discrete_entropy;
    e_.load(best_);
    // Without discrete local variables, or if their entropy is already at its maximum, nothing can melt.
    if (!std::isfinite(hot) || hot - cold <= 1e-9 * (1 + std::abs(cold))) return false;
    double t = 1, fraction = 0;
    while (fraction < kMelted && t < kHottest) {
      t *= kHotter;
      make(t);
      fraction = (elbo_.discrete_entropy - cold) / (hot - cold);
      report_.heating.push_back({t, fraction});
      if (early_ == 0 && fraction >= 0.3) early_ = t;
      if (has_converged()) break;
    }
    e_.load(best_);
    const double melted = has_converged() ? kMelted * fraction : kMelted;
    if (fraction < melted) return false;
    report_.melting =
        std::ranges::find_if(report_.heating, [&](const HeatingPoint& p) { return p.fraction >= melted; })->temperature;
    report_.plateau = has_plateau();
    return true;
  }

  /// Returns true if, after its first tenth, the entropy rose by less than 0.02 while the temperature grew by 30 %.
  /// That suggests a phase transition below the one that was found.
  bool has_plateau() const {
    const auto& h = report_.heating;
    const auto steps = static_cast<std::size_t>(std::ceil(std::log(1.3) / std::log(kHotter)));
    for (std::size_t k = 0; k + steps < h.size(); ++k) {
      if (h[k].fraction > 0.1 && h[k + steps].fraction - h[k].fraction < 0.02) return true;
    }
    return false;
  }

  /// Returns true if the entropy has risen by less than 1e-3 while the temperature grew tenfold. All that can melt has
  /// then melted; components without items stay empty, so the maximum is not reached.
  bool has_converged() const {
    const auto& h = report_.heating;
    const auto steps = static_cast<std::size_t>(std::ceil(std::log(10.0) / std::log(kHotter)));
    return h.size() > steps && h.back().fraction > 0.1 && h.back().fraction - h[h.size() - 1 - steps].fraction < 1e-3;
  }

  /// Mixes a small weight of a fresh random start into the global parameters, so that equal components can separate.
  /// Returns a status of the generated code.
  std::int32_t perturb(double weight) const {
    Parameters random;
    const std::uint64_t seed = o_.seed + 7919 * static_cast<std::uint64_t>(out_.iterations);
    if (const std::int32_t status = e_.random_parameters(seed, {}, random)) return status;
    const std::vector<std::int64_t> buffers = e_.global_buffers();
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      const std::span<double> x = e_.reals(buffers[k]);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = (1 - weight) * x[i] + weight * random[k][i];
    }
    return e_.call(e_.model().global_expectations);
  }

  /// Runs the k-th further candidate: in rotation one from another solution and two from the best. The temperature
  /// rises after a candidate that returned to the best, and falls after one that ended below it. Later ones are longer.
  void more(std::int64_t k, double from) {
    const std::int64_t sweeps = k < 2 ? o_.candidate_sweeps : o_.candidate_sweeps * 3 / 2;
    if (k % 3 == 0 && !o_.fresh) run_candidate(elsewhere(k / 3), from, sweeps, 1e-3);
    else if (!run_candidate(best_, first_temperature(from, factor_), sweeps, 1e-3))
      factor_ *= std::abs(elbo_.value - best_elbo_) <= margin() ? kUp : kDown;
  }

  /// Returns a state to begin at: one of the other solutions, later a fresh start (flat and seeds, alternately); null
  /// if that start fails.
  Snapshot elsewhere(std::int64_t k) {
    if (k < std::ssize(o_.others)) return o_.others[static_cast<std::size_t>(k)];
    k -= std::ssize(o_.others);
    const std::uint64_t seed = o_.seed + 104729 * static_cast<std::uint64_t>(k + 1);
    const bool started = e_.restart(seed, k % 2 == 0 ? StartKind::flat : StartKind::seeds) == 0;
    return started && prepare_statistics(e_, o_) == 0 ? e_.snapshot_state() : Snapshot();
  }

  /// Returns true if a candidate cannot win: in the colder half of its temperatures, its objective is far below that of
  /// the candidate which found the best, at the same temperature.
  bool is_lost(const CoolingPoint& now, double from) const {
    return o_.stop_early && now.temperature < (1 + from) / 2 &&
           now.objective < objective_at(cooling_, now.temperature) - kLost * std::abs(best_elbo_);
  }

  /// Runs a candidate from a state: anneals it to temperature 1 and converges. Returns true if it becomes the best; a
  /// null state or a failure gives false. `noise` is the first weight of random starts that are mixed in.
  bool run_candidate(Snapshot start, double from, std::int64_t sweeps, double noise) {
    if (o_.budget > 0 && out_.iterations >= o_.budget) return false;
    from = std::max(from, 1.05);
    if (!start) elbo_.value = NAN;
    bool accepted = false;
    if (start && survives([&] { accepted = anneal(start, from, sweeps, noise); })) return accepted;
    report_.candidates.push_back({from, elbo_.value, false});
    return false;
  }

  /// Does the work of run_candidate().
  bool anneal(const Snapshot& start, double from, std::int64_t sweeps, double noise) {
    e_.load(start);
    std::vector<CoolingPoint> cooling;
    const std::int64_t before = out_.iterations;
    for (std::int64_t k = 0; k < sweeps; ++k) {
      const double t = from + (1 - from) * static_cast<double>(k) / static_cast<double>(sweeps);
      if (const double weight = noise * (t - 1) / (from - 1); weight > 0)
        check(e_.recorded([&] { return perturb(weight); }));
      make(t);
      cooling.push_back({t, annealed_objective(form_, t, elbo_)});
      if (is_lost(cooling.back(), from)) {
        report_.candidates.push_back({from, elbo_.value, false});
        return false;
      }
    }
    const double target = best_elbo_ + margin();
    if (o_.stop_early) finish(kHasty, target);
    else finish(kFinishing);
    const bool accepted = elbo_.value > target;
    report_.candidates.push_back({from, elbo_.value, accepted});
    if (length_ == 0) length_ = out_.iterations - before;
    if (!accepted) return false;
    plain();
    best_ = e_.snapshot_state();
    best_elbo_ = elbo_.value;
    cooling_ = std::move(cooling);
    return true;
  }

  const Engine& e_;
  const AutoOptions& o_;
  const OnSweep& on_sweep_;
  AutoReport& report_;
  Outcome& out_;
  Elbo elbo_;
  Annealing form_;
  Snapshot best_, plain_;
  double best_elbo_ = 0;
  std::vector<CoolingPoint> cooling_;  // objectives of the candidate that found the best
  std::int64_t length_ = 0;            // sweeps of the first candidate
  double factor_ = 1;                  // factor of the temperature at which candidates from the best begin
  double early_ = 0;                   // temperature at which the entropy has made 0.3 of its rise
};

}  // namespace

bool has_own_proportions(const Engine& e) {
  return std::ranges::any_of(machine::parameters_of(e.model()), [](const machine::ParameterRow& row) {
    return row.local && !row.auxiliary && row.support == machine::Support::simplex;
  });
}

/// Does the part of the work of a run that `part` calls. A Stop becomes the status of the outcome.
template <class Part>
Outcome run_part(const Engine& e, const AutoOptions& o, const OnSweep& on_sweep, AutoReport& report, const Part& part) {
  Outcome out;
  Run run(e, o, on_sweep, report, out);
  try {
    part(run);
  } catch (const Stop& stop) {
    out.status = stop.status;
    if (stop.code != 0) out.failure = e.describe(stop.code);
  }
  e.set({});
  return out;
}

Outcome measure_melting(const Engine& e, const AutoOptions& o, const OnSweep& on_sweep, AutoReport& report) {
  return run_part(e, o, on_sweep, report, [](Run& run) { run.measure(); });
}

Outcome run_auto(const Engine& e, const AutoOptions& o, const OnSweep& on_sweep, AutoReport& report) {
  return run_part(e, o, on_sweep, report, [](Run& run) { run.all(); });
}

}  // namespace lehr
