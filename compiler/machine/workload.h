// What an item stage asks of those who share its items out.
#pragma once
#include <vector>

#include "compiler/loops/lower.h"

namespace lehr {

struct Workload {
  /// Its functions store rows of their own items, sums and scratch, and nothing else: items can be shared out.
  bool divisible = false;
  std::vector<loops::BufferId> scratch;  // that they work in: one copy a worker
  double operations = 0;                 // of an item of average length: a guess, that no pass has a part in
};

/// `size_values` of the program must be known, here and below.
Workload workload_of(const model::Model& m, const loops::Lowered& l, const loops::StageFunctions& stage);

/// Of a turn of a phase: a guess.
double operations_of_turn(const model::Model& m, const loops::Lowered& l, const loops::Phase& phase);

/// Of a function as a whole: a guess, that no pass has a part in.
double operations_of(const model::Model& m, const loops::Lowered& l, std::size_t function);

}  // namespace lehr
