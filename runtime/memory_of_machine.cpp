// The memory that this process may use: physical memory, reduced by resource limits and by the control groups that the
// process is in (versions 1 and 2 of Linux's cgroups). /proc/self/cgroup names the innermost group; those around it
// have limits of their own.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include "runtime/host.h"

namespace lehr {
namespace {

/// Stands for no limit.
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

/// Reads the limit in a file of a control group. Returns the largest integer if the file is missing or holds no number
/// ("max").
std::uint64_t limit_in(const std::string& path) {
  char text[64] = {};
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return kNone;
  const std::size_t length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  std::uint64_t out = 0;
  return std::from_chars(text, text + length, out).ec == std::errc() ? out : kNone;
}

/// Returns the smallest limit of a control group and of those around it. `group` is its path below `root`, as in
/// "/user.slice/job.scope"; each group's directory has the limit in `file`.
std::uint64_t limit_of_group(const std::string& root, std::string_view group, const char* file) {
  std::uint64_t out = kNone;
  while (group.ends_with('/'))
    group.remove_suffix(1);
  for (;; group = group.substr(0, group.rfind('/'))) {
    out = std::min(out, limit_in(root + std::string(group) + "/" + file));
    if (group.empty() || group[0] != '/') return out;
  }
}

/// Returns the text of /proc/self/cgroup, a line "0::/path" for version 2 and "4:memory:/path" for version 1.
std::string own_groups() {
  std::string out;
  std::FILE* file = std::fopen("/proc/self/cgroup", "re");
  if (!file) return out;
  char part[512];
  while (const std::size_t length = std::fread(part, 1, sizeof part, file))
    out.append(part, length);
  std::fclose(file);
  return out;
}

/// Returns the smallest limit of all control groups of this process.
std::uint64_t limit_of_groups() {
  const std::string root = "/sys/fs/cgroup", old_root = root + "/memory";
  const char *const file = "memory.max", *const old_file = "memory.limit_in_bytes";
  // In a container the paths may be those of the host, which are not there; the files of the root are.
  std::uint64_t out = std::min(limit_of_group(root, "", file), limit_of_group(old_root, "", old_file));
  const std::string text = own_groups();
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) out = std::min(out, limit_of_group(root, group, file));
    else if (controllers.find("memory") != controllers.npos)
      out = std::min(out, limit_of_group(old_root, group, old_file));
  }
  return out;
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
  return std::min(out, limit_of_groups());
}

}  // namespace lehr
