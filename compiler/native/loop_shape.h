// What the lowering wants to know about a loop before it emits it, and the hints it gives the optimiser.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::native {

/// How a `for` is emitted.
struct LoopShape {
  std::optional<std::int64_t> trips;  // when both bounds are constants
  bool innermost = true;              // no loop below
  bool unroll_now = false;            // emitted as straight code
  bool unroll_later = false;          // asked of the optimiser, after vectorisation
  std::int64_t tail = 0;              // so many last trips of a long loop become a loop of their own
  bool parallel = false;              // every access may be declared free of dependences between iterations
};

/// `lanes`: reals in one vector of the target.
LoopShape shape_of(const loops::Program& program, const loops::For& loop, int lanes);

/// The two loops of one with a tail.
LoopShape main_part(LoopShape shape);
LoopShape tail_part(LoopShape shape);

/// By buffer: whether the function loads from it or stores to it.
std::vector<bool> used_buffers(const loops::Program& program, const loops::Function& function);

}  // namespace lehr::native
