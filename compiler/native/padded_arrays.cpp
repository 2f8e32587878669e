// Plain accesses in place of masked ones, for local arrays with padded rows.
// mark_rows() attaches extent, stride and "zeros" to the allocation as metadata, and unmask_accesses() reads them.
// Where zeros must stay behind a row, a select puts 0 into the lanes of a store that the mask excludes.
#include "compiler/native/padded_arrays.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace lehr::native {
namespace {

/// The name of the metadata.
constexpr const char* kKind = "lehr.rows";

/// What the metadata says of an array.
struct RowLayout {
  std::int64_t extent, stride, elements;  // elements of a row with a meaning, distance of rows, elements in all
  bool zeros;                             // true if the elements behind a row are 0 and must stay so
};

/// Returns what the metadata says of an array; nullopt if it is not marked.
std::optional<RowLayout> rows_of(const llvm::AllocaInst& array) {
  const llvm::MDNode* node = array.getMetadata(kKind);
  if (!node) return std::nullopt;
  const auto number = [&](unsigned k) {
    return llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(k))->getSExtValue();
  };
  const auto elements = static_cast<std::int64_t>(array.getAllocatedType()->getArrayNumElements());
  return RowLayout{number(0), number(1), elements, number(2) != 0};
}

/// Returns the rows of the array at `address` if a vector access under `mask` may touch all lanes: each excluded lane
/// is in the padding. nullopt otherwise.
std::optional<RowLayout> rows_around(llvm::Value* address, llvm::Value* mask, llvm::FixedVectorType* type,
                                     const llvm::DataLayout& layout) {
  const std::int64_t lanes = type->getNumElements(), element_bytes = type->getScalarSizeInBits() / 8;
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (!constant) return std::nullopt;
  llvm::APInt offset(64, 0);
  const auto* array = llvm::dyn_cast<llvm::AllocaInst>(
      address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  const auto rows = array ? rows_of(*array) : std::nullopt;
  const std::int64_t bytes = offset.getSExtValue();
  if (!rows || bytes < 0 || bytes % element_bytes != 0) return std::nullopt;
  const std::int64_t first = bytes / element_bytes;
  if (first + lanes > rows->elements) return std::nullopt;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const llvm::Constant* on = constant->getAggregateElement(static_cast<unsigned>(lane));
    if (!on) return std::nullopt;
    const bool padding = (first + lane) % rows->stride >= rows->extent;
    if (!on->isOneValue() && !padding) return std::nullopt;
  }
  return rows;
}

}  // namespace

std::int64_t row_stride(std::int64_t extent, int lanes) {
  // Short rows are unrolled rather than vectorised, so padding would gain nothing.
  return extent <= lanes / 2 ? extent : (extent + lanes - 1) / lanes * lanes;
}

void mark_rows(llvm::AllocaInst& array, std::int64_t extent, std::int64_t stride, bool zeros) {
  llvm::LLVMContext& context = array.getContext();
  const auto number = [&](std::int64_t n) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), n));
  };
  array.setMetadata(kKind, llvm::MDNode::get(context, {number(extent), number(stride), number(zeros)}));
}

bool unmask_accesses(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) continue;
    llvm::IRBuilder<> builder(call);
    const auto vector = [](llvm::Type* type) { return llvm::cast<llvm::FixedVectorType>(type); };
    const auto align = [](llvm::Type* type) { return llvm::Align(type->getScalarSizeInBits() / 8); };
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_store) {
      llvm::Value* value = call->getArgOperand(0);
      llvm::Value* address = call->getArgOperand(1);
      llvm::Value* mask = call->getArgOperand(3);
      const auto rows = rows_around(address, mask, vector(value->getType()), layout);
      if (!rows) continue;
      if (rows->zeros) value = builder.CreateSelect(mask, value, llvm::Constant::getNullValue(value->getType()));
      builder.CreateAlignedStore(value, address, align(value->getType()))->copyMetadata(*call);
    } else if (call->getIntrinsicID() == llvm::Intrinsic::masked_load) {
      llvm::Value* address = call->getArgOperand(0);
      llvm::Value* mask = call->getArgOperand(2);
      llvm::Value* otherwise = call->getArgOperand(3);
      if (!rows_around(address, mask, vector(call->getType()), layout)) continue;
      llvm::LoadInst* loaded = builder.CreateAlignedLoad(call->getType(), address, align(call->getType()));
      loaded->copyMetadata(*call);
      llvm::Value* result = loaded;
      if (!llvm::isa<llvm::UndefValue>(otherwise)) result = builder.CreateSelect(mask, loaded, otherwise);
      call->replaceAllUsesWith(result);
    } else {
      continue;
    }
    call->eraseFromParent();
    changed = true;
  }
  return changed;
}

}  // namespace lehr::native
