// How components may change places.
#pragma once
#include <cstdint>

namespace lehr::machine {

/// In ComponentsRow::ordered.
enum class ComponentOrder : std::int64_t {
  none,       // at will
  by_size,    // stick-breaking weights know their order
  told_apart  // not: data tell them apart, and a chain goes from one to others
};

}  // namespace lehr::machine
