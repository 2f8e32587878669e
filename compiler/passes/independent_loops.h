// Loops of independent turns: which of them take several turns at a time.
#pragma once
#include <optional>

#include "compiler/loops/loops.h"
#include "compiler/passes/side_by_side.h"

namespace lehr::loops {

/// Every loop of independent turns, in no other loop but one over windows of several turns, that is a candidate, can be
/// side by side and is given an arrangement; loops over the range of such a phase that follow one another are one, if
/// that is. Functions that run once a fit stay as they are.
struct Choice {
  bool (*is_candidate)(const Program& program, const For& loop);
  std::optional<Arrangement> (*arrange)(const Program& program, const For& loop, const Varying& varying);
};
Program put_side_by_side(Program program, const Choice& choice);

}  // namespace lehr::loops
