// Processes that run the same fit of the same data, and share out its items: what each of them decides is decided
// everywhere, from the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lehr {

/// What was handed over to others and taken from them: a broadcast is one message of whoever has it, and one to each of
/// the others, however it gets there.
struct Traffic {
  std::uint64_t sent = 0, received = 0;  // messages
  std::uint64_t bytes_sent = 0, bytes_received = 0;
};

class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  virtual ~Group() = default;

  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// How many of them run on this machine.
  virtual std::size_t neighbours() const = 0;
  /// Each takes part in what concerns it, in the same order everywhere.
  void send(std::span<const double> numbers, std::size_t to);
  void receive(std::span<double> numbers, std::size_t from);
  /// Called by all.
  void broadcast(std::span<double> numbers, std::size_t from);
  /// Of this process until now.
  const Traffic& traffic() const { return traffic_; }
  /// The same; whether it is so anywhere.
  virtual bool any(bool here) = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abandon(int code) = 0;

 private:
  virtual void do_send(std::span<const double> numbers, std::size_t to) = 0;
  virtual void do_receive(std::span<double> numbers, std::size_t from) = 0;
  virtual void do_broadcast(std::span<double> numbers, std::size_t from) = 0;
  void count_sent(std::span<const double> numbers);
  void count_received(std::span<const double> numbers);

  Traffic traffic_;
};

/// A text of each, by rank. Called by all.
std::vector<std::string> texts_of(Group& group, const std::string& here);
/// The traffic of each, by rank, but for this. Called by all.
std::vector<Traffic> traffic_of(Group& group);

}  // namespace lehr
