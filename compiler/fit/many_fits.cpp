// Threads take the next data set from a shared counter. Each fit runs on one thread, or on several if there are more
// threads than data sets.
#include "compiler/fit/many_fits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <new>

#include "compiler/posterior/element_names.h"
#include "compiler/posterior/moments.h"
#include "runtime/parallel/pool.h"

namespace lehr {
namespace {

/// The decision of the caller to go on, requested at most every 50 ms and shared by all threads.
class Going {
 public:
  explicit Going(const std::function<bool()>& goes_on) : goes_on_(goes_on) {}

  /// Returns false if the fits must end. Thread 0 is that of the caller.
  bool on(std::size_t thread) {
    constexpr auto kPause = std::chrono::milliseconds(50);
    if (thread == 0 && goes_on_ && Clock::now() - last_ > kPause) {
      if (!goes_on_()) over_ = true;
      last_ = Clock::now();
    }
    return !over_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const std::function<bool()>& goes_on_;   // of the caller; may be null
  Clock::time_point last_ = Clock::now();  // when it was called last
  std::atomic<bool> over_ = false;         // it has returned false
};

/// Fits one data set; exceptions become errors, since no thread of a pool may throw.
Result<WholeFit> fit_one(const FitTask& task, const ManyData& data, std::size_t k, std::size_t threads, FitCache& cache,
                         const OnRestartSweep& on_sweep, const OnBound& on_bound) try {
  Result<Dataset> dataset = data.read(k);
  if (!dataset) return dataset.error();
  return fit_whole(task, std::move(*dataset), threads, &cache, on_sweep, on_bound);
} catch (const std::bad_alloc&) {
  return Error{ExitCode::data, "", "there is not enough memory", {}};
} catch (const std::exception& e) {
  return Error{ExitCode::internal, "", std::string("internal error: ") + e.what(), {}};
}

}  // namespace

void fit_many(const FitTask& task, const ManyData& data, std::size_t threads, const ManyResults& results) {
  if (threads == 0) threads = processors();
  // Data sets share all processors; the threads that are left over share the items of each.
  const std::size_t at_a_time = std::clamp<std::size_t>(data.count, 1, threads), inner = threads / at_a_time;
  FitCache cache;
  Going going(results.goes_on);
  std::atomic<std::size_t> next = 0;
  Pool(at_a_time).run([&](std::size_t thread) {
    for (std::size_t k = next++; k < data.count && going.on(thread); k = next++) {
      const auto on_sweep = [&](std::uint64_t, const SweepReport&) { return going.on(thread); };
      const auto on_bound = [&](const BoundModel& bound) {
        if (results.on_bound) results.on_bound(k, bound);
      };
      results.put(k, fit_one(task, data, k, inner, cache, on_sweep, on_bound));
    }
  });
}

std::vector<PosteriorNumber> tabled_numbers(const SavedFit& fit) {
  std::vector<PosteriorNumber> out;
  for (const SavedVariable& v : fit.variables) {
    const std::optional<Moments> m = v.members.empty() && !v.parameters.empty() ? moments_of(fit, v) : std::nullopt;
    if (!m || m->mean.size() > kMostTabledNumbers) continue;
    for (std::size_t i = 0; i < m->mean.size(); ++i) {
      const double sd = m->sd.size() == m->mean.size() ? m->sd[i] : std::numeric_limits<double>::quiet_NaN();
      const std::vector<std::string> index = index_of(fit, v, *m, i);
      out.push_back({v.name + (index.empty() ? "" : fmt::format("[{}]", fmt::join(index, ","))), m->mean[i], sd});
    }
  }
  return out;
}

}  // namespace lehr
