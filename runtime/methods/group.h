// Processes that run the same fit of the same data, and share out its items: what each of them decides is decided
// everywhere, from the same bits.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lehr {

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
  virtual void send(std::span<const double> numbers, std::size_t to) = 0;
  virtual void receive(std::span<double> numbers, std::size_t from) = 0;
  /// Called by all.
  virtual void broadcast(std::span<double> numbers, std::size_t from) = 0;
  /// The same; whether it is so anywhere.
  virtual bool any(bool here) = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abandon(int code) = 0;
};

/// A text of each, by rank. Called by all.
std::vector<std::string> texts_of(Group& group, const std::string& here);

}  // namespace lehr
