// Distribution of items over threads and processes. run() partitions the items into chunks, lets every thread take the
// next free one, and adds the sums by the tree. In a group, each process works on consecutive chunks; reduce_branch()
// then sends partial sums along the tree, so that there are at most as many messages as processes that share a branch.
//
// Out-of-core items are loaded piece by piece: as many chunks as there are threads are in progress, and each round
// loads the next piece of each chunk.
#include "runtime/parallel/workers.h"

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
bool are_all(const Machine& m, const ParallelWork& loop, std::span<const ItemRange> runs) {
  return runs.size() == 1 && runs[0].begin == 0 && runs[0].end == m.whole().extent(loop.items);
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
            [](void* context, const Machine& m, const ParallelWork& loop, const ItemRange* runs, std::size_t n,
               const ItemWork& work) {
              return static_cast<Workers*>(context)->run(m, loop, {runs, n}, work);
            }},
      threads_(threads > 0 ? threads : processors()),
      least_(least),
      group_(group && group->size() > 1 ? group : nullptr),
      spill_(spill) {}

std::int32_t Workers::run(const Machine& m, const ParallelWork& loop, std::span<const ItemRange> runs,
                          const ItemWork& work) {
  if (m.loader && m.loader->loads_by_chunks && loop.of_stage && are_all(m, loop, runs))
    return run_out_of_core(m, loop, work);
  if (!group_ && is_one_chunk(m, loop, runs, least_)) return work_alone(m, runs, work);
  const Partition partition = partition_into_chunks(m, loop, runs, least_);
  Group* const group = loop.of_stage ? group_ : nullptr;  // regions outside the items are computed by every process
  // `spread`: after this visit, the factors of an item are at the owner of its chunk alone. A visit of other chunks
  // needs the factors of items everywhere first.
  const bool spread = group && partition.count() > 1 && !m.window, all = are_all(m, loop, runs);
  const auto is_same = [&] { return spread_ && spread_->items == loop.items && spread_->partition == partition; };
  if (loop.of_stage && !(spread && is_same())) gather(m);
  if (partition.count() == 1) return work_alone(m, runs, work);
  if (work.from_priors) machine::assign_window(m, partition.runs);
  SumTree sums = tree(loop, partition.count());
  const std::size_t part = group ? group->rank() : 0, parts = group ? group->size() : 1;
  this->work(m, loop, partition, chunks_of_process(partition.count(), part, parts), work, sums);
  const std::int32_t status = add_up(m, loop, sums, group);
  if (spread && all && !spread_) spread_.emplace(loop.items, partition);
  if (spread && is_same()) is_spread_ = true;
  else if (spread) send_rows(m, loop.items, partition);
  return status;
}

std::int32_t Workers::add_up(const Machine& m, const ParallelWork& loop, SumTree& sums, Group* group) {
  if (group) reduce_branch(m, loop, sums.root(), sums);
  Sums total = sums.is_whole() ? sums.take(sums.root()) : sums.fresh(m, loop);
  if (group) group->broadcast(total.values(), owner_of(0, sums.root().end));
  total.add_to(m, loop);
  const std::int32_t status = total.status();
  sums.give_back(std::move(total));
  return status;
}

std::int32_t Workers::run_out_of_core(const Machine& m, const ParallelWork& loop, const ItemWork& work) {
  start_threads();
  auto entry = partitions_.find(loop.sums.data());
  if (entry == partitions_.end()) {
    const ItemRange all{0, m.whole().extent(loop.items)};
    entry = partitions_.emplace(loop.sums.data(), partition_into_chunks(m, loop, {&all, 1}, least_, m.loader)).first;
  }
  const Partition& partition = entry->second;
  const ChunkRange mine =
      chunks_of_process(partition.count(), group_ ? group_->rank() : 0, group_ ? group_->size() : 1);
  SumTree sums = tree(loop, partition.count());
  std::vector<ChunkProgress> in_progress;  // chunks in progress, ascending
  for (std::size_t next = mine.begin; next < mine.end || !in_progress.empty();) {
    for (; next < mine.end && in_progress.size() < threads_; ++next) {
      const bool from_priors = work.from_priors || (spill_ && !spilled_.contains(next));
      in_progress.push_back({next, partition.of(next)[0], from_priors, 0, sums.fresh(m, loop)});
    }
    load_items(m, loop, in_progress, work);
    const auto is_done = [](const ChunkProgress& t) { return t.rest.begin == t.rest.end; };
    for (ChunkProgress& t : in_progress) {
      if (!is_done(t)) continue;
      if (spill_) spilled_.insert(t.chunk);
      sums.put({t.chunk, t.chunk + 1}, std::move(t.sums));
    }
    std::erase_if(in_progress, is_done);
  }
  return add_up(m, loop, sums, group_);
}

