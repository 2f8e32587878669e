// What a run has learnt of its engine, so that it can be gone through once more without the work. A run is a function
// of its options and of that: of statuses, bounds and other numbers that decisions follow from, and of the arrays that
// it keeps. With the memory of the engine they are a checkpoint; a run that goes on from one is the same run from its
// start, which is told what it learnt by then, and works from there on with the same bits.
//
// Methods learn by Engine::seen, and keep by Engine::held; what else they read of engines and of kept arrays they read
// within one of these. On the way back there is nothing to be read elsewhere.
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

using Arrays = std::vector<std::vector<double>>;

/// The run on the way back is not the one that the journal is of.
struct OtherRun : std::runtime_error {
  OtherRun() : std::runtime_error("the run took another way") {}
};

class Journal {
 public:
  /// All that was learnt, and at the end of it what was kept, by the number of its making, and Engine::memory.
  struct Past {
    std::string seen;
    std::map<std::uint64_t, Arrays> kept;
    std::string memory;
  };
  template <class Archive>
  friend void fields(Archive& a, Past& p) {
    a(p.seen, p.kept, p.memory);
  }

  Journal() = default;
  explicit Journal(Past past);

  /// Everything until now. Not within `seen`.
  Past past(std::string memory) const;
  /// On the way back.
  bool replays() const { return at_ < past_.size(); }
  /// Called where the way back ends, with the memory of the past.
  std::function<void(const std::string& memory)> arrived;

  /// What `f` returns; on the way back what it returned, without a call. Throws OtherRun where that is not there.
  template <class F>
  auto seen(const F& f) {
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

  /// What `f` makes; on the way back what it held at the end of it, and nothing where it was forgotten by then.
  template <class F>
  std::shared_ptr<Arrays> held(const F& f) {
    if (inside_) return std::make_shared<Arrays>(f());
    std::shared_ptr<Arrays> out = std::make_shared<Arrays>(replays() ? found() : within(f));
    keep(out);
    return out;
  }

 private:
  struct Inside {
    explicit Inside(bool& b) : inside(b) { inside = true; }
    ~Inside() { inside = false; }
    bool& inside;
  };

  template <class T>
  T again() {
    Reader from(std::string_view(past_).substr(at_));
    try {
      T out = from.take<T>();
      at_ = past_.size() - from.left();
      if (!replays()) arrive();
      return out;
    } catch (const std::out_of_range&) {
      throw OtherRun();
    }
  }
  template <class F>
  Arrays within(const F& f) {
    const Inside inside(inside_);
    return f();
  }
  void arrive();
  Arrays found();
  void keep(const std::shared_ptr<Arrays>& arrays);
  void put_away();

  static constexpr std::size_t kTogether = 1 << 16;  // bytes: what has been learnt is not moved when there is more
  std::string past_, memory_;
  std::vector<std::string> earlier_;
  std::string seen_;
  std::size_t at_ = 0;
  std::map<std::uint64_t, Arrays> found_;  // that the run on the way back has not asked for yet
  std::vector<std::pair<std::uint64_t, std::weak_ptr<Arrays>>> kept_;
  std::size_t enough_ = 64;  // entries of `kept_` before those that were forgotten are removed
  std::uint64_t next_ = 0;
  bool inside_ = false;
};

}  // namespace lehr
