// The cache of linked code: its folder, the names and checks of its entries, and their removal.
// Files are opened relative to the open folder, without following links, and checked after they are opened. So nobody
// can replace them in between.
#include "compiler/native/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/nil_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "compiler/native/processor.h"

namespace lehr::native {
namespace {

namespace fs = std::filesystem;

/// Returns a digest of several texts, each preceded by its length. It protects against accidents, not against attacks.
std::string digest(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts)
    all.append(std::to_string(part.size())).append(":").append(part);
  return boost::uuids::to_string(boost::uuids::name_generator_sha1(boost::uuids::nil_uuid())(all));
}

/// The characters of a digest.
constexpr std::size_t kDigest = 36;

/// Returns what the kernel tells of the first processor that code depends on; empty if it tells nothing.
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

/// Returns the path without slashes at its end, which would make the system follow a link.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

/// Returns the folder that the environment names; empty for none. A relative path in the system's two variables is not
/// valid and is ignored.
std::string folder_of_user() {
  const char* const named = std::getenv("LEHR_CACHE");
  if (named && *named) return std::string_view(named) == "off" ? "" : without_slashes(named);
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/lehr";
  if (const char* const home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache/lehr";
  return "";
}

/// An open file or folder, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  operator int() const { return number_; }
  /// Returns true if it was opened.
  bool ok() const { return number_ >= 0; }

 private:
  int number_;
};

/// What the name of an entry ends with.
constexpr std::string_view kEnding = ".code";
/// An entry is small if it has at most this part of the bytes of all.
constexpr std::uintmax_t kSmall = 256;
/// The name of a folder for entries inside of a folder that has other files.
constexpr const char* kInside = "lehr-code";

/// Returns true if the name is that of an entry (key and `.code`), or of one that is being written (key, `.` and six
/// characters).
bool is_entry_name(std::string_view name) {
  constexpr std::string_view kKey = "00000000-0000-0000-0000-000000000000", kHex = "0123456789abcdef";
  if (name.size() <= kKey.size()) return false;
  for (std::size_t k = 0; k < kKey.size(); ++k)
    if (kKey[k] == '-' ? name[k] != '-' : kHex.find(name[k]) == std::string_view::npos) return false;
  const std::string_view rest = name.substr(kKey.size());
  constexpr std::size_t kUnfinished = 7;
  return rest == kEnding ||
         (rest.size() == kUnfinished && rest[0] == '.' && std::all_of(rest.begin() + 1, rest.end(), [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
          }));
}

/// Returns true if the file belongs to this user, and nobody else may write to it.
bool is_private(const struct stat& about) {
  return about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Returns the names in a folder, without `.` and `..`.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> out;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = again < 0 ? nullptr : ::fdopendir(again);
  if (!listing) return out;
  while (const dirent* const entry = ::readdir(listing))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") out.emplace_back(name);
  ::closedir(listing);
  return out;
}

/// Returns true if the folder is private to this user and has nothing but entries in it.
bool is_own_folder(int folder) {
  struct stat about = {};
  return ::fstat(folder, &about) == 0 && is_private(about) && std::ranges::all_of(names_in(folder), is_entry_name);
}

/// Opens a folder inside another one; links are not followed.
Descriptor open_folder(int in, const char* name) {
  return Descriptor(::openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Returns true if the folder belongs to this user or to root: others cannot put a folder into it in the place of ours.
bool is_trusted(const struct stat& about) { return about.st_uid == ::geteuid() || about.st_uid == 0; }

/// Opens the folder to write entries to: the one named, or `lehr-code` inside of it. It is created if it does not
/// exist. Fails if others could write there.
Descriptor open_to_write(const std::string& path) {
  if (path.empty()) return Descriptor(-1);
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  ::mkdir(path.c_str(), S_IRWXU);
  Descriptor named = open_folder(AT_FDCWD, path.c_str());
  struct stat about = {};
  if (!named.ok() || is_own_folder(named)) return named;
  if (::fstat(named, &about) != 0 || !is_trusted(about)) return Descriptor(-1);
  ::mkdirat(named, kInside, S_IRWXU);
  Descriptor inside = open_folder(named, kInside);
  return inside.ok() && is_own_folder(inside) ? std::move(inside) : Descriptor(-1);
}

/// Opens a file in the folder named, or in `lehr-code` inside of it. Fails if others could write there. It does not
/// list the folders, which may have many entries.
Descriptor open_to_read(const std::string& path, const std::string& name) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;  // O_NONBLOCK: opening a pipe would wait otherwise
  const auto file_in = [&](int folder) { return Descriptor(::openat(folder, name.c_str(), flags)); };
  const Descriptor named = open_folder(AT_FDCWD, path.c_str());
  struct stat about = {};
  if (!named.ok() || ::fstat(named, &about) != 0 || !is_trusted(about)) return Descriptor(-1);
  Descriptor file = is_private(about) ? file_in(named) : Descriptor(-1);
  if (file.ok()) return file;
  const Descriptor inside = open_folder(named, kInside);
  return inside.ok() && ::fstat(inside, &about) == 0 && is_private(about) ? file_in(inside) : Descriptor(-1);
}

/// Returns the bytes of an open file; nullopt unless it is a regular file that is private to this user and of a valid
/// size.
std::optional<std::string> read_entry(int file, std::uintmax_t most) {
  struct stat about = {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || !is_private(about)) return std::nullopt;
  const auto size = static_cast<std::uintmax_t>(about.st_size);
  if (size <= kDigest || size - kDigest > most) return std::nullopt;
  std::string out(size, '\0');
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got = ::read(file, out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return out;
}

/// Writes all bytes to an open file. Returns false on failure.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Returns a random name for an entry that is being written.
std::string temporary_name(const std::string& key) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string out = key + ".";
  for (int k = 0; k < 6; ++k)
    out += kLetters[random() % kLetters.size()];
  return out;
}

/// If the entries have more than `most` bytes, removes the oldest ones until half of that is left.
void evict_oldest(int folder, std::uintmax_t most) {
  struct File {
    std::pair<std::int64_t, std::int64_t> used;  // time of the last use, in seconds and nanoseconds
    std::uintmax_t size;
    std::string name;
  };
  std::vector<File> files;
  std::uintmax_t all = 0;
  for (const std::string& name : names_in(folder)) {
    struct stat about = {};
    const bool exists = ::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists || !is_entry_name(name) || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) continue;
    files.push_back({{about.st_mtim.tv_sec, about.st_mtim.tv_nsec}, static_cast<std::uintmax_t>(about.st_size), name});
    all += files.back().size;
  }
  if (all <= most) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (all <= most / 2) break;
    if (::unlinkat(folder, file.name.c_str(), 0) == 0) all -= file.size;  // it fails if another process has removed it
  }
}

}  // namespace

