// Shorter sweeps where a sweep lowers the objective. Sweeps over expectations of links are steps of natural gradients,
// which go too far where the curvature changes much: an exponential has little left of its optimum. The run then goes
// back to the state before the sweep, and a part of the way to the state after it.
//
// Fits and built objects share this code, so that they make the same sweeps. `Run` is the caller's copy of q:
//
//     const Machine& machine()                            the machine
//     void save(Copy), load(Copy)                         copies factors and statistics out, and back
//     const double* saved(Copy, std::int64_t buffer)      a buffer of a copy
//     std::int32_t sweep(), infer(Elbo&)                  a sweep; local factors at their optimum, and the ELBO
//     bool climb(least, objective, Elbo&)                 another way to an objective above `least`, tried first; false
//                                                         if it finds none
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/machine/machine.h"

namespace lehr::machine {

/// Which copy of q (factors and statistics) is meant, of the two that a run stores to undo or shorten sweeps that lower
/// the ELBO.
enum class Copy : std::int8_t {
  before,  // before the sweep
  other    // after the sweep, or the best start
};

/// Returns true if sweeps of the model may lower the ELBO, so that runs store copies of q to shorten them. That is so
/// if some step of a sweep moves points of expectations of links (kExpectations).
bool may_fall(const Model& m);
/// Updates the tangent points of all expectations of links (x.predictor) to the mean and variance that each predictor
/// has under the present factors, and sums the statistics of their stages. Returns 0 or a status of the generated code.
std::int32_t move_expectations(const Machine& m);
/// Returns true if shortened sweeps and extrapolations move the numbers of this parameter by their logarithms:
/// precisions and rates that are no matrices, degrees of freedom, shapes and concentrations, and point values of
/// positive variables.
bool is_logarithmic(const ParameterRow& row);
/// Returns true if a shortened sweep or an extrapolation must not move a positive number of this parameter to 0 or
/// below. That is so for all parameters but means, matrices, and point values of real numbers and vectors.
bool stays_positive(const ParameterRow& row);

/// The result of judge_sweep(): status and ELBO of the state that it has left in place, and whether that is the state
/// after the sweep.
struct Judgement {
  std::int32_t status = 0;  // of the state in place
  Elbo elbo = {};           // of the state in place
  bool shortened = false;   // true: the state is not that after the sweep
  bool by_planes = false;   // true: it was found by Run::climb()
  double undone = 0;        // see Damping::undone()
};

/// Puts the state in place that lies 1 / 2^halvings of the way from the state before a sweep (Copy::before) to the one
/// after it (Copy::other), and computes its ELBO. Global parameters are interpolated, by their logarithms where
/// is_logarithmic(); local factors are then inferred. Returns false if a parameter leaves its domain, if generated code
/// fails, or if the ELBO is impossible.
template <class Run>
bool move_part(Run& r, int halvings, Elbo& out) {
  r.load(Copy::before);
  const Machine& m = r.machine();
  bool inside = true;
  for (const ParameterRow& row : parameters_of(*m.model)) {
    if (row.by_stage || row.local) continue;
    const double* const after = r.saved(Copy::other, row.buffer);
    const bool logarithmic = is_logarithmic(row), positive = stays_positive(row);
    const std::span<double> numbers = m.view().reals(row.buffer);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double from = numbers[i], end = after[i];
      double to = end;
      if (logarithmic) {
        to = std::max(to, 1e-300);
        for (int k = 0; k < halvings; ++k)
          to = std::sqrt(from) * std::sqrt(to);
      } else {
        to = from + std::ldexp(end - from, -halvings);
      }
      inside = inside && to - to == 0 && !(positive && from > 0 && to <= 0);
      numbers[i] = to;
    }
  }
  if (!inside) return false;
  invalidate_sums(m);
  return call(m, m.model->global_expectations) == 0 && r.infer(out) == 0 && is_possible(out.value);
}

