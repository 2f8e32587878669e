// Items of a model whose global factors stay as they are, inferred from several starts each: coordinate ascent of an
// item with local variables of several kinds has more than one solution. Where one stage holds all local blocks, an
// item takes the start with the highest bound of its own; otherwise all items take the start of the highest bound
// together.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/methods/engine.h"

namespace lehr {

struct ItemStarts {
  std::int64_t starts = 1;  // of an item: the factors as they are, each value of its categories, random ones
  std::uint64_t seed = 1;
  std::int64_t first = 0;  // the number of the first item: random starts depend on it, and on no other item
  bool settles = true;     // one visit of an item leads to a solution
  bool unique = false;     // which is the only one
  machine::Accuracy accuracy = {};
  machine::Which which = machine::Which::stages;
  std::vector<bool> given = {};  // by item: it begins and stays where its factors are; empty: none does
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

/// What the starts of the items came to.
struct ItemSearch {
  std::int64_t items = 0, given = 0;
  std::int64_t starts = 1;  // of each that was not given, at most
  std::int64_t apart = 0;   // items of which some start led to a bound that is lower by more than kApart
  double largest = 0;       // difference of these
  bool together = false;    // all items had the same start
  bool searched() const { return starts > 1 && given < items; }
};

inline constexpr double kApart = 0.01;  // nats

/// The factors as they are count as the first start. An item has no further starts after three random ones that
/// led to nothing better. Of an engine with LowerOptions::item_starts, without a window. 0, or a status of the
/// generated code.
std::int32_t infer_from_starts(Engine& engine, const ItemStarts& options, ItemSearch& found);

}  // namespace lehr
