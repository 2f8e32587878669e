// The memory that this process may use: physical memory, reduced by resource limits and by the control group whose
// files are at /sys/fs/cgroup (versions 1 and 2 of Linux's cgroups).
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "runtime/host.h"

namespace lehr {
namespace {

/// Reads the limit in a file of a control group. Returns the largest integer if the file is missing or holds no number
/// ("max").
std::uint64_t limit_in(const char* path) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  char text[64] = {};
  std::FILE* file = std::fopen(path, "re");
  if (!file) return kNone;
  const std::size_t length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  std::uint64_t out = 0;
  return std::from_chars(text, text + length, out).ec == std::errc() ? out : kNone;
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t out = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES))) *
                      static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  rlimit space = {};
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    if (::getrlimit(resource, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
      out = std::min<std::uint64_t>(out, space.rlim_cur);
  }
  return std::min(
      {out, limit_in("/sys/fs/cgroup/memory.max"), limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

}  // namespace lehr
