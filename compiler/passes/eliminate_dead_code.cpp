// The pass `eliminate-dead-code`: dead code elimination, with the analysis of liveness.h. Additions of variables that
// stay 0 go first, as they would keep their arrays live.
#include <utility>
#include <vector>

#include "compiler/analysis/liveness.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/passes.h"

namespace lehr::loops {
namespace {

/// Returns the arrays that a function loads from.
SmallIdSet<BufferId> loaded_in(const Program& p, const Function& f) {
  SmallIdSet<BufferId> out;
  const auto load = [&](BufferId b, bool stored) {
    if (!stored) out.insert(b);
  };
  Walk{p, [](ExprId) {}, load}.block(f.body);
  return out;
}

/// Returns for each array how many functions load from it. Callers that read it on behalf of a function (sums of
/// parallel regions, flags of cached sums) count too.
std::vector<int> readers_of(const Program& p) {
  std::vector<int> out(p.buffers.size());
  for (const Function& f : p.functions) {
    for (const BufferId b : loaded_in(p, f))
      ++out[b.index()];
    for (const ParallelRegion& phase : f.regions)
      if (phase.sums.valid()) ++out[phase.sums.index()];
    for (const CachedSums& cached_sums : f.cached)
      ++out[cached_sums.valid_flag.index()];
  }
  return out;
}

/// Returns the variables that are declared as 0 and never changed.
SmallIdSet<ScalarId> zeros_in(const Program& p, const Block& b) {
  SmallIdSet<ScalarId> zeros, changed;
  each_statement(b, [&](const Stmt& s) {
    if (const auto* x = std::get_if<Local>(&s.node)) {
      const auto* value = std::get_if<ConstF>(&p[x->initial].node);
      if (value && value->value == 0) zeros.insert(x->scalar);
    }
    if (const auto* x = std::get_if<Assign>(&s.node)) changed.insert(x->scalar);
    if (const auto* x = std::get_if<Accumulate>(&s.node)) changed.insert(x->scalar);
  });
  erase_if(zeros, [&](ScalarId s) { return changed.contains(s); });
  return zeros;
}

/// Removes the stores that add one of the variables `zeros`.
void leave_out_additions(const Program& p, const SmallIdSet<ScalarId>& zeros, Block& b) {
  std::erase_if(b, [&](Stmt& s) {
    if (auto* loop = std::get_if<For>(&s.node)) leave_out_additions(p, zeros, loop->body);
    if (auto* branch = std::get_if<If>(&s.node)) {
      leave_out_additions(p, zeros, branch->then_block);
      leave_out_additions(p, zeros, branch->else_block);
    }
    const auto* x = std::get_if<Store>(&s.node);
    const auto* value = x && x->accumulate ? std::get_if<Get>(&p[x->value].node) : nullptr;
    return value && zeros.contains(value->scalar);
  });
}

}  // namespace

/// Returns the program without dead statements: the pass `eliminate-dead-code`. Scratch that no other function loads is
/// private to its function. Additions of a variable that stays 0 are dropped too. For example, of the Cholesky factor,
/// the inverse and the log determinant of a matrix, only what is read is computed.
Program eliminate_dead_code(Program program) {
  const std::vector<int> readers = readers_of(program);
  for (Function& f : program.functions) {
    const SmallIdSet<BufferId> here = loaded_in(program, f);
    SmallIdSet<BufferId> own(f.local_arrays.begin(), f.local_arrays.end());
    for (std::size_t k = 0; k < readers.size(); ++k) {
      const BufferId b(k);
      if (program[b].role == Role::scratch && readers[k] == (here.contains(b) ? 1 : 0)) own.insert(b);
    }
    leave_out_additions(program, zeros_in(program, f.body), f.body);
    f.body = Liveness(program, f, std::move(own), {}).rest(f.body);
  }
  return program;
}

}  // namespace lehr::loops