/// Moves the tangent points of all expectations of links to where they would be if the Normal variables outside the
/// items were exactly 0. Afterwards the global parameters are again those of Copy::before, the state in place at the
/// call. Returns 0 or a status of the generated code.
template <class Run>
std::int32_t move_expectations_to_zero(Run& r) {
  constexpr double kNarrow = 1e200;  // factor on precisions, after which variances are no part of an expectation
  const Machine& m = r.machine();
  for (const ParameterRow& row : parameters_of(*m.model)) {
    if (row.by_stage || row.local) continue;
    const bool value = row.parameter == Parameter::value && !stays_positive(row);
    const bool precision = row.parameter == Parameter::precision && row.partner >= 0;
    if (!value && !precision && row.parameter != Parameter::mean) continue;
    for (double& x : m.view().reals(row.buffer))
      x *= precision ? kNarrow : 0;
  }
  invalidate_sums(m);
  if (const std::int32_t status = call(m, m.model->global_expectations)) return status;
  if (const std::int32_t status = move_expectations(m)) return status;
  for (const ParameterRow& row : parameters_of(*m.model)) {
    if (row.by_stage || row.local) continue;
    const std::span<double> x = m.view().reals(row.buffer);
    if (!x.empty()) std::memcpy(x.data(), r.saved(Copy::before, row.buffer), x.size_bytes());
  }
  invalidate_sums(m);
  return call(m, m.model->global_expectations);
}

/// Improves a start before the first sweep of a run, and computes its ELBO. It compares the start, with its local
/// factors inferred, with the state after a sweep whose tangent planes are those at 0 (move_expectations_to_zero()),
/// the means of which are halved as long as that raises the ELBO. The better one stays in place: a random start may lie
/// where planes are too steep for any sweep. Returns 0, or a status of the generated code if both fail.
template <class Run>
std::int32_t start_damped(Run& r, Elbo& elbo) {
  r.save(Copy::before);
  const std::int32_t status = r.infer(elbo);
  r.save(Copy::other);
  r.load(Copy::before);
  if (move_expectations_to_zero(r) != 0 || r.sweep() != 0) {
    r.load(Copy::other);
    return status;
  }
  r.save(Copy::before);
  bool found = status == 0;
  double highest = found && is_possible(elbo.value) ? elbo.value : -INFINITY, risen = -INFINITY;
  for (double part = 1; part > 1e-12; part /= 2) {
    r.load(Copy::before);
    const Machine& m = r.machine();
    for (const ParameterRow& row : parameters_of(*m.model)) {
      if (row.by_stage || row.local || row.parameter != Parameter::mean) continue;
      for (double& x : m.view().reals(row.buffer))
        x *= part;
    }
    invalidate_sums(m);
    Elbo there;
    if (call(m, m.model->global_expectations) != 0 || r.infer(there) != 0 || !is_possible(there.value)) continue;
    if (!(there.value > risen)) break;
    risen = there.value;
    if (!(risen > highest)) continue;
    highest = risen;
    elbo = there;
    found = true;
    r.save(Copy::other);
  }
  r.load(Copy::other);
  return found ? 0 : status;
}

/// Judges a sweep by its status and ELBO, and replaces the state if it failed or has lowered the objective beyond
/// rounding. It takes the state that Run::climb() finds; else one on the way from the state before the sweep: it halves
/// the way until the objective does not fall, and then while it still rises; else the state before the sweep. `reached`
/// is the ELBO of that state, which is in Copy::before. `objective` returns from an ELBO the number that must not fall.
template <class Run, class Objective>
Judgement judge_sweep(Run& r, std::int32_t status, const Elbo& elbo, const Elbo& reached, const Objective& objective) {
  constexpr double kRounding = 1e-12;  // falls of the objective relative to it that are rounding
  constexpr int kHalvings = 50;        // most halvings; less of a step is rounding
  const double before = objective(reached), least = before - kRounding * (1 + std::fabs(before));
  const bool possible = status == 0 && is_possible(elbo.value);
  if (possible && !(objective(elbo) < least)) return {.elbo = elbo};
  const double fall = possible ? before - objective(elbo) : INFINITY;
  r.save(Copy::other);
  double best = least;
  int halvings = 0;
  Elbo there;
  if (r.climb(least, objective, there)) return {.elbo = there, .shortened = true, .by_planes = true};
  for (int k = 1; k <= kHalvings; ++k) {
    const bool better = move_part(r, k, there) && objective(there) > best;
    if (!better && halvings > 0) break;
    if (!better) continue;
    best = objective(there);
    halvings = k;
  }
  if (halvings > 0 && move_part(r, halvings, there)) return {.elbo = there, .shortened = true};
  r.load(Copy::before);
  return {.status = status, .elbo = reached, .shortened = true, .undone = fall};
}

}  // namespace lehr::machine
