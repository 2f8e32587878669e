// Distribution of items over threads and processes. run() partitions the items into chunks, lets every thread take the
// next free one, and adds the sums by the tree. In a group, each process works on consecutive chunks; unite() then
// sends partial sums along the tree, so that there are at most as many messages as processes that share a branch.
//
// Out-of-core items are loaded piece by piece: as many chunks as there are threads are in progress, and each round
// loads the next piece of each chunk.
#include "runtime/methods/workers.h"

#include <algorithm>
#include <atomic>

#include "runtime/machine/items.h"

namespace lehr {

using machine::ItemRange;
using machine::ItemWork;
using machine::Machine;
using machine::ParallelWork;

namespace {

/// Returns true if the runs are one range of all items.
bool are_all(const Machine& m, const ParallelWork& what, std::span<const ItemRange> runs) {
  return runs.size() == 1 && runs[0].begin == 0 && runs[0].end == m.whole().extent(what.items);
}

/// Does the work on the calling thread, in one chunk.
std::int32_t work_alone(const Machine& m, std::span<const ItemRange> runs, const ItemWork& work) {
  if (work.from_priors) machine::assign_window(m, runs);
  return machine::work_on(m, 0, runs, work);
}

}  // namespace

std::span<double> rows_of(const Machine& m, machine::Extent items, ItemRange run, std::int64_t buffer) {
  const machine::BufferRow& b = m.model->buffers[buffer];
  if (b.role != machine::Role::factor || b.axes == 0) return {};
  const machine::Extent rows = m.model->axes[b.first_axis];
  const std::int64_t first = machine::row_of(m, items, rows, run.begin);
  if (first < 0) return {};
  const std::size_t width = machine::row_width(m, buffer),
                    past = static_cast<std::size_t>(machine::row_of(m, items, rows, run.end));
  const auto begin = static_cast<std::size_t>(first);
  return m.view().reals(buffer).subspan(begin * width, (past - begin) * width);
}

Workers::Workers(std::size_t threads, const ChunkSize& least, Group* group, Spill* spill)
    : hook_{this,
            [](void* context, const Machine& m, const ParallelWork& what, const ItemRange* runs, std::size_t n,
               const ItemWork& work) {
              return static_cast<Workers*>(context)->run(m, what, {runs, n}, work);
            }},
      threads_(threads > 0 ? threads : processors()),
      least_(least),
      group_(group && group->size() > 1 ? group : nullptr),
      spill_(spill) {}

std::int32_t Workers::run(const Machine& m, const ParallelWork& what, std::span<const ItemRange> runs,
                          const ItemWork& work) {
  if (m.loader && m.loader->loads_by_chunks && what.of_stage && are_all(m, what, runs))
    return run_supplied(m, what, work);
  if (!group_ && is_one_chunk(m, what, runs, least_)) return work_alone(m, runs, work);
  const Partition shares = partition_into_chunks(m, what, runs, least_);
  Group* const group = what.of_stage ? group_ : nullptr;  // regions outside the items are computed by every process
  // `spread`: after this visit, the factors of an item are at the owner of its chunk alone. A visit of other chunks
  // needs the factors of items everywhere first.
  const bool spread = group && shares.count() > 1 && !m.window, all = are_all(m, what, runs);
  const auto is_same = [&] { return spread_ && spread_->items == what.items && spread_->shares == shares; };
  if (what.of_stage && !(spread && is_same())) gather(m);
  if (shares.count() == 1) return work_alone(m, runs, work);
  if (work.from_priors) machine::assign_window(m, shares.runs);
  SumTree sums = tree(what, shares.count());
  const std::size_t part = group ? group->rank() : 0, parts = group ? group->size() : 1;
  this->work(m, what, shares, chunks_of_process(shares.count(), part, parts), work, sums);
  const std::int32_t status = add_up(m, what, sums, group);
  if (spread && all && !spread_) spread_.emplace(what.items, shares);
  if (spread && is_same()) is_spread_ = true;
  else if (spread) send_rows(m, what.items, shares);
  return status;
}

std::int32_t Workers::add_up(const Machine& m, const ParallelWork& what, SumTree& sums, Group* group) {
  if (group) reduce_branch(m, what, sums.root(), sums);
  Sums total = sums.is_whole() ? sums.take(sums.root()) : sums.fresh(m, what);
  if (group) group->broadcast(total.numbers(), owner_of(0, sums.root().end));
  total.add_to(m, what);
  const std::int32_t status = total.status();
  sums.give_back(std::move(total));
  return status;
}

std::int32_t Workers::run_supplied(const Machine& m, const ParallelWork& what, const ItemWork& work) {
  start_threads();
  auto found = cuts_.find(what.sums.data());
  if (found == cuts_.end()) {
    const ItemRange all{0, m.whole().extent(what.items)};
    found = cuts_.emplace(what.sums.data(), partition_into_chunks(m, what, {&all, 1}, least_, m.loader)).first;
  }
  const Partition& shares = found->second;
  const ChunkRange mine = chunks_of_process(shares.count(), group_ ? group_->rank() : 0, group_ ? group_->size() : 1);
  SumTree sums = tree(what, shares.count());
  std::vector<ChunkProgress> turns;  // chunks in progress, ascending
  for (std::size_t next = mine.begin; next < mine.end || !turns.empty();) {
    for (; next < mine.end && turns.size() < threads_; ++next) {
      const bool from_priors = work.from_priors || (spill_ && !spilled_.contains(next));
      turns.push_back({next, shares.of(next)[0], from_priors, 0, sums.fresh(m, what)});
    }
    load_items(m, what, turns, work);
    const auto is_done = [](const ChunkProgress& t) { return t.rest.begin == t.rest.end; };
    for (ChunkProgress& t : turns) {
      if (!is_done(t)) continue;
      if (spill_) spilled_.insert(t.share);
      sums.put({t.share, t.share + 1}, std::move(t.sums));
    }
    std::erase_if(turns, is_done);
  }
  return add_up(m, what, sums, group_);
}

void Workers::load_items(const Machine& m, const ParallelWork& what, std::span<ChunkProgress> turns,
                         const ItemWork& work) {
  // A piece has a multiple of the items that code processes together, counted from the beginning of the chunk: so its
  // bits are those of the whole chunk.
  constexpr std::int64_t kFewTogether = 8;  // used if memory does not allow kItemsTogether
  const std::int64_t each = m.loader->items / static_cast<std::int64_t>(threads_),
                     together = each < kItemsTogether ? kFewTogether : kItemsTogether,
                     most = std::max(together, each / together * together);
  std::vector<ItemRange> runs;
  for (const ChunkProgress& t : turns)
    runs.push_back({t.rest.begin, std::min(t.rest.end, t.rest.begin + most)});
  const ItemRange* const here = m.loader->load_items(m.loader->context, runs.data(), runs.size());
  const auto rows = [&](std::size_t k) {
    std::vector<std::span<double>> out;
    for (std::int64_t b = 0; spill_ && b < m.model->buffer_count; ++b)
      out.push_back(rows_of(m, what.items, here[k], b));
    return out;
  };
  for (std::size_t k = 0; spill_ && k < turns.size(); ++k)
    if (!turns[k].from_priors) spill_->load(turns[k].share, turns[k].before, rows(k));
  std::atomic<std::size_t> next = 0;
  pool_->run([&](std::size_t thread) {
    Worker& w = *workers_[thread];
    w.prepare_for(m, what);
    for (std::size_t k = next++; k < turns.size(); k = next++) {
      turns[k].sums.enter(what, w.table);
      const std::int32_t status = machine::work_on(w.machine, k, {&here[k], 1}, {work.function, turns[k].from_priors});
      if (status != 0 && turns[k].sums.status() == 0) turns[k].sums.fail(status);
    }
  });
  for (std::size_t k = 0; k < turns.size(); ++k) {
    if (spill_) turns[k].before = spill_->save(turns[k].share, turns[k].before, rows(k));
    turns[k].rest.begin = runs[k].end;
  }
}

void Workers::start_threads() {
  if (pool_) return;
  pool_ = std::make_unique<Pool>(threads_);
  for (std::size_t k = 0; k < threads_; ++k)
    workers_.push_back(std::make_unique<Worker>());
}

void Workers::work(const Machine& m, const ParallelWork& what, const Partition& shares, ChunkRange mine,
                   const ItemWork& work, SumTree& sums) {
  start_threads();
  std::atomic<std::size_t> next = mine.begin;
  pool_->run([&](std::size_t thread) {
    Worker& w = *workers_[thread];
    w.prepare_for(m, what);
    for (std::size_t share = next++; share < mine.end; share = next++) {
      Sums own = sums.fresh(m, what);
      own.enter(what, w.table);
      own.fail(machine::work_on(w.machine, shares.begin[share], shares.of(share), work));
      sums.put({share, share + 1}, std::move(own));
    }
  });
}

Partition Workers::cut(const Machine& m, const ParallelWork& what) const {
  const ItemRange all{0, m.view().extent(what.items)};
  return partition_into_chunks(m, what, {&all, 1}, least_);
}

std::size_t Workers::owner_of(std::size_t share, std::size_t shares) const {
  std::size_t out = 0;
  while (chunks_of_process(shares, out, group_->size()).end <= share)
    ++out;
  return out;
}

void Workers::reduce_branch(const Machine& m, const ParallelWork& what, Branch branch, SumTree& sums) {
  const std::size_t all = sums.root().end, first = owner_of(branch.begin, all), last = owner_of(branch.end - 1, all);
  if (first == last) return;
  const Branch right = branch.right();
  reduce_branch(m, what, branch.left(), sums);
  reduce_branch(m, what, right, sums);
  const std::size_t from = owner_of(right.begin, all), here = group_->rank();
  if (from == first) return;  // both halves met at one process already
  if (here == from) {
    Sums sent = sums.take(right);
    group_->send(sent.numbers(), first);
    sums.give_back(std::move(sent));
  } else if (here == first) {
    Sums received = sums.fresh(m, what);
    group_->receive(received.numbers(), from);
    sums.put(right, std::move(received));
  }
}

void Workers::send_rows(const Machine& m, machine::Extent items, const Partition& shares) {
  for (std::size_t share = 0; share < shares.count(); ++share) {
    const std::size_t owner = owner_of(share, shares.count());
    for (const ItemRange& run : shares.of(share)) {
      for (std::int64_t b = 0; b < m.model->buffer_count; ++b) {
        const std::span<double> rows = rows_of(m, items, run, b);
        if (!rows.empty()) group_->broadcast(rows, owner);
      }
    }
  }
}

void Workers::gather(const Machine& m) {
  if (is_spread_) send_rows(m, spread_->items, spread_->shares);
  is_spread_ = false;
}

void Workers::Worker::prepare_for(const Machine& m, const ParallelWork& what) {
  const auto buffers = static_cast<std::size_t>(m.model->buffer_count);
  if (table.size() != buffers) store = Memory(std::vector<std::size_t>(buffers, 0));
  table.assign(m.table, m.table + buffers);
  run_table.resize(buffers);
  run_sizes.resize(static_cast<std::size_t>(m.model->size_count));
  for (const std::int64_t buffer : what.scratch) {
    const auto b = static_cast<std::size_t>(buffer);
    if (const std::size_t length = m.view().length(buffer); store.reals(b).size() < length) store.resize(b, length);
    table[b] = store.table()[b];
  }
  machine = m;
  machine.table = table.data();
  machine.run_table = run_table.data();
  machine.run_sizes = run_sizes.data();
  machine.workers = nullptr;
}

}  // namespace lehr
