// A library for LD_PRELOAD that makes calls of a program fail. The environment says which:
//   LEHR_FAULT=KIND:N       the N-th call of the kind fails, counted from the beginning of main
//   LEHR_FAULT=KIND:N+      and so do all later ones
//   LEHR_FAULT=short        reads and writes of files move fewer bytes than asked for, and are interrupted
//   LEHR_FAULT=clock        the time of day jumps by hours in both directions, and sometimes by years
//   LEHR_FAULT_COUNT=FILE   at the end of main, writes to FILE how many calls of each kind there were, a line for each
// Kinds: memory (ENOMEM), disk (ENOSPC: writes and new files), access (EACCES, or EIO for reads: as disk, and files
// that are opened and read), rename (EACCES), thread and process (EAGAIN), map (ENOMEM).
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum class Kind { none, memory, disk, access, rename, thread, process, map, short_calls, clock };
constexpr const char* kNames[] = {"",       "memory",  "disk", "access", "rename",
                                  "thread", "process", "map",  "short",  "clock"};

std::atomic<bool> begun{false};
std::atomic<long> calls[sizeof kNames / sizeof *kNames];  // by kind
Kind kind = Kind::none;
long first = 0;
bool all_after = false;

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

/// Counts a call of a kind and returns true if it must fail.
bool fails(Kind of) {
  if (!begun) return false;
  const long n = ++calls[static_cast<std::size_t>(of)];
  return of == kind && (n == first || (all_after && n > first && first > 0));
}

/// Returns true for every second call, which must do less than it was asked to.
bool is_short() { return kind == Kind::short_calls && begun; }
bool is_interrupted() { return is_short() && ++calls[static_cast<std::size_t>(Kind::short_calls)] % 3 == 0; }

/// Standard streams and pipes between processes never fail, so that messages about a fault arrive.
bool is_file(int descriptor) {
  struct stat about = {};
  return descriptor > 2 && ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

bool write_fails() {
  const bool is_full = fails(Kind::disk), is_denied = fails(Kind::access);
  if (is_full || is_denied) errno = is_full ? ENOSPC : EACCES;
  return is_full || is_denied;
}

void read_environment() {
  const char* const text = std::getenv("LEHR_FAULT");
  if (!text) return;
  const char* const colon = std::strchr(text, ':');
  const std::size_t length = colon ? static_cast<std::size_t>(colon - text) : std::strlen(text);
  for (std::size_t k = 1; k < sizeof kNames / sizeof *kNames; ++k)
    if (std::strlen(kNames[k]) == length && std::strncmp(text, kNames[k], length) == 0) kind = static_cast<Kind>(k);
  if (colon) first = std::strtol(colon + 1, nullptr, 10);
  all_after = colon && std::strchr(colon, '+');
  ::unsetenv("LD_PRELOAD");  // programs that are started have no faults
}

void write_count() {
  const char* const path = std::getenv("LEHR_FAULT_COUNT");
  const int file = path ? ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  if (file < 0) return;
  for (std::size_t k = 1; k < sizeof kNames / sizeof *kNames; ++k)
    ::dprintf(file, "%s %ld\n", kNames[k], calls[k].load());
  ::close(file);
}

using Main = int(int, char**, char**);
Main* program = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_environment();
  begun = true;
  const int code = program(argc, argv, environment);
  begun = false;
  write_count();
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*end)(), void* stack) {
  program = main;
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(&counted_main, argc, argv, init, fini, end, stack);
}

