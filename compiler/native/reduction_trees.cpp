// Combination of horizontal sums into reduction trees.
// On each level, pairs of vectors x and y become one with partial sums of both: even runs of both plus odd runs of both
// (halved()). With runs of 1, 2, 4, ... lanes, level after level, the last vector has the sum of each input in its own
// lane. A vector with more lanes than there are sums is folded in halves at the end.
#include "compiler/native/reduction_trees.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <vector>

namespace lehr::native {
namespace {

/// The least and the greatest number of sums in a tree.
constexpr unsigned kFewestSums = 4, kMostSums = 8;

/// Horizontal sums over vectors of one type, in the order of the code.
using Sums = std::vector<llvm::IntrinsicInst*>;

/// Returns runs of `run` lanes, alternately from x and y: those that begin at even multiples of `run`, or at `odd`
/// ones.
llvm::Value* interleaved(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, unsigned lanes, unsigned run, bool odd) {
  std::vector<int> from;
  for (unsigned at = odd ? run : 0; at < lanes; at += 2 * run) {
    for (const unsigned vector : {0U, lanes}) {
      for (unsigned k = 0; k < run; ++k)
        from.push_back(static_cast<int>(vector + at + k));
    }
  }
  return b.CreateShuffleVector(x, y, from);
}

/// Returns a vector with partial sums of x and y, alternately: half of the additions of both are then done.
llvm::Value* halved(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, unsigned lanes, unsigned run) {
  return b.CreateFAdd(interleaved(b, x, y, lanes, run, false), interleaved(b, x, y, lanes, run, true));
}

/// Returns the first or the second half of the lanes.
llvm::Value* half(llvm::IRBuilder<>& b, llvm::Value* x, unsigned lanes, bool second) {
  std::vector<int> from;
  for (unsigned k = 0; k < lanes / 2; ++k)
    from.push_back(static_cast<int>(second ? lanes / 2 + k : k));
  return b.CreateShuffleVector(x, from);
}

/// Returns a division of a constant by this value; null if there is none.
llvm::BinaryOperator* quotient_of(llvm::Value* divisor) {
  for (llvm::User* user : divisor->users()) {
    auto* quotient = llvm::dyn_cast<llvm::BinaryOperator>(user);
    if (quotient && quotient->getOpcode() == llvm::Instruction::FDiv &&
        llvm::isa<llvm::Constant>(quotient->getOperand(0)))
      return quotient;
  }
  return nullptr;
}

/// Replaces divisions of the same constant by each of the sums with one division of vectors. `all`: the vector of the
/// sums; `parts`: its elements.
void join_quotients(llvm::IRBuilder<>& b, llvm::Value* all, const std::vector<llvm::Value*>& parts) {
  std::vector<llvm::BinaryOperator*> quotients;
  std::ranges::transform(parts, std::back_inserter(quotients), quotient_of);
  const auto* first = quotients[0];
  const auto fits = [&](const llvm::BinaryOperator* x) { return x && x->getOperand(0) == first->getOperand(0); };
  if (!first || !std::ranges::all_of(quotients, fits)) return;
  llvm::FastMathFlags flags = first->getFastMathFlags();
  for (const llvm::BinaryOperator* x : quotients)
    flags &= x->getFastMathFlags();
  b.setFastMathFlags(flags);
  const auto count = static_cast<unsigned>(parts.size());
  llvm::Value* joint = b.CreateFDiv(b.CreateVectorSplat(count, first->getOperand(0)), all);
  for (unsigned k = 0; k < count; ++k) {
    quotients[k]->replaceAllUsesWith(b.CreateExtractElement(joint, k));
    quotients[k]->eraseFromParent();
  }
}

/// Replaces the sums with the elements of one reduction tree.
void join(const Sums& sums) {
  llvm::IRBuilder<> b(sums.back());
  b.setFastMathFlags(sums.front()->getFastMathFlags());
  unsigned lanes = llvm::cast<llvm::FixedVectorType>(sums[0]->getArgOperand(1)->getType())->getNumElements();
  std::vector<llvm::Value*> level;
  for (const llvm::IntrinsicInst* sum : sums)
    level.push_back(sum->getArgOperand(1));
  for (unsigned run = 1; level.size() > 1; run *= 2) {
    for (std::size_t k = 0; k < level.size() / 2; ++k)
      level[k] = halved(b, level[2 * k], level[2 * k + 1], lanes, run);
    level.resize(level.size() / 2);
  }
  llvm::Value* all = level[0];
  for (; lanes > sums.size(); lanes /= 2)
    all = b.CreateFAdd(half(b, all, lanes, false), half(b, all, lanes, true));
  std::vector<llvm::Value*> parts;
  while (parts.size() < sums.size())
    parts.push_back(b.CreateExtractElement(all, parts.size()));
  for (std::size_t k = 0; k < sums.size(); ++k) {
    llvm::Value* sum = parts[k];
    const auto* start = llvm::dyn_cast<llvm::ConstantFP>(sums[k]->getArgOperand(0));
    if (!start || !start->isZero()) sum = b.CreateFAdd(sums[k]->getArgOperand(0), sum);
    sums[k]->replaceAllUsesWith(sum);
  }
  join_quotients(b, all, parts);
  for (llvm::IntrinsicInst* sum : sums)
    sum->eraseFromParent();
}

/// Returns the instruction if it is a horizontal sum that may be part of a tree; null otherwise.
llvm::IntrinsicInst* sum_of(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::vector_reduce_fadd || !call->hasAllowReassoc())
    return nullptr;
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(call->getArgOperand(1)->getType());
  return type && type->getNumElements() >= kFewestSums && llvm::isPowerOf2_32(type->getNumElements()) ? call : nullptr;
}

/// Appends the sums of one run to `trees`, as trees that are as wide as possible, and clears the run.
void take(Sums& open, std::vector<Sums>& trees) {
  std::size_t at = 0;
  while (open.size() - at >= kFewestSums) {
    const auto* type = llvm::cast<llvm::FixedVectorType>(open[at]->getArgOperand(1)->getType());
    const std::size_t count =
        std::bit_floor(std::min<std::size_t>({open.size() - at, type->getNumElements(), kMostSums}));
    trees.emplace_back(open.begin() + static_cast<std::ptrdiff_t>(at),
                       open.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
  }
  open.clear();
}

}  // namespace

bool combine_reductions(llvm::Function& function) {
  std::vector<Sums> trees;
  for (llvm::BasicBlock& block : function) {
    Sums open;
    for (llvm::Instruction& instruction : block) {
      const auto is_needed = [&](const llvm::IntrinsicInst* x) {
        return llvm::is_contained(instruction.operands(), x);
      };
      // A run ends where one of its sums is used: the tree is emitted at the last sum.
      if (std::ranges::any_of(open, is_needed)) take(open, trees);
      llvm::IntrinsicInst* sum = sum_of(instruction);
      if (!sum) continue;
      if (!open.empty() && open[0]->getArgOperand(1)->getType() != sum->getArgOperand(1)->getType()) take(open, trees);
      open.push_back(sum);
    }
    take(open, trees);
  }
  for (const Sums& sums : trees)
    join(sums);
  return !trees.empty();
}

}  // namespace lehr::native
