// Atomic writing and whole-file reading by POSIX calls.
//
// A file is written as `.HASH-RANDOM.unfinished` in the folder of its target, then flushed and renamed. The writer
// holds a lock (flock) on it. A file of such a name without a lock belongs to a killed run, so the next writer of the
// same target deletes it.
#include "runtime/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "runtime/files/member_file.h"
#include "runtime/files/new_file.h"
#include "runtime/files/zip.h"
#include "runtime/host.h"

namespace lehr {
namespace {

/// Makes an error with the system's reason (errno).
Error failure(ExitCode code, const std::string& path, const char* doing) {
  return {code, path, fmt::format("{}: {}", doing, std::strerror(errno)), {}};
}

/// Makes the error of a failed write. A full or failing disk is ExitCode::internal; a path that cannot be opened is the
/// caller's mistake.
Error write_failure(const std::string& path) {
  const bool is_disk = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;
  return failure(is_disk ? ExitCode::internal : ExitCode::usage, path, "cannot write");
}

/// Owns a file descriptor; -1 means none.
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
  /// Closes the file. Returns true if the file system accepted everything: some report a full disk only here.
  bool close() { return ::close(release()) == 0; }
  /// Gives the descriptor away.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Writes all bytes, and returns true if that succeeds.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Returns true if the path names a descriptor that the parent process opened, such as the pipe of `<(command)`.
bool is_inherited(std::string_view path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

constexpr std::string_view kUnfinished = ".unfinished";

/// Returns the beginning of the names of temporary files for `target`: hidden, of fixed length, different between
/// targets.
std::string begun(const std::string& target) {
  return fmt::format(".{:08x}-", checksum(std::filesystem::path(target).filename().string()));
}

/// Deletes temporary files for the target that no running writer has locked.
void remove_leftovers(const std::filesystem::path& folder, const std::string& begin) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(kUnfinished)) continue;
    const Descriptor left(::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (left.ok() && ::flock(left.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

/// Returns true if another writer deleted the file as a leftover before it was locked.
bool is_removed(int descriptor) {
  struct stat about = {};
  return ::fstat(descriptor, &about) == 0 && about.st_nlink == 0;
}

}  // namespace

struct AtomicFile::Open {
  /// As given; links resolved; the temporary file, empty for a pipe or device, which is written directly.
  std::string path, target, beside;
  Descriptor out;
  bool is_on_disk = false;  // sync() has succeeded

  ~Open() {
    if (out.ok() && !beside.empty()) ::unlink(beside.c_str());
  }
};

AtomicFile::AtomicFile(std::unique_ptr<Open> open) : open_(std::move(open)) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

Result<AtomicFile> AtomicFile::begin(const std::string& path, unsigned mode, ExistingTarget existing) {
  std::error_code ignored;
  const bool follows = existing == ExistingTarget::followed;
  const bool exists =
      follows ? std::filesystem::exists(path, ignored)
              : std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::regular;
  if (exists && !std::filesystem::is_regular_file(path, ignored)) {
    std::unique_ptr<Open> open(new Open{path, path, "", Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC))});
    if (!open->out.ok()) return write_failure(path);
    return AtomicFile(std::move(open));
  }
  const std::string target = exists && follows ? std::filesystem::canonical(path, ignored).string() : path;
  const std::filesystem::path parent = std::filesystem::path(target).parent_path(),
                              folder = parent.empty() ? "." : parent;
  remove_leftovers(folder, begun(target));
  std::random_device random;
  std::unique_ptr<Open> open;
  do {
    const std::string beside =
        (folder / fmt::format("{}{:08x}{:08x}{}", begun(target), random(), random(), kUnfinished)).string();
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    open.reset(new Open{path, target, beside, Descriptor(::open(beside.c_str(), flags, static_cast<mode_t>(mode)))});
    if (!open->out.ok()) return write_failure(path);
    ::flock(open->out.number(), LOCK_EX);
  } while (is_removed(open->out.number()));
  struct stat before = {};
  if (exists && (::stat(target.c_str(), &before) != 0 || ::fchmod(open->out.number(), before.st_mode & 07777) != 0))
    return write_failure(path);
  return AtomicFile(std::move(open));
}

Result<bool> AtomicFile::append(std::string_view bytes) {
  if (!write_all(open_->out.number(), bytes)) return write_failure(open_->path);
  return true;
}

Result<bool> AtomicFile::sync() {
  if (!open_->beside.empty() && !open_->is_on_disk && ::fsync(open_->out.number()) != 0)
    return write_failure(open_->path);
  open_->is_on_disk = true;
  return true;
}

Result<int> AtomicFile::publish() {
  if (const Result<bool> r = sync(); !r) return r.error();
  if (!open_->beside.empty() && ::rename(open_->beside.c_str(), open_->target.c_str()) != 0)
    return write_failure(open_->path);
  return open_->out.release();
}

Result<bool> AtomicFile::finish() {
  const Result<int> file = publish();
  if (!file) return file.error();
  if (::close(*file) != 0) return write_failure(open_->path);
  return true;
}

namespace {

/// Appends the bytes to a new file and finishes it.
Result<bool> write_whole(Result<AtomicFile> file, std::string_view bytes) {
  if (!file) return file.error();
  const Result<bool> appended = file->append(bytes);
  return appended ? file->finish() : appended;
}

}  // namespace

Result<bool> write_file(const std::string& path, std::string_view bytes, unsigned mode) {
  return write_whole(AtomicFile::begin(path, mode), bytes);
}

Result<bool> write_file_no_follow(const std::string& path, std::string_view bytes) {
  return write_whole(AtomicFile::begin(path, 0666, ExistingTarget::replaced), bytes);
}

Result<std::string> read_file(const std::string& path) {
  // A blocking open() of a pipe would wait until somebody writes to it.
  Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about = {};
  if (!in.ok() || ::fstat(in.number(), &about) != 0) return failure(ExitCode::data, path, "cannot read");
  if (S_ISDIR(about.st_mode)) return Error{ExitCode::data, path, "cannot read: it is a directory", {}};
  if (!S_ISREG(about.st_mode) && !is_inherited(path))
    return Error{ExitCode::data, path, "cannot read: it is a pipe or a device instead of a file", {}};
  // Reading may block.
  ::fcntl(in.number(), F_SETFL, 0);
  const std::uint64_t most = available_memory();
  const auto too_large = [&](double size) {
    return Error{ExitCode::data,
                 path,
                 fmt::format("the file has {}, more than fits into the memory of {}", format_bytes(size),
                             format_bytes(static_cast<double>(most))),
                 {}};
  };
  if (S_ISREG(about.st_mode) && static_cast<std::uint64_t>(about.st_size) >= most)
    return too_large(static_cast<double>(about.st_size));
  std::string bytes;
  std::size_t used = 0;
  // One byte more than the size, so that the read() that meets the end needs no more memory.
  if (S_ISREG(about.st_mode)) bytes.resize(static_cast<std::size_t>(about.st_size) + 1);
  for (;;) {
    constexpr std::size_t kLeast = 1 << 16;
    if (used == bytes.size()) bytes.resize(std::max(2 * used, kLeast));
    const ssize_t count = ::read(in.number(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(ExitCode::data, path, "cannot read");
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
    if (used >= most / 2 && !S_ISREG(about.st_mode)) return too_large(static_cast<double>(used));
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace lehr
