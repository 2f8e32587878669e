// An engine: a compiled model with memory, data and threads of its own, on which all methods of this folder work. The
// origin of its code (JIT, interpreter, object file) does not matter here. The engine adds to machine::Machine: memory,
// copies of q, incremental sweeps, and a journal through which a resumed run repeats its decisions.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/inference/incremental.h"
#include "runtime/machine/start.h"
#include "runtime/parallel/item_window.h"
#include "runtime/parallel/journal.h"
#include "runtime/parallel/memory.h"
#include "runtime/parallel/workers.h"

namespace lehr {

using machine::Elbo;
using machine::ItemRange;
using machine::StepRow;
using machine::Weights;

/// The values of the global parameters: one array for each buffer of Engine::global_buffers(), in that order.
using Parameters = Arrays;

/// A source of out-of-core items, as functions of the caller.
struct LoaderFunctions {
  std::int64_t items = 0;  // how many items a visit of all items loads at a time, for all threads together
  /// Loads the data of these runs: calls Engine::resize_items with their sizes and fills the data buffers. Null: all
  /// data are in memory.
  std::function<void(std::span<const ItemRange> runs)> load_items = {};
  /// Returns, in the numbering of all items, the first element that belongs to `item` of the nested plate whose size
  /// has this slot.
  std::function<std::int64_t(std::int64_t slot, std::int64_t item)> row = {};
};

/// Status of Engine::elbo() for an ELBO above the largest that is right (Engine::limit_elbo), or one of whose digits
/// rounding leaves fewer than five (cancelled.h). Those of the generated code are from 100 on.
inline constexpr std::int32_t kLostDigits = 99;

/// A shared snapshot of q or of other arrays; null if there is none.
using Snapshot = std::shared_ptr<const Arrays>;

/// A compiled model with memory for its factors, its data and threads, on which all inference methods run sweeps. It is
/// not copyable; `const` methods may still write the memory.
class Engine {
 public:
  /// Allocates the buffers. `model`, with its tables and functions (or `code`, an interpreter, in their place), must
  /// outlive the engine. `sizes` has the run-time sizes by slot. If `window` is above 0, the model takes minibatches
  /// and one stage has all local blocks, only the factors of the items in a visit are stored, and a visit of all items
  /// takes `window` at a time; otherwise the factors of all items are stored. Pick buffers have no memory until a start
  /// needs them (see Picks in random_start.cpp). With a `source`, no items are in memory until the first are loaded.
  /// Throws OutOfMemory if the host's memory does not suffice.
  Engine(const machine::Model& model, std::vector<std::int64_t> sizes, std::int64_t window, const machine::Code* code,
         LoaderFunctions source = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Sets the sizes of the out-of-core items that are about to be loaded, by slot, and enlarges their buffers if
  /// necessary. Only LoaderFunctions::load_items calls it.
  void resize_items(const std::vector<std::int64_t>& sizes);

  /// Distributes items over this many threads (0: one a processor, as in a new engine) and over the processes of a
  /// group, which must outlive the engine. An interpreter has one thread only. `least` is the least work of a chunk,
  /// the items that one thread takes at a time. Results depend on `least`, but not on the numbers of threads and
  /// processes. A group requires can_distribute().
  void work_with(std::size_t threads, const ChunkSize& least = {}, Group* group = nullptr);
  /// Returns true if the items can be distributed over processes: one stage has them all and takes minibatches, so that
  /// the rest of the model reads only sums over them; the engine has no window (memory for the factors of a few items
  /// only), and nothing is sampled.
  bool can_distribute() const { return IncrementalBatches::can_divide(machine_); }
  /// Sends the factors of all items to all processes of the group. Call it before reading those of other processes.
  void gather() const { workers_->gather(machine_); }

  /// Sets into how many parts an incremental sweep divides the items, with updates outside the items after each part. 0
  /// chooses the number that is expected to save time. The number is at most that of the items. It is 1 for models that
  /// cannot be divided and for out-of-core items.
  void divide(std::int64_t parts);
  /// Marks cached reductions (sums that generated code reuses until a factor changes) as invalid. Call it after writing
  /// factors otherwise than by generated functions and load().
  void invalidate_sums() const { machine::invalidate_sums(machine_); }
  /// Returns the threads of this process among which work on items is divided.
  Workers& workers() const { return *workers_; }
  /// Marks the stored sums of the incremental batches (parts()) as invalid. Call it after writing factors of items
  /// otherwise than by sweeps and load().
  void invalidate_parts() const { parts_->invalidate(); }
  /// Returns the state of incremental sweeps: the number of parts of the items, and the sums of each. divide() replaces
  /// it.
  IncrementalBatches& parts() const { return *parts_; }

  /// Returns the tables of the compiled model.
  const machine::Model& model() const { return *machine_.model; }
  /// Returns the machine: the model with this engine's memory.
  const machine::Machine& machine() const { return machine_; }
  /// Returns the steps of a sweep, in order.
  std::span<const StepRow> steps() const { return machine::steps_of(model()); }
  /// Returns the elements of a buffer of doubles.
  std::span<double> reals(std::int64_t buffer) const { return memory_.reals(static_cast<std::size_t>(buffer)); }
  /// Returns the elements of a buffer of int64.
  std::span<std::int64_t> integers(std::int64_t buffer) const {
    return memory_.integers(static_cast<std::size_t>(buffer));
  }
  /// Returns the length of an axis; for an axis over out-of-core items, that of the items in memory.
  std::int64_t extent(machine::Extent e) const { return machine_.view().extent(e); }
  /// Reallocates a buffer with `length` zeros; its contents are lost. Pick buffers have memory only while a start needs
  /// them.
  void resize(std::int64_t buffer, std::size_t length);
  /// Stores the factors of out-of-core items in the files of `spill` between visits, so that they persist as if in
  /// memory. Call it before work_with().
  void keep_items_in(std::unique_ptr<Spill> spill) { spill_ = std::move(spill); }
  /// Returns true if factors of out-of-core items are stored in files.
  bool spills() const { return spill_ != nullptr; }
  /// Returns true if a buffer has rows of items and is not in memory as a whole: its items are in a window or out of
  /// core.
  bool is_partial(std::int64_t buffer) const;
  /// Returns true if the model takes minibatches: sums over some items, scaled up, can stand for those over all.
  bool minibatches() const { return model().batch_slot >= 0; }
  /// Returns the number of items from which minibatches are drawn; 1 if the model has no item stage.
  std::int64_t items() const;

  /// Records the results of the engine in a journal from now on; null ends it. While the journal replays, the engine
  /// does no work and returns the recorded results; at the end of the replay it restores the recorded memory.
  void follow(Journal* journal);
  /// Returns the buffers on which later sweeps depend, besides the data, and the state of incremental sweeps, as bytes.
  /// Factors of out-of-core items are left out. All processes of a group call it, because it calls gather(). A journal
  /// restores them at the end of its replay (follow()).
  std::string memory() const;
  /// Returns f() and records it in the journal, or returns the recorded value while a resumed run replays, so that it
  /// makes the same decisions.
  template <class F>
  auto recorded(const F& f) const {
    return journal_ ? journal_->recorded(f) : f();
  }
  /// Returns a snapshot made by f() and registers it in the journal, so that a checkpoint contains it; while a resumed
  /// run replays, it returns what the checkpoint has instead.
  template <class F>
  std::shared_ptr<Arrays> snapshot(const F& f) const {
    return journal_ ? journal_->snapshot(f) : std::make_shared<Arrays>(f());
  }

  /// Calls the generated function with this index, which has no arguments, with the sizes of all items. Returns 0 or a
  /// failure status; it is recorded in the journal.
  std::int32_t call(std::int64_t function) const {
    return recorded([&] { return machine::call(machine_, function); });
  }
  /// Computes the sums and inverses that depend on the data alone, over all items. Call it before the first sweep, and
  /// after sums of a minibatch have replaced them. Returns 0 or a status of the generated code.
  std::int32_t prepare() const {
    return recorded([&] { return machine::prepare(machine_); });
  }
  /// Sets the weights (inverse temperatures, step size) that generated code uses in the following updates.
  void set(const Weights& w) const { machine::set(machine_, w); }
  /// Computes the ELBO of the present factors and its parts. Returns 0, a status of the generated code, or kLostDigits.
  std::int32_t elbo(Elbo& out) const;
  /// Sets the largest ELBO that is right; a higher one is a failure from now on (kLostDigits), so that no search
  /// prefers it. Infinite in a new engine.
  void limit_elbo(double largest) { largest_elbo_ = largest; }

  /// Limits random starts, save() and load() to the factors of the first `count` items, which alone are swept from now
  /// on (SweepOptions::items); 0 ends that. What was saved in one state fits no other. The items must have a run-time
  /// size, and all of their factors must be stored.
  void store_items(std::int64_t count) const;
  /// Returns the buffers that make up q in memory: factors and statistics. Those of out-of-core items are left out.
  std::vector<std::int64_t> state_buffers() const;
  /// Returns a copy of the buffers of state_buffers(), one array each. With a window the arrays of factors of items are
  /// empty. `spare` may be discarded arrays, whose memory is then reused.
  Arrays save(Arrays spare = {}) const;
  /// Copies buffers of save() back, and marks cached reductions and the sums of parts as invalid. Throws ReplayMismatch
  /// if the lengths differ, as those of a damaged checkpoint may.
  void load(const Arrays& saved) const;
  /// Returns a snapshot of q, registered in the journal, so that a resumed run gets the same.
  Snapshot snapshot_state() const {
    return snapshot([&] { return save(std::exchange(spare_, {})); });
  }
  /// Drops a snapshot of q; if nothing else refers to it, the next one reuses its memory. Where a state is large, new
  /// memory takes more time than the copy.
  void drop(Snapshot& saved) const;
  /// Copies a snapshot of q back, as load() does, and drops it.
  void revert(Snapshot& saved) const;
  /// Returns a snapshot of the global parameters. `spare` may be discarded arrays, whose memory is then reused.
  std::shared_ptr<Arrays> snapshot_parameters(Arrays spare = {}) const {
    return snapshot([&] { return global_parameters(std::move(spare)); });
  }
  /// Copies a snapshot of q back; does nothing during a replay. `saved` must not be null.
  void load(const Snapshot& saved) const;
  /// Returns the buffers of the parameters that no item stage updates, in the order of Model::parameters.
  std::vector<std::int64_t> global_buffers() const;
  /// Returns a copy of the parameters in global_buffers(). `spare` may be discarded arrays, whose memory is then
  /// reused.
  Parameters global_parameters(Arrays spare = {}) const;
  /// Computes the global parameters of another random start, for annealing that mixes them into the present ones. The
  /// start is of the run's kind unless another is named. Afterwards the weights are 1, and q in memory is as before; if
  /// the start fails, it is not. Returns 0 or a status of the generated code.
  std::int32_t random_parameters(std::uint64_t seed, std::optional<StartKind> kind, Parameters& out) const;

  /// Returns the message of a status of the generated code, in the words of the model. Set by the owner.
  std::function<std::string(std::int32_t status)> describe;
  /// Replaces q by a random start with this seed, of the run's kind unless another is named (or of another kind, if a
  /// start of the run's kind fails). Returns 0 or a status of the generated code. Set by set_restart().
  std::function<std::int32_t(std::uint64_t seed, std::optional<StartKind> kind)> restart;

 private:
  /// Returns what save() copies of a buffer: all of it, or the rows of the items of store_items().
  std::span<double> saved_part(std::int64_t buffer) const;
  /// Copies bytes that memory() has returned (buffers, and the state of incremental sweeps) back into the engine, at
  /// the end of a replay. Throws ReplayMismatch if the lengths differ.
  void restore(const std::string& memory);
  /// Loads the data of these runs of out-of-core items by `source_`. Returns their index ranges in memory, one a run,
  /// valid until the next call.
  const ItemRange* load_items(std::span<const ItemRange> runs);

  std::vector<std::int64_t> sizes_,                 // run-time sizes by slot, of the items in memory
      all_;                                         // run-time sizes with all items, in memory or not
  mutable std::vector<std::int64_t> stored_sizes_;  // run-time sizes of the items whose factors are in the table
  std::vector<std::int64_t> run_sizes_;             // scratch: run-time sizes while a run of items is processed
  std::vector<lehr_buffer> run_table_;              // scratch: a table of buffers while a run of items is processed
  Memory memory_;                                   // the contents of all buffers
  machine::Machine machine_;                        // the model with this memory; refers to the members above
  std::unique_ptr<ItemWindow> window_;              // memory for factors of a few items; null: those of all are stored
  LoaderFunctions source_;                          // source of out-of-core items
  std::optional<machine::ItemLoader> loader_;  // the source of out-of-core items, in the form that the machine uses
  std::vector<ItemRange> loaded_;              // index ranges of the runs that were loaded last
  std::unique_ptr<Spill> spill_;               // files for the factors of out-of-core items; may be null
  std::unique_ptr<Workers> workers_;           // threads that divide work on items among them
  std::unique_ptr<IncrementalBatches> parts_;  // state of incremental sweeps
  double largest_elbo_ = INFINITY;             // see limit_elbo()
  mutable std::int64_t saved_items_ = 0;       // see store_items(); 0: all
  Journal* journal_ = nullptr;                 // journal of the caller; null: results are not recorded
  mutable Arrays spare_;                       // memory of a dropped snapshot
};

}  // namespace lehr
