#include "runtime/methods/group.h"

namespace lehr {

std::vector<std::string> texts_of(Group& group, const std::string& here) {
  std::vector<std::string> out(group.size());
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
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
