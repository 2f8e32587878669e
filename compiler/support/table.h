// Tables with one row for each value of an enumeration.
#pragma once
#include <cstddef>

namespace lehr {

/// Whether row k is that of value k: what a table promises that is indexed by its enumeration.
template <class Rows, class Row, class Key>
constexpr bool in_order(const Rows& rows, Key Row::*key) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].*key != static_cast<Key>(k)) return false;
  }
  return true;
}

}  // namespace lehr
