// Counts the messages of a group of processes, and collects texts and traffic from all of them by broadcasts.
#include "runtime/parallel/group.h"

namespace lehr {

void Group::count_sent(std::span<const double> values) {
  ++traffic_.sent;
  traffic_.bytes_sent += values.size_bytes();
}

void Group::count_received(std::span<const double> values) {
  ++traffic_.received;
  traffic_.bytes_received += values.size_bytes();
}

void Group::send(std::span<const double> values, std::size_t to) {
  do_send(values, to);
  count_sent(values);
}

void Group::receive(std::span<double> values, std::size_t from) {
  do_receive(values, from);
  count_received(values);
}

void Group::broadcast(std::span<double> values, std::size_t from) {
  do_broadcast(values, from);
  if (rank() == from) count_sent(values);
  else count_received(values);
}

std::vector<Traffic> traffic_of(Group& group) {
  const Traffic here = group.traffic();
  std::vector<Traffic> out;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    double counts[] = {static_cast<double>(here.sent), static_cast<double>(here.received),
                       static_cast<double>(here.bytes_sent), static_cast<double>(here.bytes_received)};
    group.broadcast(counts, rank);
    const auto whole = [](double x) { return static_cast<std::uint64_t>(x); };
    out.push_back({whole(counts[0]), whole(counts[1]), whole(counts[2]), whole(counts[3])});
  }
  return out;
}

std::vector<std::string> texts_of(Group& group, const std::string& here) {
  std::vector<std::string> out(group.size());
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    // Messages consist of doubles: first the length, then one double a character.
    double length = static_cast<double>(here.size());
    group.broadcast({&length, 1}, rank);
    std::vector<double> characters(here.begin(), here.end());
    characters.resize(static_cast<std::size_t>(length));
    group.broadcast(characters, rank);
    for (const double c : characters)
      out[rank] += static_cast<char>(c);
  }
  return out;
}

}  // namespace lehr
