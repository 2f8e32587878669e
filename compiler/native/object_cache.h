// A cache on disk of linked code, so that a program is compiled once on a machine.
//
// The folder is the one that LEHR_CACHE names, or `lehr` below XDG_CACHE_HOME or ~/.cache; LEHR_CACHE=off means none.
// An entry is written under a temporary name, then renamed. It begins with a digest of its key and its contents. So any
// number of processes may use the folder, and a damaged entry counts as missing. The least recently used entries are
// removed when the cache is too large.
//
// Entries are executed. So the folder and its entries must belong to this user, nobody else may have write permission,
// and symbolic links are not followed. If the folder has other files, or others may write to it, the entries are in a
// folder `lehr-code` inside. Nothing but entries is ever removed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lehr::native {

/// Returns a digest of the library that compiles. It is part of every key of the cache, so that code of another version
/// is not reused.
std::string_view generator_digest();

/// A folder on disk with the linked code of programs that were compiled before, by key.
class ObjectCache {
 public:
  /// Returns the cache in the folder that the environment names. Its entries have at most `most_bytes` in all.
  static ObjectCache of_user(std::uintmax_t most_bytes = std::uintmax_t{512} << 20);
  /// Makes a cache in this folder, whose entries have at most `most_bytes` in all; with an empty name it stores
  /// nothing.
  ObjectCache(std::string folder, std::uintmax_t most_bytes) : folder_(std::move(folder)), most_(most_bytes) {}

  /// Returns true if the cache has a folder, so that entries can be stored and found.
  bool is_enabled() const { return !folder_.empty(); }
  /// Returns the key of code made from these inputs: a digest of them, of the compiler, of the processor and of
  /// LEHR_CPU. It is empty if the cache is not enabled, or the processor cannot be identified. find() and store() do
  /// nothing with an empty key.
  std::string key(std::initializer_list<std::string_view> parts) const;
  /// Returns the entry with this key, and marks it as recently used; nullopt if there is none, or it is damaged or not
  /// private to this user.
  std::optional<std::string> find(const std::string& key) const;
  /// Writes an entry. If the entries then have too many bytes, it removes the least recently used ones until half of
  /// the allowed bytes are left; only some entries look, so there may be a few too many for a while. Nothing happens,
  /// without an error, if the folder cannot be written or the object alone is too large.
  void store(const std::string& key, std::string_view object) const;

 private:
  std::string folder_;   // path of the folder; empty: no cache
  std::uintmax_t most_;  // bytes of all entries together, at most
};

}  // namespace lehr::native