ObjectCache ObjectCache::of_user(std::uintmax_t most_bytes) { return {folder_of_user(), most_bytes}; }

std::string ObjectCache::key(std::initializer_list<std::string_view> parts) const {
  const std::string machine = folder_.empty() ? "" : processor();
  return machine.empty() ? "" : digest({generator_digest(), machine, chosen_processor(), digest(parts)});
}

std::optional<std::string> ObjectCache::find(const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const Descriptor file = open_to_read(folder_, key + std::string(kEnding));
  if (!file.ok()) return std::nullopt;
  std::optional<std::string> object = read_entry(file, most_);
  if (!object || digest({key, std::string_view(*object).substr(kDigest)}) != object->substr(0, kDigest))
    return std::nullopt;
  object->erase(0, kDigest);
  // The time of modification serves as that of the last use.
  ::futimens(file, nullptr);
  return object;
}

void ObjectCache::store(const std::string& key, std::string_view object) const {
  if (key.empty() || object.size() > most_) return;
  const Descriptor folder = open_to_write(folder_);
  if (!folder.ok()) return;
  const std::string beside = temporary_name(key);
  const Descriptor file(
      ::openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.ok()) return;
  const bool stored = write_all(file, digest({key, object})) && write_all(file, object) &&
                      ::renameat(folder, beside.c_str(), folder, (key + std::string(kEnding)).c_str()) == 0;
  if (!stored) ::unlinkat(folder, beside.c_str(), 0);
  // Looking at all entries takes long where there are many: one key of sixteen does, and every large entry.
  if (key.front() == '0' || object.size() > most_ / kSmall) evict_oldest(folder, most_);
}

}  // namespace lehr::native
