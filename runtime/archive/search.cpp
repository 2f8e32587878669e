// The search for built objects: makes an engine over the object's tables and functions, copies the data and carried
// priors in, searches, and copies the posterior back into the state. An error leaves the factors of the state as they
// were.
#include "runtime/archive/search.h"

#include <new>

#include "runtime/embedded/state.h"
#include "runtime/search/random_start.h"
#include "runtime/search/search.h"

namespace lehr {
namespace {

using embedded::State;
using machine::Model;

/// Returns the run-time sizes of a state.
std::vector<std::int64_t> sizes_of(const Model& m, const State& s) { return {s.sizes, s.sizes + m.size_count}; }

/// Copies a buffer between the state and the engine: to the state if `to_state`.
void copy(const State& s, const Engine& e, std::int64_t b, bool to_state) {
  const machine::View view = embedded::view_of(e.model(), s);
  const auto move = [&](auto state, auto engine) {
    if (to_state) std::ranges::copy(engine, state.begin());
    else std::ranges::copy(state, engine.begin());
  };
  if (e.model().buffers[b].integers) move(view.integers(b), e.integers(b));
  else move(view.reals(b), e.reals(b));
}

/// Returns the options of the search that the caller's options stand for.
SearchOptions options_of(const lehr_search_options& o, const machine::Accuracy& accuracy) {
  SearchOptions out = search_options(o.full != 0);
  out.seed = o.seed;
  if (o.max_iterations > 0) out.max_iterations = o.max_iterations;
  if (o.tolerance > 0) out.tolerance = o.tolerance;
  out.local_iterations = accuracy.iterations;
  out.local_tolerance = accuracy.tolerance;
  return out;
}

/// Returns the number of accepted moves.
std::int64_t accepted(const MoveReport& r) {
  return r.merges.accepted + r.removals.accepted + r.splits.accepted + r.orders.accepted;
}

/// Searches and writes the posterior to the state. Returns a status; throws OutOfMemory and std::bad_alloc.
std::int32_t search(const Model& m, State& s, const lehr_search_options& o, lehr_search_result& result) {
  Engine e(m, sizes_of(m, s), 0, nullptr);
  e.work_with(static_cast<std::size_t>(o.threads));
  e.describe = [](std::int32_t) { return std::string(); };
  for (std::int64_t k = 0; k < m.array_count; ++k)
    copy(s, e, m.arrays[k].buffer, false);
  for (std::int64_t b = 0; b < m.buffer_count; ++b) {
    if (m.buffers[b].role == machine::Role::prior) copy(s, e, b, false);
  }
  if (const std::int32_t status = e.prepare()) return status;
  StartKind first = StartKind::seeds;
  if (o.keep_start) {
    for (const std::int64_t b : e.state_buffers())
      copy(s, e, b, false);
    if (const std::int32_t status = e.call(m.expectations)) return status;
  } else {
    const StartResult started = start_with_fallback(e, first, Rng(o.seed, 0));
    if (!started.kind) return started.failed;
    first = *started.kind;
  }
  set_restart(e, first);
  SearchOptions options = options_of(o, s.accuracy);
  options.components = components_of(e);
  SearchReport report;
  bool stopped = false;  // once true it stays so, because every further run asks the callback
  const auto on_sweep = [&](const SweepReport& r) {
    if (o.on_sweep && !stopped) stopped = o.on_sweep(o.context, r.iteration, r.elbo, r.temperature) != 0;
    return !stopped;
  };
  const Outcome outcome = run_search(e, options, first, on_sweep, report);
  if (outcome.status == Status::numerical_failure) return embedded::kNotFinite;
  for (const std::int64_t b : e.state_buffers())
    copy(s, e, b, true);
  result = {outcome.elbo,
            outcome.iterations,
            static_cast<std::int64_t>(report.starts.size()),
            static_cast<std::int64_t>(report.candidates.size()),
            accepted(report.moves),
            outcome.status == Status::converged};
  return embedded::kOk;
}

/// Computes the sums of the data in the state and sets its flags as after a sweep. Returns a status.
std::int32_t finish_state(const Model& m, State& s) {
  s.scale = 1;
  for (std::int64_t k = 0; k < m.size_count; ++k)
    s.outer_sizes[k] = s.sizes[k];
  machine::set(embedded::machine_of(m, s), {});
  if (const std::int32_t status = machine::call_on_data(embedded::machine_of(m, s), m.prepare)) return status;
  s.prepared = s.started = s.swept = s.statistics_valid = 1;
  s.expectations_stale = s.items_changed = s.fresh = 0;
  return embedded::kOk;
}

}  // namespace
}  // namespace lehr

extern "C" std::int32_t lehr_search(const void* model, void* memory, const void* data,
                                    const lehr_search_options* options, lehr_search_result* result) {
  using namespace lehr;
  if (!model) return embedded::kNull;
  const auto& m = *static_cast<const Model*>(model);
  if (m.layout != machine::kLayout) return embedded::kAbi;
  if (m.random_key >= 0) return embedded::kArgument;
  State* s = nullptr;
  if (const std::int32_t status = embedded::open(m, memory, s)) return status;
  if (const std::int32_t status = embedded::adopt(m, *s, static_cast<const embedded::DataSet*>(data))) return status;
  const lehr_search_options given = options ? *options : lehr_search_options{};
  if (given.threads < 0 || given.max_iterations < 0 || !(given.tolerance >= 0) ||
      given.tolerance - given.tolerance != 0)
    return embedded::kArgument;
  if (given.keep_start && !s->started) return embedded::kNotStarted;
  lehr_search_result computed{};
  try {
    if (const std::int32_t status = search(m, *s, given, computed)) return status;
  } catch (const OutOfMemory&) {
    return embedded::kShort;
  } catch (const std::bad_alloc&) {
    return embedded::kShort;
  }
  if (result) *result = computed;
  return finish_state(m, *s);
}
