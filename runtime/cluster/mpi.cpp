// A group of processes by MPI: point-to-point messages and broadcasts of doubles in MPI_COMM_WORLD. It is compiled to a
// shared library of its own, which alone links MPI.
#include "runtime/cluster/mpi.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace lehr {
namespace {

/// Calls body(first number, count) for pieces of the values, because MPI counts with an int.
template <class Span, class Body>
void in_pieces(Span values, const Body& body) {
  constexpr std::size_t kMost = std::size_t{1} << 27;
  for (std::size_t at = 0; at < values.size(); at += kMost) {
    const auto piece = values.subspan(at, std::min(kMost, values.size() - at));
    body(piece.data(), static_cast<int>(piece.size()));
  }
}

/// Converts a rank to MPI's type.
int whole(std::size_t rank) { return static_cast<int>(rank); }

/// The group of all processes. Errors of MPI end all of them, which is the default error handler of MPI.
class MpiGroup : public Group {
 public:
  MpiGroup() {
    int threads = 0, number = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads) != MPI_SUCCESS)
      throw std::runtime_error("MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    rank_ = static_cast<std::size_t>(number);
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    size_ = static_cast<std::size_t>(number);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &number);
    neighbours_ = static_cast<std::size_t>(number);
    MPI_Comm_free(&here);
  }
  ~MpiGroup() override { MPI_Finalize(); }

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  std::size_t neighbours() const override { return neighbours_; }
  bool any(bool here) override {
    int mine = here ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return all != 0;
  }
  void abandon(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();
  }

 private:
  void do_send(std::span<const double> values, std::size_t to) override {
    in_pieces(values, [&](const double* x, int n) { MPI_Send(x, n, MPI_DOUBLE, whole(to), 0, MPI_COMM_WORLD); });
  }
  void do_receive(std::span<double> values, std::size_t from) override {
    in_pieces(values,
              [&](double* x, int n) { MPI_Recv(x, n, MPI_DOUBLE, whole(from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
  }
  void do_broadcast(std::span<double> values, std::size_t from) override {
    in_pieces(values, [&](double* x, int n) { MPI_Bcast(x, n, MPI_DOUBLE, whole(from), MPI_COMM_WORLD); });
  }

  std::size_t rank_ = 0, size_ = 1, neighbours_ = 1;
};

/// Implements Mpi::join.
std::unique_ptr<Group> join() { return std::make_unique<MpiGroup>(); }

}  // namespace
}  // namespace lehr

/// The table that the shared library defines; load_plugin("mpi") returns its address.
extern "C" const lehr::Mpi lehr_plugin{&lehr::join};
