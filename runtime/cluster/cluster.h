// Fits on many machines: the processes that a launcher (mpirun, srun) has started.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "runtime/methods/group.h"

namespace lehr {

/// How many processes a launcher has started beside this one and with it, as its environment tells: of Open MPI, of
/// those that speak PMI, of Slurm.
struct Launch {
  std::string variable;
  long processes = 1;
};
std::optional<Launch> launch();

/// The processes of the launcher; stays until the end. Throws std::runtime_error where there is no MPI in this
/// installation, or it is another than the launcher's.
std::unique_ptr<Group> join_cluster();

/// What the processes of a group but the first say: nothing, unless they are the only ones to know.
class Quiet {
 public:
  explicit Quiet(const Group& group);
  /// To the standard error after all.
  void speak() const;

 private:
  std::size_t rank_;
  int said_ = -1, error_ = -1;
};

}  // namespace lehr
