// A check at compile time for tables that have one row for each value of an enumeration and are indexed by it. It
// replaces a search for the row at run time.
#pragma once
#include <cstddef>

namespace lehr {

/// Returns true if each row k of the table has `key` equal to enumerator k. Tables static_assert this, so that
/// `table[enumerator]` is the right row. Rows that are missing at the end are not noticed.
template <class Rows, class Row, class Key>
constexpr bool rows_match_enum(const Rows& rows, Key Row::*key) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].*key != static_cast<Key>(k)) return false;
  }
  return true;
}

}  // namespace lehr
