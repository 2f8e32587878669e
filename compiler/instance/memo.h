// A memo: values that are made once for each key and then shared, by any number of threads.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace lehr {

/// Values by key, made when they are first needed and shared by threads. Of several threads that need one key, the
/// first makes the value and the others wait for it. Beyond `kMostValues` keys all values are dropped, so that the
/// memory stays small; a value stays alive as long as it is used.
template <class Key, class Value>
class Memo {
 public:
  /// Returns the value of the key. If there is none yet, it is made by `make`. If `make` throws, the next call for the
  /// key tries again.
  template <class Make>
  std::shared_ptr<const Value> find_or_make(Key key, const Make& make) const {
    const std::shared_ptr<Entry> entry = entry_of(std::move(key));
    std::call_once(entry->made, [&] { entry->value = std::make_shared<const Value>(make()); });
    return entry->value;
  }

 private:
  /// The number of keys beyond which all values are dropped.
  static constexpr std::size_t kMostValues = 64;

  /// A value that is made at most once.
  struct Entry {
    std::once_flag made;                 // set once `value` is made
    std::shared_ptr<const Value> value;  // null until it is made
  };

  /// Returns the entry of a key, and adds one without a value if there is none; drops all others first if there are
  /// kMostValues.
  std::shared_ptr<Entry> entry_of(Key key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) return found->second;
    if (entries_.size() >= kMostValues) entries_.clear();
    return entries_.emplace(std::move(key), std::make_shared<Entry>()).first->second;
  }

  mutable std::mutex mutex_;                               // guards the map
  mutable std::map<Key, std::shared_ptr<Entry>> entries_;  // the values so far, by key
};

}  // namespace lehr
