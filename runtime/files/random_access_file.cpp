// Positioned reads (pread) of a regular file, with a check that it has not changed.
#include "runtime/files/random_access_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "runtime/files/text.h"

namespace lehr {

Result<RandomAccessFile> RandomAccessFile::open(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return data_error(path, fmt::format("cannot read: {}", std::strerror(errno)));
  struct stat about = {};
  RandomAccessFile out(path, file);
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return data_error(path, "cannot be read in pieces: it is not a regular file",
                      {"write it to a file, or leave out " + option("stream")});
  out.size_ = static_cast<std::uint64_t>(about.st_size);
  out.written_ = about.st_mtim;
  return out;
}

RandomAccessFile::RandomAccessFile(RandomAccessFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      written_(other.written_) {}

RandomAccessFile::~RandomAccessFile() {
  if (file_ >= 0) ::close(file_);
}

std::optional<Error> RandomAccessFile::read(std::uint64_t at, std::uint64_t count, std::string& to) const {
  to.resize(count);
  for (std::uint64_t done = 0; done < count;) {
    const ssize_t got = ::pread(file_, to.data() + done, count - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return data_error(path_, fmt::format("cannot read: {}", std::strerror(errno)));
    if (got == 0) return data_error(path_, "the file has become shorter while it was read");
    done += static_cast<std::uint64_t>(got);
  }
  return changed();
}

std::optional<Error> RandomAccessFile::changed() const {
  struct stat about = {};
  const bool same = ::fstat(file_, &about) == 0 && static_cast<std::uint64_t>(about.st_size) == size_ &&
                    about.st_mtim.tv_sec == written_.tv_sec && about.st_mtim.tv_nsec == written_.tv_nsec;
  if (same) return std::nullopt;
  return data_error(path_, "the file has changed while it was read", {"begin again, with a file that stays as it is"});
}

int RandomAccessFile::duplicate() const { return ::fcntl(file_, F_DUPFD_CLOEXEC, 0); }

}  // namespace lehr
