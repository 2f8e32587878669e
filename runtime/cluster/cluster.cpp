// Detects an MPI launcher and joins its processes; silences all processes but the first by redirecting their outputs.
#include "runtime/cluster/cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "runtime/cluster/mpi.h"
#include "runtime/plugin.h"
#include "runtime/terminal/printable.h"

namespace lehr {

std::optional<Launch> detect_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(name);
    if (const long n = value ? std::strtol(value, nullptr, 10) : 0; n > 1) return Launch{name, n};
  }
  return std::nullopt;
}

std::unique_ptr<Group> join_cluster() {
  std::unique_ptr<Group> out = static_cast<const Mpi*>(load_plugin("mpi"))->join();
  const std::optional<Launch> started = detect_launcher();
  // Each process would otherwise fit alone, without a message.
  if (started && out->size() == 1) {
    throw std::runtime_error(fmt::format(
        "{} says that {} processes were started, but MPI knows of one: the launcher is of another MPI than lehr-mpi",
        started->variable, started->processes));
  }
  return out;
}

OutputSilencer::OutputSilencer(const Group& group) : rank_(group.rank()) {
  if (rank_ == 0) return;
  std::fflush(stdout);
  collected_ = ::memfd_create("lehr", MFD_CLOEXEC);
  error_ = ::dup(STDERR_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (collected_ < 0 || error_ < 0 || nowhere < 0) throw std::runtime_error("there are too many open files");
  ::dup2(collected_, STDERR_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

void OutputSilencer::print_collected() const {
  if (rank_ == 0) return;
  std::string text(static_cast<std::size_t>(::lseek(collected_, 0, SEEK_END)), ' ');
  const ssize_t length = ::pread(collected_, text.data(), text.size(), 0);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  ::dup2(error_, STDERR_FILENO);
  print_to_stderr("process {}: {}", rank_, text);
}

}  // namespace lehr