void Workers::load_items(const Machine& m, const ParallelWork& loop, std::span<ChunkProgress> in_progress,
                         const ItemWork& work) {
  // A piece has a multiple of the items that code processes together, counted from the beginning of the chunk: so its
  // bits are those of the whole chunk.
  constexpr std::int64_t kFewTogether = 8;  // used if memory does not allow kItemsTogether
  const std::int64_t each = m.loader->items / static_cast<std::int64_t>(threads_),
                     together = each < kItemsTogether ? kFewTogether : kItemsTogether,
                     most = std::max(together, each / together * together);
  std::vector<ItemRange> runs;
  for (const ChunkProgress& t : in_progress)
    runs.push_back({t.rest.begin, std::min(t.rest.end, t.rest.begin + most)});
  const ItemRange* const here = m.loader->load_items(m.loader->context, runs.data(), runs.size());
  const auto rows = [&](std::size_t k) {
    std::vector<std::span<double>> out;
    for (std::int64_t b = 0; spill_ && b < m.model->buffer_count; ++b)
      out.push_back(rows_of(m, loop.items, here[k], b));
    return out;
  };
  for (std::size_t k = 0; spill_ && k < in_progress.size(); ++k)
    if (!in_progress[k].from_priors) spill_->load(in_progress[k].chunk, in_progress[k].before, rows(k));
  std::atomic<std::size_t> next = 0;
  pool_->run([&](std::size_t thread) {
    Worker& w = *workers_[thread];
    w.prepare_for(m, loop);
    for (std::size_t k = next++; k < in_progress.size(); k = next++) {
      in_progress[k].sums.enter(loop, w.table);
      const std::int32_t status =
          machine::work_on(w.machine, k, {&here[k], 1}, {work.function, in_progress[k].from_priors});
      if (status != 0 && in_progress[k].sums.status() == 0) in_progress[k].sums.fail(status);
    }
  });
  for (std::size_t k = 0; k < in_progress.size(); ++k) {
    if (spill_) in_progress[k].before = spill_->save(in_progress[k].chunk, in_progress[k].before, rows(k));
    in_progress[k].rest.begin = runs[k].end;
  }
}

void Workers::start_threads() {
  if (pool_) return;
  pool_ = std::make_unique<Pool>(threads_);
  for (std::size_t k = 0; k < threads_; ++k)
    workers_.push_back(std::make_unique<Worker>());
}

void Workers::work(const Machine& m, const ParallelWork& loop, const Partition& partition, ChunkRange mine,
                   const ItemWork& work, SumTree& sums) {
  start_threads();
  std::atomic<std::size_t> next = mine.begin;
  pool_->run([&](std::size_t thread) {
    Worker& w = *workers_[thread];
    w.prepare_for(m, loop);
    for (std::size_t chunk = next++; chunk < mine.end; chunk = next++) {
      Sums own = sums.fresh(m, loop);
      own.enter(loop, w.table);
      own.fail(machine::work_on(w.machine, partition.begin[chunk], partition.of(chunk), work));
      sums.put({chunk, chunk + 1}, std::move(own));
    }
  });
}

Partition Workers::partition_items(const Machine& m, const ParallelWork& loop) const {
  const ItemRange all{0, m.view().extent(loop.items)};
  return partition_into_chunks(m, loop, {&all, 1}, least_);
}

std::size_t Workers::owner_of(std::size_t chunk, std::size_t chunks) const {
  std::size_t out = 0;
  while (chunks_of_process(chunks, out, group_->size()).end <= chunk)
    ++out;
  return out;
}

void Workers::reduce_branch(const Machine& m, const ParallelWork& loop, Branch branch, SumTree& sums) {
  const std::size_t all = sums.root().end, first = owner_of(branch.begin, all), last = owner_of(branch.end - 1, all);
  if (first == last) return;
  const Branch right = branch.right();
  reduce_branch(m, loop, branch.left(), sums);
  reduce_branch(m, loop, right, sums);
  const std::size_t from = owner_of(right.begin, all), here = group_->rank();
  if (from == first) return;  // both halves met at one process already
  if (here == from) {
    Sums sent = sums.take(right);
    group_->send(sent.values(), first);
    sums.give_back(std::move(sent));
  } else if (here == first) {
    Sums received = sums.fresh(m, loop);
    group_->receive(received.values(), from);
    sums.put(right, std::move(received));
  }
}

void Workers::send_rows(const Machine& m, machine::Extent items, const Partition& partition) {
  for (std::size_t chunk = 0; chunk < partition.count(); ++chunk) {
    const std::size_t owner = owner_of(chunk, partition.count());
    for (const ItemRange& run : partition.of(chunk)) {
      for (std::int64_t b = 0; b < m.model->buffer_count; ++b) {
        const std::span<double> rows = rows_of(m, items, run, b);
        if (!rows.empty()) group_->broadcast(rows, owner);
      }
    }
  }
}

void Workers::gather(const Machine& m) {
  if (is_spread_) send_rows(m, spread_->items, spread_->partition);
  is_spread_ = false;
}

void Workers::Worker::prepare_for(const Machine& m, const ParallelWork& loop) {
  const auto buffers = static_cast<std::size_t>(m.model->buffer_count);
  if (table.size() != buffers) store = Memory(std::vector<std::size_t>(buffers, 0));
  table.assign(m.table, m.table + buffers);
  run_table.resize(buffers);
  run_sizes.resize(static_cast<std::size_t>(m.model->size_count));
  for (const std::int64_t buffer : loop.scratch) {
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
