// The driver of the passes that run several iterations of a loop at a time (`vectorise-recurrences`,
// `vectorise-short-items`, `block-registers`). It finds the candidate loops of all functions and checks the general
// conditions of vectorisation. A pass gives the two functions of a Choice: which loops it wants, and in which form.
// vectorised.h writes the code.
#pragma once
#include <optional>

#include "compiler/loops/loops.h"
#include "compiler/passes/vectoriser/vectorised.h"

namespace lehr::loops {

/// The two functions through which a vectorisation pass (`vectorise-recurrences`, `vectorise-short-items`,
/// `block-registers`) tells vectorise_loops() what to do. The first says whether it may want a loop, the second in
/// which vector form the loop is to run.
struct Choice {
  /// Returns true if the pass may want this loop. It is a cheap test, made before `arrange`.
  bool (*is_candidate)(const Program& program, const For& loop);
  /// Returns the form in which the iterations of the loop run together; nullopt leaves the loop as it is.
  std::optional<VectorForm> (*arrange)(const Program& program, const For& loop, const Varying& varying);
};

/// Returns the program in which every loop that qualifies runs several iterations at a time.
/// A loop qualifies if it is independent (For::independent), inside no loop other than one over windows of iterations,
/// and chosen by `choice`. Its iterations must write nothing but private scalars, scratch, their rows of shared arrays,
/// and sums that they do not read. No `break` may stand in them, and each loop inside must begin at the same number in
/// all of them. Loops over the range of one parallel region that follow each other are fused first, if the fused loop
/// qualifies. Cold functions stay as they are.
Program vectorise_loops(Program program, const Choice& choice);

}  // namespace lehr::loops
