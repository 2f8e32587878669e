// Typed indices into vectors: every node of every rung is held in a vector and named by one of these.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>

namespace lehr {

/// Position in the vector that holds nodes of kind `Tag`; default-constructed ids name nothing.
template <class Tag>
struct Id {
  std::int32_t value = -1;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t v) : value(static_cast<std::int32_t>(v)) {}
  constexpr bool valid() const { return value >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace lehr

template <class Tag>
struct std::hash<lehr::Id<Tag>> {
  std::size_t operator()(lehr::Id<Tag> id) const noexcept { return std::hash<std::int32_t>{}(id.value); }
};
