// Linked code of programs that were compiled before, on disk: a program is compiled once on a machine.
//
// They are in the folder that LEHR_CACHE names, or in `lehr` below XDG_CACHE_HOME or ~/.cache; LEHR_CACHE=off: nowhere.
// Files are written beside their place and renamed into it, and begin with a digest of their key and of what follows,
// so that any number of processes may use the folder, and what is damaged counts as not there. The oldest go when there
// are too many.
//
// What is read is run. So the folder and its entries must belong to this user, and nobody else may write to them; links
// are not followed. Where the folder has other files, or others may write to it, entries are in a folder `lehr-code`
// of their own inside. Nothing but entries is ever removed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lehr::native {

/// Of the library that compiles.
std::string_view generator_digest();

class ObjectCache {
 public:
  /// Where the environment says; of `most_bytes` in all.
  static ObjectCache of_user(std::uintmax_t most_bytes = std::uintmax_t{512} << 20);
  ObjectCache(std::string folder, std::uintmax_t most_bytes) : folder_(std::move(folder)), most_(most_bytes) {}

  bool is_there() const { return !folder_.empty(); }
  /// The key of what an object is made from: these parts, the compiler and the processor; empty where there is no
  /// cache, or the processor cannot be told from others.
  std::string key(std::initializer_list<std::string_view> parts) const;
  std::optional<std::string> find(const std::string& key) const;
  /// Nothing is said where the folder cannot be written.
  void keep(const std::string& key, std::string_view object) const;

 private:
  std::string folder_;  // empty: none
  std::uintmax_t most_;
};

}  // namespace lehr::native
