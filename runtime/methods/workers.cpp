#include "runtime/methods/workers.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "runtime/machine/items.h"

namespace lehr {

using machine::ItemRange;
using machine::ItemWork;
using machine::Machine;
using machine::Shareable;

namespace {

constexpr std::size_t kMostShares = 32;

std::int64_t count(std::span<const ItemRange> runs) {
  std::int64_t out = 0;
  for (const ItemRange& run : runs)
    out += run.end - run.begin;
  return out;
}

/// How much there is before an item: items, and rows of what is nested in them.
class Position {
 public:
  Position(const Machine& m, const Shareable& what) : m_(m), items_(what.items) {
    for (std::int64_t slot = 0; slot < m.model->size_count; ++slot) {
      const machine::Extent size = -(slot + 1);
      if (size != items_ && machine::row_of(m, items_, size, 0) >= 0) nested_.push_back(size);
    }
  }
  std::int64_t operator()(std::int64_t item) const {
    std::int64_t out = item;
    for (const machine::Extent size : nested_)
      out += machine::row_of(m_, items_, size, item);
    return out;
  }

  /// The end of a run from `begin` that has at least this much in it, `last` at most.
  std::int64_t end_of(std::int64_t begin, std::int64_t last, std::int64_t much) const {
    const std::int64_t before = (*this)(begin);
    std::int64_t low = begin + 1, high = last;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if ((*this)(middle)-before < much) low = middle + 1;
      else high = middle;
    }
    return low;
  }

 private:
  const Machine& m_;
  machine::Extent items_;
  std::vector<machine::Extent> nested_;
};

}  // namespace

Workers::Workers(std::size_t threads, const ShareSize& least)
    : hook_{this,
            [](void* context, const Machine& m, const Shareable& what, const ItemRange* runs, std::size_t n,
               const ItemWork& work) {
              return static_cast<Workers*>(context)->run(m, what, {runs, n}, work);
            }},
      threads_(threads > 0 ? threads : processors()),
      least_(least) {}

std::size_t Workers::count_shares(const Machine& m, const Shareable& what, std::span<const ItemRange> runs) const {
  double sums = 0;
  for (const std::int64_t b : what.sums)
    sums += static_cast<double>(m.view().length(b));
  const auto items = static_cast<double>(count(runs));
  const double least = std::max(what.of_stage ? least_.operations : least_.outside, least_.of_sum * sums);
  const double worth = items * static_cast<double>(what.operations) / least;
  return static_cast<std::size_t>(
      std::clamp(std::floor(std::min(worth, items)), 1.0, static_cast<double>(kMostShares)));
}

std::int32_t Workers::run(const Machine& m, const Shareable& what, std::span<const ItemRange> runs,
                          const ItemWork& work) {
  const std::size_t parts = count_shares(m, what, runs);
  if (parts == 1) {
    if (work.formed) machine::place(m, runs);
    return machine::work_on(m, 0, runs, work);
  }
  const Position position(m, what);
  std::int64_t all = 0;
  for (const ItemRange& run : runs)
    all += position(run.end) - position(run.begin);
  Shares shares{{}, {0}};
  std::int64_t seen = 0;
  const auto end_of_share = [&] {
    return all * static_cast<std::int64_t>(shares.begin.size()) / static_cast<std::int64_t>(parts);
  };
  for (ItemRange rest : runs) {
    while (rest.begin < rest.end) {
      const std::int64_t end = position.end_of(rest.begin, rest.end, end_of_share() - seen);
      shares.runs.push_back({rest.begin, end});
      seen += position(end) - position(rest.begin);
      rest.begin = end;
      if (seen >= end_of_share() && shares.begin.size() < parts) shares.begin.push_back(shares.runs.size());
    }
  }
  return run(m, what, shares, work);
}

std::int32_t Workers::run(const Machine& m, const Shareable& what, const Shares& shares, const ItemWork& work) {
  if (!pool_) {
    pool_ = std::make_unique<Pool>(threads_);
    for (std::size_t k = 0; k < threads_; ++k)
      workers_.push_back(std::make_unique<Worker>());
  }
  if (work.formed) machine::place(m, shares.runs);
  std::atomic<std::size_t> next = 0, turn = 0;
  std::int32_t failed = 0;  // the status of the first share that failed
  pool_->run([&](std::size_t thread) {
    Worker& w = *workers_[thread];
    w.join(m, what);
    for (std::size_t share = next++; share < shares.begin.size(); share = next++) {
      w.take_sums(m, what, share == 0);
      const std::int32_t status = machine::work_on(w.machine, shares.begin[share], shares.of(share), work);
      for (std::size_t now = turn; now != share; now = turn)
        turn.wait(now);
      if (failed == 0) failed = status;
      if (share > 0) w.give_sums(m, what);
      turn = share + 1;
      turn.notify_all();
    }
  });
  return failed;
}

void Workers::Worker::own(std::int64_t buffer, std::size_t length) {
  const auto b = static_cast<std::size_t>(buffer);
  if (store.reals(b).size() < length) store.resize(b, length);
  table[b] = store.table()[b];
}

void Workers::Worker::join(const Machine& m, const Shareable& what) {
  const auto buffers = static_cast<std::size_t>(m.model->buffer_count);
  if (table.size() != buffers) store = Memory(std::vector<std::size_t>(buffers, 0));
  table.assign(m.table, m.table + buffers);
  run_table.resize(buffers);
  run_sizes.resize(static_cast<std::size_t>(m.model->size_count));
  for (const std::int64_t b : what.sums)
    own(b, m.view().length(b));
  for (const std::int64_t b : what.scratch)
    own(b, m.view().length(b));
  machine = m;
  machine.table = table.data();
  machine.run_table = run_table.data();
  machine.run_sizes = run_sizes.data();
  machine.workers = nullptr;
}

void Workers::Worker::take_sums(const Machine& of, const Shareable& what, bool first) {
  for (const std::int64_t b : what.sums) {
    const auto k = static_cast<std::size_t>(b);
    table[k] = first ? of.table[k] : store.table()[k];
  }
}

void Workers::Worker::give_sums(const Machine& to, const Shareable& what) {
  for (const std::int64_t b : what.sums) {
    const std::span<double> from = machine.view().reals(b), sums = to.view().reals(b);
    for (std::size_t i = 0; i < from.size(); ++i) {
      sums[i] += from[i];
      from[i] = 0;
    }
  }
}

}  // namespace lehr
