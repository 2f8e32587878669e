#include "compiler/native/object_cache.h"

#include <unistd.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/nil_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "compiler/native/processor.h"

namespace lehr::native {
namespace {

namespace fs = std::filesystem;

/// Of names and of contents: collisions are not looked for by anyone.
std::string digest(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts)
    all.append(std::to_string(part.size())).append(":").append(part);
  return boost::uuids::to_string(boost::uuids::name_generator_sha1(boost::uuids::nil_uuid())(all));
}

constexpr std::size_t kDigest = 36;  // characters

/// What the kernel tells of the first processor that code depends on; empty where it tells nothing.
std::string processor() {
  constexpr std::string_view kFields[] = {"vendor_id",       "cpu family",  "model",    "stepping", "flags",
                                          "CPU implementer", "CPU variant", "CPU part", "Features"};
  std::ifstream file("/proc/cpuinfo");
  std::string out;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::string_view field = std::string_view(line).substr(0, line.find_first_of("\t:"));
    if (std::ranges::find(kFields, field) != std::end(kFields)) out += line + "\n";
  }
  return out;
}

std::string set_thresholds() {
  const char* const set = std::getenv("LEHR_THRESHOLDS");
  return set ? set : "";
}

std::string folder_of_user() {
  const char* const named = std::getenv("LEHR_CACHE");
  if (named && *named) return std::string_view(named) == "off" ? "" : named;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return std::string(cache) + "/lehr";
  if (const char* const home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/lehr";
  return "";
}

}  // namespace

std::string ObjectCache::path_of(const std::string& key) const { return folder_ + "/" + key + ".code"; }

ObjectCache ObjectCache::of_user(std::uintmax_t most_bytes) { return {folder_of_user(), most_bytes}; }

std::string ObjectCache::key(std::initializer_list<std::string_view> parts) const {
  const std::string machine = folder_.empty() ? "" : processor();
  return machine.empty() ? ""
                         : digest({generator_digest(), machine, chosen_processor(), set_thresholds(), digest(parts)});
}

std::optional<std::string> ObjectCache::find(const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const fs::path path = path_of(key);
  std::ifstream file(path, std::ios::binary);
  std::string object(std::istreambuf_iterator<char>(file), {});
  if (object.size() <= kDigest || digest({std::string_view(object).substr(kDigest)}) != object.substr(0, kDigest))
    return std::nullopt;
  object.erase(0, kDigest);
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return object;
}

void ObjectCache::keep(const std::string& key, std::string_view object) const {
  if (key.empty() || object.size() > most_) return;
  std::error_code failed;
  if (!fs::is_directory(folder_, failed)) {
    fs::create_directories(folder_, failed);
    fs::permissions(folder_, fs::perms::owner_all, failed);
  }
  std::string beside = (fs::path(folder_) / (key + ".XXXXXX")).string();
  const int file = ::mkstemp(beside.data());
  if (file < 0) return;
  const std::string bytes = digest({object}) + std::string(object);
  const bool written = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  ::close(file);
  if (written) fs::rename(beside, path_of(key), failed);
  if (!written || failed) fs::remove(beside, failed);
  make_room();
}

void ObjectCache::make_room() const {
  struct File {
    fs::file_time_type used;
    std::uintmax_t size;
    fs::path path;
  };
  std::vector<File> files;
  std::uintmax_t all = 0;
  std::error_code failed;
  for (fs::directory_iterator it(folder_, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;  // another process makes room as well
    const File file{it->last_write_time(gone), it->file_size(gone), it->path()};
    if (gone) continue;
    all += file.size;
    files.push_back(file);
  }
  if (all <= most_) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (all <= most_ / 2) break;
    std::error_code gone;
    if (fs::remove(file.path, gone)) all -= file.size;
  }
}

}  // namespace lehr::native
