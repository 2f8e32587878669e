// A machine with memory of its own: what the methods of this folder work on. Where its code came from (the JIT, the
// interpreter) does not matter here.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/machine/start.h"
#include "runtime/methods/item_window.h"
#include "runtime/methods/journal.h"
#include "runtime/methods/memory.h"
#include "runtime/methods/parts.h"
#include "runtime/methods/workers.h"

namespace lehr {

using machine::Elbo;
using machine::ItemRange;
using machine::StepRow;
using machine::Weights;

/// Values of the global parameters, one array a buffer of Engine::global_buffers.
using Parameters = Arrays;

/// Items whose data come from elsewhere, so many at a time in visits of all; `bring` makes room and puts them in place.
struct Supplied {
  std::int64_t items = 0;
  std::function<void(std::span<const ItemRange> runs)> bring = {};             // null: all data are in memory
  std::function<std::int64_t(std::int64_t slot, std::int64_t item)> row = {};  // see machine::Supply
};

/// A copy of q that a run keeps, or of something else; null: none.
using Held = std::shared_ptr<const Arrays>;

class Engine {
 public:
  /// `model` (its tables and functions, or `code` in their place) must outlive the engine; `sizes` by slot. `window`:
  /// items whose factors are kept at a time at least, 0 for all of them, as it is where the model does not take
  /// minibatches. Buffers of picks have no memory: they are there for a start (see Picks in
  /// runtime/methods/random_start.h). With `supplied` there are no items until some are brought. Throws NoRoom.
  Engine(const machine::Model& model, std::vector<std::int64_t> sizes, std::int64_t window, const machine::Code* code,
         Supplied supplied = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// For items from elsewhere, in the place of those that are there: the sizes of what is brought, by slot.
  void make_room(const std::vector<std::int64_t>& sizes);

  /// Items in shares on this many threads, 0 for one a processor, as it is from the beginning, and in the processes of
  /// a group, which must outlive the engine; the numbers do not depend on either. With a group: can_share_out().
  void work_with(std::size_t threads, const ShareSize& least = {}, Group* group = nullptr);
  /// Sums over the items are all that the rest of the model knows of them: they can be visited anywhere.
  bool can_share_out() const { return Parts::can_divide(machine_); }
  /// Makes the factors of all items known in all processes of the group.
  void gather() const { workers_->gather(machine_); }

  /// Items in parts, each followed by the updates outside the items, by sweeps over all of them; 0: as many as pay. One
  /// where they cannot be.
  void divide(std::int64_t parts);
  /// By whoever replaces other factors, but by calls of functions and `load`.
  void forget_sums() const { machine::forget_sums(machine_); }
  Workers& workers() const { return *workers_; }
  /// By whoever replaces factors of items but by sweeps and `load`.
  void forget_parts() const { parts_->forget(); }
  Parts& parts() const { return *parts_; }

  const machine::Model& model() const { return *machine_.model; }
  const machine::Machine& machine() const { return machine_; }
  std::span<const StepRow> steps() const { return machine::steps_of(model()); }
  std::span<double> reals(std::int64_t buffer) const { return memory_.reals(static_cast<std::size_t>(buffer)); }
  std::span<std::int64_t> integers(std::int64_t buffer) const {
    return memory_.integers(static_cast<std::size_t>(buffer));
  }
  std::int64_t extent(machine::Extent e) const { return machine_.view().extent(e); }
  /// Zeros in place of what was there.
  void resize(std::int64_t buffer, std::size_t length);
  /// Factors of items whose data come from elsewhere are in files between visits, as they are in memory otherwise.
  /// Before work_with.
  void keep_items_in(std::unique_ptr<Spill> spill) { spill_ = std::move(spill); }
  bool spills() const { return spill_ != nullptr; }
  /// Of factors or data of the items, not in memory as a whole.
  bool is_elsewhere(std::int64_t buffer) const;
  /// Sums over some of the items, scaled up, stand for those over all.
  bool minibatches() const { return model().batch_slot >= 0; }
  /// Items that minibatches are drawn from; 1 without item stages.
  std::int64_t items() const;

  /// What a run learns from here on is noted down in a journal, or not (null), as it is from the beginning. On the way
  /// back nothing is done, and at its end the memory that was there then is put in place.
  void follow(Journal* journal);
  /// What a sweep depends on besides data, and back.
  std::string memory() const;
  /// See Journal.
  template <class F>
  auto seen(const F& f) const {
    return journal_ ? journal_->seen(f) : f();
  }
  template <class F>
  std::shared_ptr<Arrays> held(const F& f) const {
    return journal_ ? journal_->held(f) : std::make_shared<Arrays>(f());
  }

  std::int32_t call(std::int64_t function) const {
    return seen([&] { return machine::call(machine_, function); });
  }
  std::int32_t prepare() const {
    return seen([&] { return machine::prepare(machine_); });
  }
  void set(const Weights& w) const { machine::set(machine_, w); }
  std::int32_t elbo(Elbo& out) const;

  /// Buffers of q: factors and statistics.
  std::vector<std::int64_t> state_buffers() const;
  /// A copy of q, and back. In a window: of the global factors and the statistics.
  Arrays save() const;
  void load(const Arrays& saved) const;
  /// The same, of a run that may be gone through once more.
  Held keep() const {
    return held([&] { return save(); });
  }
  /// `room`: arrays of others, in whose place these may be.
  std::shared_ptr<Arrays> keep_parameters(Arrays room = {}) const {
    return held([&] { return global_parameters(std::move(room)); });
  }
  void load(const Held& kept) const;
  /// Buffers of the global parameters, in the order of the interface.
  std::vector<std::int64_t> global_buffers() const;
  Parameters global_parameters(Arrays room = {}) const;
  /// Those of a fresh random start; what is in place stays. 0, or a status of the generated code.
  std::int32_t random_parameters(std::uint64_t seed, std::optional<StartKind> kind, Parameters& out) const;

  std::function<std::string(std::int32_t status)> describe;  // what a status code of the generated code means
  /// A fresh random start in place of the present factors, of the run's kind unless another is named; 0, or a status of
  /// the generated code.
  std::function<std::int32_t(std::uint64_t seed, std::optional<StartKind> kind)> restart;

 private:
  void restore(const std::string& memory);
  const ItemRange* bring(std::span<const ItemRange> runs);

  std::vector<std::int64_t> sizes_, all_, kept_, run_sizes_;
  std::vector<lehr_buffer> run_table_;
  Memory memory_;
  machine::Machine machine_;
  std::unique_ptr<ItemWindow> window_;
  Supplied supplied_;
  std::optional<machine::Supply> supply_;
  std::vector<ItemRange> brought_;  // where the runs that were brought are
  std::unique_ptr<Spill> spill_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Parts> parts_;
  Journal* journal_ = nullptr;
};

}  // namespace lehr
