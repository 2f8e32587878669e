// Narrowing of masked accesses whose masks are the first half, quarter, ... of the lanes.
#include "compiler/native/narrow_tails.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <numeric>
#include <vector>

#include "compiler/analysis/cost_model.h"

namespace lehr::native {
namespace {

/// Returns how many lanes a constant mask includes, if these are the first ones and form a shorter vector; 0 otherwise.
unsigned first_lanes(const llvm::Value* mask, const llvm::FixedVectorType& type) {
  const auto* bits = llvm::dyn_cast<llvm::Constant>(mask);
  const unsigned lanes = type.getNumElements();
  unsigned count = 0;
  for (unsigned k = 0; bits && k < lanes; ++k) {
    const llvm::Constant* bit = bits->getAggregateElement(k);
    if (!bit || llvm::isa<llvm::UndefValue>(bit) || (bit->isOneValue() && count < k)) return 0;
    count += bit->isOneValue();
  }
  const bool is_vector = std::has_single_bit(count) && count * type.getScalarSizeInBits() >= loops::kShortestVectorBits;
  return is_vector && count < lanes ? count : 0;
}

/// Returns a shuffle mask of `lanes` lanes: the first `given` from the first vector, then zeros from the first lane of
/// a second one.
std::vector<int> lanes_up_to(unsigned lanes, unsigned given) {
  std::vector<int> out(lanes);
  std::iota(out.begin(), out.end(), 0);
  for (unsigned k = given; k < lanes; ++k)
    out[k] = static_cast<int>(given);
  return out;
}

/// Emits the narrow store that does the same. Returns false if there is none.
bool shorten_store(llvm::IntrinsicInst& store) {
  llvm::Value* value = store.getArgOperand(0);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  const unsigned lanes = type ? first_lanes(store.getArgOperand(3), *type) : 0;
  if (lanes == 0) return false;
  llvm::IRBuilder<> b(&store);
  auto* made = b.CreateAlignedStore(b.CreateShuffleVector(value, lanes_up_to(lanes, lanes)), store.getArgOperand(1),
                                    llvm::cast<llvm::ConstantInt>(store.getArgOperand(2))->getMaybeAlignValue());
  made->copyMetadata(store);
  return true;
}

/// Emits the narrow load that does the same, widened with zeros. Returns false if there is none.
bool shorten_load(llvm::IntrinsicInst& load) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
  const unsigned lanes = type ? first_lanes(load.getArgOperand(2), *type) : 0;
  const auto* others = llvm::dyn_cast<llvm::Constant>(load.getArgOperand(3));
  if (lanes == 0 || !others || !(llvm::isa<llvm::UndefValue>(others) || others->isNullValue())) return false;
  llvm::IRBuilder<> b(&load);
  auto* part = llvm::FixedVectorType::get(type->getElementType(), lanes);
  auto* made = b.CreateAlignedLoad(part, load.getArgOperand(0),
                                   llvm::cast<llvm::ConstantInt>(load.getArgOperand(1))->getMaybeAlignValue());
  made->copyMetadata(load);
  load.replaceAllUsesWith(
      b.CreateShuffleVector(made, llvm::Constant::getNullValue(part), lanes_up_to(type->getNumElements(), lanes)));
  return true;
}

}  // namespace

bool narrow_masked_accesses(llvm::Function& function) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) continue;
    const bool shortened = call->getIntrinsicID() == llvm::Intrinsic::masked_store  ? shorten_store(*call)
                           : call->getIntrinsicID() == llvm::Intrinsic::masked_load ? shorten_load(*call)
                                                                                    : false;
    if (shortened) call->eraseFromParent();
    changed = changed || shortened;
  }
  return changed;
}

}  // namespace lehr::native
