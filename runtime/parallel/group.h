// A group of processes that run the same fit of the same data and divide its items among them. Every process makes the
// same decisions from the same bits; only the factors and sums of items are exchanged. cluster/mpi.cpp implements a
// group by MPI.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lehr {

/// The messages of one process. A broadcast counts as one message sent by its source and one received by each of the
/// others.
struct Traffic {
  std::uint64_t sent = 0,        // messages sent
      received = 0;              // messages received
  std::uint64_t bytes_sent = 0,  // bytes of the messages sent
      bytes_received = 0;        // bytes of the messages received
};

/// The group as one of its processes sees it. All processes must call the communicating functions in a consistent
/// order.
class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  virtual ~Group() = default;

  /// Returns the number of this process, from 0.
  virtual std::size_t rank() const = 0;
  /// Returns the number of processes.
  virtual std::size_t size() const = 0;
  /// Returns how many processes of the group run on the same host, this one included. They divide its processors.
  virtual std::size_t neighbours() const = 0;
  /// Sends numbers to process `to`, which must call receive().
  void send(std::span<const double> values, std::size_t to);
  /// Receives as many numbers from process `from`, which must call send().
  void receive(std::span<double> values, std::size_t from);
  /// Copies the numbers of process `from` to all others. All processes call it.
  void broadcast(std::span<double> values, std::size_t from);
  /// Returns the messages of this process so far: those of send(), receive() and broadcast().
  const Traffic& traffic() const { return traffic_; }
  /// Returns, in every process, true if `here` is true in any of them. All processes call it. It is not counted in
  /// traffic().
  virtual bool any(bool here) = 0;
  /// Ends all processes of the group with this exit code.
  [[noreturn]] virtual void abandon(int code) = 0;

 private:
  /// Sends numbers to process `to`; send() calls it.
  virtual void do_send(std::span<const double> values, std::size_t to) = 0;
  /// Receives numbers from process `from`; receive() calls it.
  virtual void do_receive(std::span<double> values, std::size_t from) = 0;
  /// Copies the numbers of process `from` to all others; broadcast() calls it.
  virtual void do_broadcast(std::span<double> values, std::size_t from) = 0;
  /// Counts a message sent.
  void count_sent(std::span<const double> values);
  /// Counts a message received.
  void count_received(std::span<const double> values);

  Traffic traffic_;  // messages of this process so far
};

/// Returns, in every process, the texts `here` of all processes, by rank, such as their error messages. All processes
/// call it.
std::vector<std::string> texts_of(Group& group, const std::string& here);
/// Returns, in every process, the traffic of all processes, by rank, for the report; without the messages of this call.
/// All processes call it.
std::vector<Traffic> traffic_of(Group& group);

}  // namespace lehr
