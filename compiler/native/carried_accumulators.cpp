// Carrying of vector accumulators from a loop to the loop of its last iterations.
// The pattern is t = reduce(insert(constant, reduce(v), lane 0) + x), where the constant is 0 in the other lanes. It
// becomes t = reduce(v + x). If a shuffle keeps only some lanes of the sum and 0 in the others, x gets that shuffle
// instead.
#include "compiler/native/carried_accumulators.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

namespace lehr::native {
namespace {

/// Returns the value if it is a horizontal sum that may be reassociated; null otherwise.
llvm::IntrinsicInst* sum_over(llvm::Value* value) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  const bool is_sum = call && call->getIntrinsicID() == llvm::Intrinsic::vector_reduce_fadd && call->hasAllowReassoc();
  return is_sum ? call : nullptr;
}

/// Returns what a phi with a single incoming value stands for.
llvm::Value* behind_phi(llvm::Value* value) {
  auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
  return phi && phi->getNumIncomingValues() == 1 && phi->hasOneUse() ? behind_phi(phi->getIncomingValue(0)) : value;
}

/// Returns the horizontal sum that is inserted as the first lane of the vector; null unless it is a sum over a vector
/// of the same type and both have one use.
llvm::IntrinsicInst* first_lane(const llvm::InsertElementInst& vector) {
  using namespace llvm::PatternMatch;
  if (!vector.hasOneUse() || !match(vector.getOperand(2), m_Zero())) return nullptr;
  llvm::IntrinsicInst* sum = sum_over(behind_phi(vector.getOperand(1)));
  if (!sum || !sum->hasOneUse() || sum->getArgOperand(1)->getType() != vector.getType()) return nullptr;
  return match(sum->getArgOperand(0), m_AnyZeroFP()) ? sum : nullptr;
}

/// Returns true if the lane of a constant vector is 0.
bool is_zero(const llvm::Constant* vector, unsigned lane) {
  const auto* element = llvm::dyn_cast_or_null<llvm::ConstantFP>(vector->getAggregateElement(lane));
  return element && element->isZero();
}

/// An addition to a vector accumulator that begins with the total of another.
struct Addition {
  llvm::InsertElementInst* carried;  // the accumulator's initial value, with the total in its first lane
  llvm::Value* added;                // what is added to it
  llvm::ShuffleVectorInst* blend;    // keeps the lanes that count and 0 in the others; null if all lanes count
};

/// Returns the value as such an addition; nullopt if it is none, or lanes other than the first do not begin with 0.
std::optional<Addition> addition(llvm::Value* value) {
  using namespace llvm::PatternMatch;
  auto* blend = llvm::dyn_cast<llvm::ShuffleVectorInst>(value);
  llvm::Value* sum = blend ? blend->getOperand(0) : value;
  auto* add = llvm::dyn_cast<llvm::BinaryOperator>(sum);
  if (!value->hasOneUse() || !add || !add->hasOneUse() || add->getOpcode() != llvm::Instruction::FAdd ||
      !add->hasAllowReassoc())
    return std::nullopt;
  const auto* nothing = blend ? llvm::dyn_cast<llvm::Constant>(blend->getOperand(1)) : nullptr;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(sum->getType())->getNumElements();
  if (blend && (!nothing || blend->getShuffleMask().size() != lanes || blend->getMaskValue(0) != 0))
    return std::nullopt;
  // Either operand may be the accumulator. Each lane must be kept and begin with 0, or be replaced by 0.
  for (const unsigned k : {0U, 1U}) {
    auto* carried = llvm::dyn_cast<llvm::InsertElementInst>(add->getOperand(k));
    const auto* others = carried ? llvm::dyn_cast<llvm::Constant>(carried->getOperand(0)) : nullptr;
    if (!others || !first_lane(*carried)) continue;
    bool fits = true;
    for (unsigned lane = 1; lane < lanes; ++lane) {
      const int from = blend ? blend->getMaskValue(lane) : static_cast<int>(lane);
      const bool is_selected = from == static_cast<int>(lane);
      fits =
          fits && from >= 0 &&
          (is_selected ? is_zero(others, lane)
                       : static_cast<unsigned>(from) >= lanes && is_zero(nothing, static_cast<unsigned>(from) - lanes));
    }
    if (fits) return Addition{carried, add->getOperand(1 - k), blend};
  }
  return std::nullopt;
}

/// Replaces the addition by one to the lanes of the first accumulator.
void carry(llvm::Value* value, const Addition& x) {
  llvm::IntrinsicInst* sum = first_lane(*x.carried);
  auto* add = llvm::cast<llvm::Instruction>(x.blend ? x.blend->getOperand(0) : value);
  llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(value));
  b.setFastMathFlags(add->getFastMathFlags());
  llvm::Value* added =
      x.blend ? b.CreateShuffleVector(x.added, x.blend->getOperand(1), x.blend->getShuffleMask()) : x.added;
  value->replaceAllUsesWith(b.CreateFAdd(sum->getArgOperand(1), added));
}

}  // namespace

bool carry_accumulators(llvm::Function& function) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    llvm::IntrinsicInst* sum = sum_over(&instruction);
    if (!sum) continue;
    llvm::Value* value = sum->getArgOperand(1);
    if (const auto x = addition(value)) {
      carry(value, *x);
      changed = true;
    }
  }
  return changed;
}

}  // namespace lehr::native