void* malloc(size_t size) {
  if (!fails(Kind::memory)) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(size_t count, size_t size) {
  if (!fails(Kind::memory)) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* was, size_t size) {
  if (!fails(Kind::memory)) return __libc_realloc(was, size);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(size_t alignment, size_t size) {
  if (!fails(Kind::memory)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  if (fails(Kind::memory)) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to ? 0 : ENOMEM;
}

ssize_t write(int file, const void* bytes, size_t n) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  if (!is_file(file)) return real(file, bytes, n);
  if (write_fails()) return -1;
  if (is_interrupted()) return errno = EINTR, -1;
  return real(file, bytes, is_short() && n > 1 ? n / 2 : n);
}
ssize_t writev(int file, const struct iovec* pieces, int n) {
  static auto* const real = next<ssize_t(int, const struct iovec*, int)>("writev");
  if (is_file(file) && write_fails()) return -1;
  return real(file, pieces, n);
}
ssize_t pwrite(int file, const void* bytes, size_t n, off_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (is_file(file) && write_fails()) return -1;
  return real(file, bytes, is_short() && n > 1 ? n / 2 : n, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t n, off_t at) { return pwrite(file, bytes, n, at); }
size_t fwrite(const void* bytes, size_t size, size_t n, FILE* to) {
  static auto* const real = next<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  return is_file(::fileno(to)) && write_fails() ? 0 : real(bytes, size, n, to);
}
int fsync(int file) {
  static auto* const real = next<int(int)>("fsync");
  return write_fails() ? -1 : real(file);
}
int rename(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return fails(Kind::rename) ? (errno = EACCES, -1) : real(from, to);
}
int renameat(int a, const char* from, int b, const char* to) {
  static auto* const real = next<int(int, const char*, int, const char*)>("renameat");
  return fails(Kind::rename) ? (errno = EACCES, -1) : real(a, from, b, to);
}
int mkdir(const char* path, mode_t mode) {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  return write_fails() ? -1 : real(path, mode);
}

ssize_t read(int file, void* bytes, size_t n) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  if (!is_file(file)) return real(file, bytes, n);
  if (fails(Kind::access)) return errno = EIO, -1;
  if (is_interrupted()) return errno = EINTR, -1;
  return real(file, bytes, is_short() && n > 1 ? n / 2 : n);
}
ssize_t pread(int file, void* bytes, size_t n, off_t at) {
  static auto* const real = next<ssize_t(int, void*, size_t, off_t)>("pread");
  if (is_file(file) && fails(Kind::access)) return errno = EIO, -1;
  return real(file, bytes, is_short() && n > 1 ? n / 2 : n, at);
}
ssize_t pread64(int file, void* bytes, size_t n, off_t at) { return pread(file, bytes, n, at); }

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  if (fails(Kind::access)) return errno = EACCES, -1;
  if ((flags & O_CREAT) != 0 && fails(Kind::disk)) return errno = ENOSPC, -1;
  return real(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  if (fails(Kind::access)) return errno = EACCES, -1;
  if ((flags & O_CREAT) != 0 && fails(Kind::disk)) return errno = ENOSPC, -1;
  return real(folder, path, flags, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  static auto* const real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(Kind::thread) ? EAGAIN : real(thread, how, run, with);
}
pid_t fork() {
  static auto* const real = next<pid_t()>("fork");
  if (fails(Kind::process)) return errno = EAGAIN, -1;
  return real();
}
void* mmap(void* at, size_t n, int protection, int flags, int file, off_t from) {
  static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (fails(Kind::map)) return errno = ENOMEM, MAP_FAILED;
  return real(at, n, protection, flags, file, from);
}
void* mmap64(void* at, size_t n, int protection, int flags, int file, off_t from) {
  return mmap(at, n, protection, flags, file, from);
}

int clock_gettime(clockid_t clock, struct timespec* to) {
  static auto* const real = next<int(clockid_t, struct timespec*)>("clock_gettime");
  const int code = real(clock, to);
  if (clock != CLOCK_REALTIME || kind != Kind::clock || !begun) return code;
  const long n = ++calls[static_cast<std::size_t>(Kind::clock)];
  to->tv_sec += n % 7 == 0 ? 400000000L : n % 2 == 0 ? 7200L : -7200L;
  return code;
}
time_t time(time_t* to) {
  struct timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
}
