// Files for factors of out-of-core items. A directory is marked and locked while its process lives. A later process of
// the same user removes marked directories without a lock.
#include "runtime/parallel/spill.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace lehr {
namespace {

/// An open file of the spill; every failure throws SpillFailure.
class File {
 public:
  File(const std::string& path, int flags) : path_(path), file_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (file_ < 0) fail("open");
  }
  ~File() { ::close(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Transfers all of the bytes at a file position by `transfer` (pread or pwrite); throws SpillFailure, whose message
  /// says `action` failed.
  template <class Transfer>
  void move(const Transfer& transfer, char* bytes, std::size_t count, std::size_t at, const char* action) const {
    while (count > 0) {
      errno = 0;
      const ssize_t n = transfer(file_, bytes, count, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(action);
      const auto done = static_cast<std::size_t>(n);
      bytes += done;
      count -= done;
      at += done;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& action) const {
    const std::string why = errno != 0 ? std::strerror(errno) : "it is shorter than what was written";
    throw SpillFailure(
        {ExitCode::internal, path_, "cannot " + action + ": " + why, {"the factors of all items go there"}});
  }

  std::string path_;
  int file_;
};

/// Transfers all rows, one after another, from number `at` of the file on. Returns the position after the last one.
template <class Transfer>
std::size_t each_row(const File& file, const Transfer& transfer, std::size_t at,
                     const std::vector<std::span<double>>& rows, const char* action) {
  for (const std::span<double> row : rows) {
    file.move(transfer, reinterpret_cast<char*>(row.data()), row.size_bytes(), at * sizeof(double), action);
    at += row.size();
  }
  return at;
}

/// The name of the file that marks a directory as one of a Spill.
constexpr const char* kMark = "lehr-spill";

/// Removes the directories of processes that were killed: those with the mark on which no process has a lock.
void remove_leftovers(const std::filesystem::path& inside) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (fs::directory_iterator entry(inside, ignored), end; entry != end; entry.increment(ignored)) {
    if (!entry->path().filename().string().starts_with("lehr-")) continue;
    const int left = ::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat directory = {}, mark = {};
    const bool own = left >= 0 && ::fstat(left, &directory) == 0 && directory.st_uid == ::geteuid() &&
                     ::fstatat(left, kMark, &mark, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(mark.st_mode);
    if (own && ::flock(left, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry->path(), ignored);
    if (left >= 0) ::close(left);
  }
}

}  // namespace

Spill::Spill(const std::string& inside) {
  std::error_code ignored;
  std::filesystem::create_directories(inside, ignored);
  remove_leftovers(inside);
  directory_ = (std::filesystem::path(inside) / "lehr-XXXXXX").string();
  if (!::mkdtemp(directory_.data()))
    throw SpillFailure(
        {ExitCode::usage, inside, std::string("cannot make a directory in it: ") + std::strerror(errno), {}});
  lock_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A file system without locks gets no mark, so that no other process takes the directory for left over.
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX) == 0)
    ::close(::openat(lock_, kMark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

Spill::~Spill() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

std::string Spill::path(std::size_t chunk) const { return directory_ + "/" + std::to_string(chunk); }

std::size_t Spill::load(std::size_t chunk, std::size_t at, const std::vector<std::span<double>>& rows) const {
  return each_row(File(path(chunk), O_RDONLY), ::pread, at, rows, "read");
}

std::size_t Spill::save(std::size_t chunk, std::size_t at, const std::vector<std::span<double>>& rows) const {
  return each_row(File(path(chunk), O_WRONLY | O_CREAT), ::pwrite, at, rows, "write");
}

}  // namespace lehr
