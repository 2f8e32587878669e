// Record and replay: how a run resumes from a checkpoint. A run is a function of its options and of what its engine
// tells it: statuses, ELBOs and other numbers that decisions follow from, and snapshots of arrays. The journal records
// these. A resumed run starts from the beginning and takes the recorded answers instead of computing them; at the last
// record, the memory of the engine is restored, and real work goes on with the same bits.
//
//     first run      sweep -> 0, elbo -> -812.4, sweep -> 0 | checkpoint: these records, the live snapshots, the memory
//     resumed run    0, -812.4, 0 from the journal | the memory is restored | sweep, elbo, ... are computed
//
// So a method can resume without code of its own, if it reads engines and snapshots only inside Engine::recorded and
// makes snapshots only by Engine::snapshot. During a replay, memory and snapshots have no meaningful contents outside
// these calls.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/bytes.h"

namespace lehr {

/// A snapshot: a list of arrays of numbers.
using Arrays = std::vector<std::vector<double>>;

/// Thrown if a replayed run asks for something that the journal does not contain: the checkpoint belongs to another
/// run, or is damaged.
struct ReplayMismatch : std::runtime_error {
  /// Makes the exception with its message.
  ReplayMismatch() : std::runtime_error("the run took another way") {}
};

/// Records what a run learns from its engine, and replays it when the run resumes from a checkpoint.
class Journal {
 public:
  /// The contents of a checkpoint.
  struct Past {
    std::string seen;                           // all recorded results, serialised, in order
    std::map<std::uint64_t, Arrays> snapshots;  // snapshots that were alive at its end, by their serial numbers
    std::string memory;                         // the memory of the engine at its end (Engine::memory)
  };
  /// Serialises the members of a checkpoint, for Reader and Writer of runtime/bytes.h.
  template <class Archive>
  friend void fields(Archive& a, Past& p) {
    a(p.seen, p.snapshots, p.memory);
  }

  /// Makes an empty journal: the run starts, and nothing is replayed.
  Journal() = default;
  /// Makes a journal that first replays a checkpoint, then records on.
  explicit Journal(Past past);

  /// Returns a checkpoint of everything so far, with this memory of the engine. Must not be called inside recorded() or
  /// snapshot(), nor during a replay.
  Past past(std::string memory) const;
  /// Returns true while recorded results are left to replay.
  bool replays() const { return at_ < past_.size(); }
  /// Called at the end of the replay, with the recorded memory of the engine. Set by Engine::follow.
  std::function<void(const std::string& memory)> arrived;

  /// Returns f() and records it. During a replay it returns the recorded value and does not call f. A call inside
  /// another one (or inside snapshot()) calls f and is not recorded. Throws ReplayMismatch if the bytes that are left
  /// do not contain a value of the type of f().
  template <class F>
  auto recorded(const F& f) {
    using T = std::decay_t<std::invoke_result_t<const F&>>;
    if (inside_) return T(f());
    if (replays()) return again<T>();
    const Inside inside(inside_);
    T out = f();
    Writer to(seen_);
    to(out);
    if (seen_.size() >= kTogether) put_away();
    return out;
  }

  /// Returns the snapshot that f() makes, and registers it so that a checkpoint contains it while it is alive. During a
  /// replay it does not call f: it returns the contents at the time of the checkpoint, or no arrays if the snapshot had
  /// been dropped by then. A call inside recorded() calls f and registers nothing.
  template <class F>
  std::shared_ptr<Arrays> snapshot(const F& f) {
    if (inside_) return std::make_shared<Arrays>(f());
    std::shared_ptr<Arrays> out = std::make_shared<Arrays>(replays() ? replayed_snapshot() : within(f));
    keep(out);
    return out;
  }

 private:
  /// A guard that marks calls inside recorded() or snapshot().
  struct Inside {
    /// Sets the mark; the destructor clears it.
    explicit Inside(bool& b) : inside(b) { inside = true; }
    ~Inside() { inside = false; }
    bool& inside;  // the mark: true inside recorded() or snapshot()
  };

  /// Returns the next recorded value during a replay; after the last one, it ends the replay.
  template <class T>
  T again() {
    Reader from(std::string_view(past_).substr(at_));
    try {
      T out = from.take<T>();
      at_ = past_.size() - from.left();
      if (!replays()) arrive();
      return out;
    } catch (const std::out_of_range&) {
      throw ReplayMismatch();
    }
  }
  /// Returns f(), whose own calls of recorded() are not recorded.
  template <class F>
  Arrays within(const F& f) {
    const Inside inside(inside_);
    return f();
  }
  /// Ends the replay: drops its snapshots and calls `arrived`.
  void arrive();
  /// Returns the replayed snapshot with the next serial number; no arrays if the checkpoint does not contain it.
  Arrays replayed_snapshot();
  /// Registers a snapshot under the next serial number, so that checkpoints contain it as long as the run holds it. The
  /// journal does not hold it itself.
  void keep(const std::shared_ptr<Arrays>& arrays);
  /// Moves the full buffer of new records to `earlier_`.
  void put_away();

  static constexpr std::size_t kTogether = 1 << 16;  // size in bytes at which a buffer of records is full
  std::string past_,                                 // records to replay
      memory_;                                       // memory of the engine, to be restored at their end
  std::vector<std::string> earlier_;                 // full buffers of new records
  std::string seen_;                                 // the buffer of new records that is being filled
  std::size_t at_ = 0;                               // position in `past_`
  std::map<std::uint64_t, Arrays> replayed_;         // replayed snapshots, by serial number, not yet requested
  std::vector<std::pair<std::uint64_t, std::weak_ptr<Arrays>>> snapshots_;  // all snapshots, by serial number
  std::size_t enough_ = 64;  // length of `snapshots_` at which dropped snapshots are removed
  std::uint64_t next_ = 0;   // serial number of the next snapshot
  bool inside_ = false;      // true inside recorded() or snapshot()
};

}  // namespace lehr
