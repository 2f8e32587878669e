// The cache of compiled code on disk. Stored objects are found again, and the least recently used are removed when
// there are too many. Files that others wrote, or could have written, are neither read nor removed.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "compiler/native/object_cache.h"
#include "tests/native/harness.h"

namespace {

using lehr::native::ObjectCache;
namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("lehr-cache-" + std::to_string(::getpid()));
  ~Folder() { fs::remove_all(path); }
};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> out;
  for (const fs::directory_entry& e : fs::directory_iterator(folder))
    out.insert(e.path().filename().string());
  return out;
}

void write(const fs::path& path, std::size_t bytes) { std::ofstream(path) << std::string(bytes, 'x'); }

}  // namespace

TEST_CASE("keys tell apart what an object is made from") {
  const ObjectCache cache("/nowhere", 1000), none("", 1000);
  CHECK(cache.key({"ab", "c"}).size() == 36);
  CHECK(cache.key({"ab", "c"}) == cache.key({"ab", "c"}));
  CHECK(cache.key({"ab", "c"}) != cache.key({"a", "bc"}));
  CHECK(cache.key({"a:b"}) != cache.key({"a", "b"}));
  CHECK(none.key({"ab"}).empty());
  CHECK_FALSE(none.find(""));
}

TEST_CASE("keys tell apart what the environment has code made for") {
  const ObjectCache cache("/nowhere", 1000);
  const char* const before = std::getenv("LEHR_CPU");
  const std::string as_it_was = before ? before : "";
  std::set<std::string> keys;
  for (const char* value : {"x86-64-v2", "x86-64-v3"}) {
    ::setenv("LEHR_CPU", value, 1);
    keys.insert(cache.key({"a"}));
  }
  ::unsetenv("LEHR_CPU");
  keys.insert(cache.key({"a"}));
  if (before) ::setenv("LEHR_CPU", as_it_was.c_str(), 1);
  CHECK(keys.size() == 3);
}

TEST_CASE("objects come back, and those not used for longest go when there are too many") {
  const Folder folder;
  const ObjectCache cache(folder.path.string(), 1000);
  std::vector<std::string> keys;
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}) {
    keys.push_back(cache.key({std::string(1, name)}));
    cache.store(keys.back(), std::string(100, name));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(cache.find(keys.back()) == std::string(100, name));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (name == 'g') CHECK(cache.find(keys[0]) == std::string(100, 'a'));
  }
  // Eight entries of 136 bytes exceed the limit, and then half of the limit is kept.
  for (std::size_t k = 0; k < keys.size(); ++k) {
    INFO(k);
    CHECK(cache.find(keys[k]).has_value() == (k == 0 || k >= 6));
  }
  const std::string large = cache.key({"large"});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  cache.store(large, std::string(2000, 'x'));
  CHECK_FALSE(cache.find(large));
  CHECK(cache.find(keys[7]));  // other entries are not removed for an entry that is too large
}

TEST_CASE("files of others stay, however much there is") {
  const Folder folder;
  fs::create_directory(folder.path);
  const std::string key = ObjectCache("/nowhere", 1000).key({"a"});
  const std::set<std::string> others{"thesis.tex", "notes.code",        key + ".txt",
                                     key,          "x" + key + ".code", key + ".co-de"};
  for (const std::string& name : others) {
    write(folder.path / name, 600);
    fs::last_write_time(folder.path / name, fs::file_time_type::clock::now() - std::chrono::hours(1000));
  }
  const ObjectCache cache(folder.path.string(), 1000);
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'})
    cache.store(cache.key({std::string(1, name)}), std::string(100, name));
  CHECK(cache.find(cache.key({"i"})) == std::string(100, 'i'));
  CHECK_FALSE(cache.find(cache.key({"a"})));
  std::set<std::string> left = names_in(folder.path);
  CHECK(left.erase("lehr-code") == 1);
  CHECK(left == others);
  for (const std::string& name : others)
    CHECK(fs::file_size(folder.path / name) == 600);
}

TEST_CASE("a folder of the name inside that is another's is left alone") {
  const Folder folder;
  fs::create_directories(folder.path / "lehr-code");
  write(folder.path / "thesis.tex", 600);
  write(folder.path / "lehr-code" / "main.c", 600);
  const ObjectCache cache(folder.path.string(), 1000);
  cache.store(cache.key({"a"}), std::string(100, 'a'));
  CHECK_FALSE(cache.find(cache.key({"a"})));
  CHECK(names_in(folder.path / "lehr-code") == std::set<std::string>{"main.c"});
}

