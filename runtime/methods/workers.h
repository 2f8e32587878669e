// The items of a stage, or the turns of a phase, in shares, on several threads. Shares depend on the model and the data
// alone, and the sums over them are added up in their order: the same bits come from any number of threads.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "runtime/machine/machine.h"
#include "runtime/methods/memory.h"
#include "runtime/methods/pool.h"

namespace lehr {

/// What is worth a share of its own.
struct ShareSize {
  double operations = 2'000'000;  // at least this many,
  double of_sum = 100;            // and as many for each number that a share adds up;
  double outside = 500'000;       // at least this many of turns that all threads wait for
};

class Workers {
 public:
  /// `threads`: 0 for one a processor.
  explicit Workers(std::size_t threads = 0, const ShareSize& least = {});
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  const machine::Workers* hook() const { return &hook_; }

 private:
  /// Runs of items, and where those of each share begin among them.
  struct Shares {
    std::vector<machine::ItemRange> runs;
    std::vector<std::size_t> begin;

    std::span<const machine::ItemRange> of(std::size_t share) const {
      const std::size_t end = share + 1 < begin.size() ? begin[share + 1] : runs.size();
      return {runs.data() + begin[share], end - begin[share]};
    }
  };
  /// A machine with scratch and sums of its own.
  struct Worker {
    Memory store;
    std::vector<lehr_buffer> table, run_table;
    std::vector<std::int64_t> run_sizes;
    machine::Machine machine;

    void join(const machine::Machine& m, const machine::Shareable& what);
    void own(std::int64_t buffer, std::size_t length);
    /// Adds up from zero; what is the first share, in the sums of all.
    void take_sums(const machine::Machine& of, const machine::Shareable& what, bool first);
    void give_sums(const machine::Machine& to, const machine::Shareable& what);
  };

  std::int32_t run(const machine::Machine& m, const machine::Shareable& what, std::span<const machine::ItemRange> runs,
                   const machine::ItemWork& work);
  std::int32_t run(const machine::Machine& m, const machine::Shareable& what, const Shares& shares,
                   const machine::ItemWork& work);
  std::size_t count_shares(const machine::Machine& m, const machine::Shareable& what,
                           std::span<const machine::ItemRange> runs) const;

  machine::Workers hook_;
  std::size_t threads_;
  ShareSize least_;
  std::unique_ptr<Pool> pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace lehr
