// Plain multiply-adds in place of masked ones, at the end of rows.
// The pattern is select(lanes of the row, sum + factor * masked_load, sum). The load gets 0 in its other lanes. The
// factor gets zeros there by a select of its own, which pays if several products share the factor.
#include "compiler/native/unmasked_fma.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>
#include <utility>
#include <vector>

#include "runtime/threshold.h"

namespace lehr::native {
namespace {

/// The least number of products for which it pays to give their common factor zeros.
constexpr Threshold<std::size_t> kFewestUnmasked("native.unmasked_fma.fewest", 2);

/// The pattern: sum + factor * row in the lanes of the row, sum in the others.
struct Tail {
  llvm::ShuffleVectorInst* chosen;  // the choice between the two
  llvm::Instruction* added;         // the addition
  llvm::Value* factor;              // the factor that is no load of the row
  llvm::IntrinsicInst* row;         // the masked load of the row
};

/// Returns the number of lanes of a vector.
unsigned lanes_of(const llvm::Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

/// Returns for each lane whether it comes from the first operand; nullopt if a lane changes its position.
std::optional<std::vector<bool>> lanes_chosen(const llvm::ShuffleVectorInst& s) {
  if (!llvm::isa<llvm::FixedVectorType>(s.getOperand(0)->getType()) || s.getType() != s.getOperand(0)->getType())
    return std::nullopt;
  const unsigned lanes = lanes_of(&s);
  std::vector<bool> out(lanes);
  for (unsigned k = 0; k < lanes; ++k) {
    out[k] = s.getMaskValue(k) == static_cast<int>(k);
    if (!out[k] && s.getMaskValue(k) != static_cast<int>(k + lanes)) return std::nullopt;
  }
  return out;
}

/// Returns the value if it is a masked load of exactly these lanes whose others may become 0; null otherwise.
llvm::IntrinsicInst* load_of(llvm::Value* value, const std::vector<bool>& lanes) {
  auto* load = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (!load || load->getIntrinsicID() != llvm::Intrinsic::masked_load) return nullptr;
  const auto* mask = llvm::dyn_cast<llvm::Constant>(load->getArgOperand(2));
  const auto* others = llvm::dyn_cast<llvm::Constant>(load->getArgOperand(3));
  if (!mask || !others || !(llvm::isa<llvm::UndefValue>(others) || others->isNullValue())) return nullptr;
  for (unsigned k = 0; k < lanes.size(); ++k) {
    const llvm::Constant* bit = mask->getAggregateElement(k);
    if (!bit || bit->isNullValue() == lanes[k]) return nullptr;
  }
  return load;
}

/// Returns the pattern that ends with the instruction; nullopt if it is none.
std::optional<Tail> tail(llvm::Instruction& instruction) {
  auto* chosen = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
  const auto lanes = chosen ? lanes_chosen(*chosen) : std::nullopt;
  auto* added = lanes ? llvm::dyn_cast<llvm::BinaryOperator>(chosen->getOperand(0)) : nullptr;
  if (!added || added->getOpcode() != llvm::Instruction::FAdd || !added->hasOneUse() || !added->hasNoSignedZeros())
    return std::nullopt;
  llvm::Value* sum = chosen->getOperand(1);
  if (added->getOperand(0) != sum && added->getOperand(1) != sum) return std::nullopt;
  auto* product = llvm::dyn_cast<llvm::BinaryOperator>(added->getOperand(added->getOperand(0) == sum ? 1 : 0));
  if (!product || product->getOpcode() != llvm::Instruction::FMul || !product->hasOneUse()) return std::nullopt;
  for (const unsigned k : {1U, 0U}) {
    if (llvm::IntrinsicInst* row = load_of(product->getOperand(k), *lanes))
      return Tail{chosen, added, product->getOperand(1 - k), row};
  }
  return std::nullopt;
}

/// Returns the factor with zeros outside the lanes of the row, computed once after its definition; null if that is
/// impossible.
llvm::Value* with_zeros(llvm::Value* factor, const llvm::ShuffleVectorInst& chosen) {
  auto* definition = llvm::dyn_cast<llvm::Instruction>(factor);
  if (!definition) return nullptr;
  const auto after = definition->getInsertionPointAfterDef();
  if (!after) return nullptr;
  llvm::IRBuilder<> b((*after)->getParent(), *after);
  return b.CreateShuffleVector(factor, llvm::Constant::getNullValue(factor->getType()), chosen.getShuffleMask());
}

/// Makes the lanes that a masked load excludes 0.
void clear_others(llvm::IntrinsicInst& load) { load.setArgOperand(3, llvm::Constant::getNullValue(load.getType())); }

}  // namespace

bool unmask_multiply_adds(llvm::Function& function, const Thresholds& thresholds) {
  // Patterns by factor and lanes: what several share is made 0 once.
  llvm::MapVector<std::pair<llvm::Value*, llvm::Constant*>, std::vector<Tail>> shared;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (const auto x = tail(instruction)) shared[{x->factor, x->chosen->getShuffleMaskForBitcode()}].push_back(*x);
  }
  bool changed = false;
  for (auto& [key, tails] : shared) {
    llvm::IntrinsicInst* load = load_of(key.first, *lanes_chosen(*tails[0].chosen));
    llvm::Value* zeroed = load                                          ? load
                          : tails.size() >= thresholds[kFewestUnmasked] ? with_zeros(key.first, *tails[0].chosen)
                                                                        : nullptr;
    if (!zeroed) continue;
    if (load) clear_others(*load);
    for (const Tail& x : tails) {
      clear_others(*x.row);
      auto* product =
          llvm::cast<llvm::Instruction>(x.added->getOperand(x.added->getOperand(0) == x.chosen->getOperand(1)));
      product->replaceUsesOfWith(x.factor, zeroed);
      x.chosen->replaceAllUsesWith(x.added);
    }
    changed = true;
  }
  return changed;
}

}  // namespace lehr::native
