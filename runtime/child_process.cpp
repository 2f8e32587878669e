// The fork, the pipe and the exit codes behind run_in_child(). The child leaves by _exit(), so that no destructors or
// buffers of the parent run twice.
#include "runtime/child_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <system_error>

#include <fmt/format.h>

namespace lehr {
namespace {

/// Exit codes of a child that ran out of memory, or that failed otherwise without a crash.
constexpr int kNoMemory = 2, kFailed = 3;

/// Writes all bytes to the descriptor; returns true if that succeeds.
bool write_all(int to, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(to, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

/// Returns everything that the descriptor yields until its end or an error.
std::string read_all(int from) {
  std::string out;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t n = ::read(from, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(n));
  }
}

/// Runs in the child: writes the result of `f` to the pipe and exits. Handlers of signals are reset, and no core file
/// is written.
[[noreturn]] void work(int to, const std::function<std::string()>& f) {
  for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE})
    std::signal(number, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  try {
    ::_exit(write_all(to, f()) ? 0 : kFailed);
  } catch (const std::bad_alloc&) {
    ::_exit(kNoMemory);
  } catch (...) {
    ::_exit(kFailed);
  }
}

}  // namespace

Result<std::string> run_in_child(const std::string& where, const std::function<std::string()>& f) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "a pipe");
  const pid_t child = ::fork();
  if (child == 0) work(ends[1], f);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    throw std::system_error(errno, std::generic_category(), "a process to read a file");
  }
  std::string out = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory) throw std::bad_alloc();
  const std::string how = WIFSIGNALED(status) ? fmt::format("crashed ({})", ::strsignal(WTERMSIG(status))) : "failed";
  return Error{ExitCode::data,
               where,
               fmt::format("the library that reads such files {}", how),
               {"the file is damaged, or made to do this: `h5dump` or the program that wrote it may say more"}};
}

}  // namespace lehr
