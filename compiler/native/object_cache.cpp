#include "compiler/native/object_cache.h"

#include <elf.h>
#include <link.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SHA256.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace lehr::native {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigest = 64;  // characters

std::string digest(const std::vector<std::string_view>& parts) {
  llvm::SHA256 sum;
  for (const std::string_view part : parts) {
    sum.update(std::to_string(part.size()) + ":");
    sum.update(llvm::StringRef(part.data(), part.size()));
  }
  return llvm::toHex(sum.final(), true);
}

struct Self {
  std::uintptr_t address;
  std::string build_id;
};

/// The note that the linker leaves in the file that has this code.
int look_for_build_id(dl_phdr_info* info, std::size_t, void* data) {
  auto& self = *static_cast<Self*>(data);
  bool is_here = false;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& h = info->dlpi_phdr[k];
    const std::uintptr_t begin = info->dlpi_addr + h.p_vaddr;
    is_here = is_here || (h.p_type == PT_LOAD && self.address >= begin && self.address < begin + h.p_memsz);
  }
  if (!is_here) return 0;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& h = info->dlpi_phdr[k];
    if (h.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + h.p_vaddr);
    const char* const end = at + h.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const char* const name = at + sizeof(note);
      const char* const value = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        self.build_id.assign(value, note.n_descsz);
      at = value + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return 1;
}

const std::string& build_id() {
  static const std::string id = [] {
    Self self{reinterpret_cast<std::uintptr_t>(&look_for_build_id), {}};
    dl_iterate_phdr(look_for_build_id, &self);
    return self.build_id;
  }();
  return id;
}

std::string folder_of_user() {
  const char* const named = std::getenv("LEHR_CACHE");
  if (named && *named) return std::string_view(named) == "off" ? "" : named;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return std::string(cache) + "/lehr";
  if (const char* const home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/lehr";
  return "";
}

}  // namespace

ObjectCache ObjectCache::of_user(std::uintmax_t most_bytes) { return {folder_of_user(), most_bytes}; }

std::string ObjectCache::key(std::initializer_list<std::string_view> parts) const {
  if (folder_.empty() || build_id().empty()) return "";
  std::vector<std::string_view> all{build_id(), LLVM_VERSION_STRING};
  all.insert(all.end(), parts);
  return digest(all);
}

std::optional<std::string> ObjectCache::find(const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const fs::path path = fs::path(folder_) / (key + ".o");
  const auto file = llvm::MemoryBuffer::getFile(path.string(), false, false);
  if (!file || (*file)->getBufferSize() <= kDigest) return std::nullopt;
  const llvm::StringRef bytes = (*file)->getBuffer();
  std::string object = bytes.substr(kDigest).str();
  if (bytes.take_front(kDigest) != digest({object})) return std::nullopt;
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
  if (written) fs::rename(beside, fs::path(folder_) / (key + ".o"), failed);
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
