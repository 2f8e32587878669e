// Typed indices into vectors. Every intermediate representation stores its nodes in vectors, and a node refers to
// another by an Id. The tag makes ids of different vectors different types, so that the compiler rejects a mix-up.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>

namespace lehr {

/// A typed index: names a node of kind `Tag` by its position in the vector of all such nodes. A default-constructed Id
/// is invalid and refers to no node.
template <class Tag>
struct Id {
  std::int32_t value = -1;  // index of the node in its vector; -1 if the Id is invalid

  /// Makes an invalid Id.
  constexpr Id() = default;
  /// Makes the Id of the node with index `v`, which must be below 2^31.
  constexpr explicit Id(std::size_t v) : value(static_cast<std::int32_t>(v)) {}
  /// Returns true if the Id refers to a node.
  constexpr bool valid() const { return value >= 0; }
  /// Returns the index of the node. The Id must be valid.
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  /// Compares indices: Ids order as their nodes do in the vector.
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace lehr

/// The hash function of Ids.
template <class Tag>
struct std::hash<lehr::Id<Tag>> {
  /// Hashes the index, so that Ids can be keys of unordered containers.
  std::size_t operator()(lehr::Id<Tag> id) const noexcept { return std::hash<std::int32_t>{}(id.value); }
};
