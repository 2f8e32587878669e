// The items of a stage, or the turns of a phase, in shares, on several threads, and on the machines of a group. Shares
// depend on the model and the data alone, and the sums over them are added up in one order (SumTree): the same bits
// come from any number of either.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/methods/group.h"
#include "runtime/methods/memory.h"
#include "runtime/methods/pool.h"
#include "runtime/methods/shares.h"
#include "runtime/methods/spill.h"
#include "runtime/methods/sum_tree.h"

namespace lehr {

/// The factors of consecutive items in a buffer that has rows of them; empty in others.
std::span<double> rows_of(const machine::Machine& m, machine::Extent items, machine::ItemRange run,
                          std::int64_t buffer);

class Workers {
 public:
  /// `threads`: 0 for one a processor. With a group, each process works on its part of the shares, and all have all
  /// sums; the model has one item stage, and nothing outside of it reads factors of items.
  /// Factors of items whose data come from elsewhere are kept in `spill` between visits; null: there are none.
  explicit Workers(std::size_t threads = 0, const ShareSize& least = {}, Group* group = nullptr,
                   Spill* spill = nullptr);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  const machine::Workers* hook() const { return &hook_; }

  /// All items of a stage, and what their sums are added up in.
  Cut cut(const machine::Machine& m, const machine::Shareable& what) const;
  SumTree tree(const machine::Shareable& what, std::size_t shares) {
    return {shares, spare_[{what.sums.data(), what.sums.size()}]};
  }
  /// Works on some of the shares, on all threads.
  void work(const machine::Machine& m, const machine::Shareable& what, const Cut& shares, ShareRange mine,
            const machine::ItemWork& work, SumTree& sums);

  /// Factors of items are with those who worked on them last; from here on they are everywhere.
  void gather(const machine::Machine& m);
  /// Those in place are from before, when they may have been elsewhere.
  void scatter() { is_spread_ = spread_.has_value(); }
  /// Items in the spill begin at their priors when they are visited the next time.
  void forget_spilled() { spilled_.clear(); }

 private:
  /// A machine with scratch of its own.
  struct Worker {
    Memory store;
    std::vector<lehr_buffer> table, run_table;
    std::vector<std::int64_t> run_sizes;
    machine::Machine machine;

    void join(const machine::Machine& m, const machine::Shareable& what);
  };

  /// A share whose items are brought piece by piece.
  struct Turn {
    std::size_t share;
    machine::ItemRange rest;
    bool formed;             // items begin at their priors
    std::size_t before = 0;  // numbers of the share's factors that belong to the items before
    Sums sums;
  };

  std::int32_t run(const machine::Machine& m, const machine::Shareable& what, std::span<const machine::ItemRange> runs,
                   const machine::ItemWork& work);
  void hire();
  std::int32_t add_up(const machine::Machine& m, const machine::Shareable& what, SumTree& sums, Group* group);
  /// All items, of which each process brings its own.
  std::int32_t run_supplied(const machine::Machine& m, const machine::Shareable& what, const machine::ItemWork& work);
  /// The next pieces of these shares, side by side.
  void bring(const machine::Machine& m, const machine::Shareable& what, std::span<Turn> turns,
             const machine::ItemWork& work);
  std::size_t owner_of(std::size_t share, std::size_t shares) const;
  /// The sums of a branch at whoever has its first share.
  void unite(const machine::Machine& m, const machine::Shareable& what, Branch branch, SumTree& sums);
  void send_rows(const machine::Machine& m, machine::Extent items, const Cut& shares);

  machine::Workers hook_;
  std::size_t threads_;
  ShareSize least_;
  Group* group_;
  Spill* spill_;
  std::set<std::size_t> spilled_;            // shares whose factors are in the spill
  std::map<const std::int64_t*, Cut> cuts_;  // of all items that are elsewhere, by the sums
  std::unique_ptr<Pool> pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::map<std::pair<const std::int64_t*, std::size_t>, std::vector<Sums>> spare_;  // by the buffers that they are of
  /// How all items were shared out in a group, and whether their factors are where that says.
  struct Spread {
    machine::Extent items;
    Cut shares;
  };
  std::optional<Spread> spread_;
  bool is_spread_ = false;
};

}  // namespace lehr
