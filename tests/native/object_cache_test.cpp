// Objects on disk: what is kept is found, what is too much goes, the oldest first.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <thread>

#include "compiler/native/object_cache.h"

namespace {

using lehr::native::ObjectCache;
namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("lehr-cache-" + std::to_string(::getpid()));
  ~Folder() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("keys tell apart what an object is made from") {
  const ObjectCache cache("/nowhere", 1000), none("", 1000);
  CHECK(cache.key({"ab", "c"}).size() == 36);
  CHECK(cache.key({"ab", "c"}) == cache.key({"ab", "c"}));
  CHECK(cache.key({"ab", "c"}) != cache.key({"a", "bc"}));
  CHECK(none.key({"ab"}).empty());
  CHECK_FALSE(none.find(""));
}

TEST_CASE("objects come back, and those not used for longest go when there are too many") {
  const Folder folder;
  const ObjectCache cache(folder.path.string(), 1000);
  std::vector<std::string> keys;
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}) {
    keys.push_back(cache.key({std::string(1, name)}));
    cache.keep(keys.back(), std::string(100, name));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(cache.find(keys.back()) == std::string(100, name));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (name == 'g') CHECK(cache.find(keys[0]) == std::string(100, 'a'));
  }
  // Eight of 136 bytes are too many; half of what may be is left.
  for (std::size_t k = 0; k < keys.size(); ++k) {
    INFO(k);
    CHECK(cache.find(keys[k]).has_value() == (k == 0 || k >= 6));
  }
  const std::string large = cache.key({"large"});
  cache.keep(large, std::string(2000, 'x'));
  CHECK_FALSE(cache.find(large));
}