TEST_CASE("what others may have written is not read") {
  const Folder folder;
  const ObjectCache cache(folder.path.string(), 1000);
  const std::string key = cache.key({"a"}), other = cache.key({"b"}), object(100, 'a');
  const fs::path entry = folder.path / (key + ".code"), aside = folder.path.string() + "-aside";
  const auto is_stored = [&] {
    fs::remove_all(entry);
    cache.store(key, object);
    return cache.find(key) == object;
  };
  REQUIRE(is_stored());
  for (const fs::perms shared : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(entry, shared, fs::perm_options::add);
    CHECK_FALSE(cache.find(key));
    REQUIRE(is_stored());
  }
  if (::geteuid() == 0) {
    REQUIRE(::chown(entry.c_str(), 65534, 65534) == 0);
    CHECK_FALSE(cache.find(key));
    REQUIRE(is_stored());
  }
  fs::copy(entry, folder.path / (other + ".code"));  // the code of a different program under this name
  CHECK_FALSE(cache.find(other));
  fs::remove(folder.path / (other + ".code"));
  fs::rename(entry, aside);
  fs::create_symlink(aside, entry);
  CHECK_FALSE(cache.find(key));
  fs::remove(entry);
  REQUIRE(::mkfifo(entry.c_str(), 0600) == 0);
  CHECK_FALSE(cache.find(key));
  fs::remove(entry);
  fs::create_directory(entry);
  CHECK_FALSE(cache.find(key));
  cache.store(key, object);
  CHECK(names_in(folder.path) == std::set<std::string>{key + ".code"});
  fs::remove(aside);
}

TEST_CASE("a folder that others may write to, or that is a link, is not used") {
  const Folder folder;
  const std::string link = folder.path.string() + "-link";
  const ObjectCache cache(folder.path.string(), 1000), linked(link, 1000);
  const std::string key = cache.key({"a"}), object(100, 'a');
  cache.store(key, object);
  fs::create_directory_symlink(folder.path, link);
  CHECK_FALSE(linked.find(key));
  fs::remove(link);
  fs::permissions(folder.path, fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(cache.find(key));
  cache.store(key, object);
  CHECK(cache.find(key) == object);
  CHECK(fs::exists(folder.path / "lehr-code" / (key + ".code")));
  CHECK((fs::status(folder.path / "lehr-code").permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("functions that fits seldom call are compiled with their first call") {
  lehr::loops::Builder b;
  const auto x = b.buffer("x", lehr::loops::Role::table, {b.constant_size("N", 1)});
  b.function("sweep", [&] { b.store(x, {b.i(0)}, b.f(1)); });
  b.mark_cold(b.function("start", [&] { b.store(x, {b.i(0)}, b.f(2)); }));
  for (const char* name : {"sums", "new items"})
    b.mark_seldom(b.function(name, [&] { b.store(x, {b.i(0)}, b.f(*name)); }));
  const Folder folder;
  const char* const variable = std::getenv("LEHR_CACHE");
  const std::string before = variable ? variable : "";
  ::setenv("LEHR_CACHE", folder.path.c_str(), 1);
  const auto entries = [&] { return std::distance(fs::directory_iterator(folder.path), {}); };
  const auto result = [&](const lehr::native::Jit& jit, const char* name) {
    lehr::test::Memory memory({1});
    REQUIRE(jit.function(name)(memory.table(), nullptr, nullptr, nullptr) == 0);
    return memory.reals(x)[0];
  };
  for (const auto compiled_before : {0, 1}) {
    const lehr::native::Jit jit(b.program());
    CHECK(entries() == 1 + compiled_before);
    CHECK(result(jit, "sweep") == 1);
    CHECK(result(jit, "start") == 2);
    CHECK(entries() == 1 + compiled_before);
    std::vector<std::thread> threads;
    std::vector<lehr_function> addresses(4);
    for (lehr_function& address : addresses)
      threads.emplace_back([&] { address = jit.function("sums"); });
    for (std::thread& t : threads)
      t.join();
    CHECK(std::ranges::count(addresses, addresses[0]) == 4);
    CHECK(result(jit, "sums") == 's');
    CHECK(entries() == 2);  // "new items" was never called
  }
  variable ? ::setenv("LEHR_CACHE", before.c_str(), 1) : ::unsetenv("LEHR_CACHE");
}
