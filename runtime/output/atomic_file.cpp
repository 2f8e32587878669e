// Whole files by POSIX calls: read at once, or written beside their place and renamed into it.
#include "runtime/output/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace lehr {
namespace {

Error failure(ExitCode code, const std::string& path, const char* doing) {
  return {code, path, fmt::format("{}: {}", doing, std::strerror(errno)), {}};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool ok() const { return number_ >= 0; }
  /// Whether the file system accepted everything; some report a full disk only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<bool> write_file(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  if (exists && !std::filesystem::is_regular_file(path, ignored)) {
    // A pipe or a device has no place to rename into.
    Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!out.ok() || !write_all(out.number(), bytes)) return failure(ExitCode::usage, path, "cannot write");
    return true;
  }
  const std::string target = exists ? std::filesystem::canonical(path, ignored).string() : path;
  static std::atomic<unsigned> count{0};
  const std::string beside = fmt::format("{}.{}.{}.tmp", target, ::getpid(), count++);
  Descriptor out(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!out.ok()) return failure(ExitCode::usage, path, "cannot write");
  if (!write_all(out.number(), bytes) || ::fsync(out.number()) != 0 || !out.close() ||
      ::rename(beside.c_str(), target.c_str()) != 0) {
    const Error error = failure(ExitCode::usage, path, "cannot write");
    ::unlink(beside.c_str());
    return error;
  }
  return true;
}

Result<std::string> read_file(const std::string& path) {
  Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.ok()) return failure(ExitCode::data, path, "cannot read");
  struct stat about = {};
  if (::fstat(in.number(), &about) != 0) return failure(ExitCode::data, path, "cannot read");
  std::string bytes;
  std::size_t used = 0;
  if (S_ISREG(about.st_mode)) bytes.resize(static_cast<std::size_t>(about.st_size) + 1);
  for (;;) {
    constexpr std::size_t kLeast = 1 << 16;
    if (used == bytes.size()) bytes.resize(std::max(2 * used, kLeast));
    const ssize_t count = ::read(in.number(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(ExitCode::data, path, "cannot read");
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace lehr
