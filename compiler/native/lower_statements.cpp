// Statements. Loops are emitted rotated: a guard, the body, the test at its end, which is the form that LLVM's loop
// passes want.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <utility>

#include "compiler/native/function_lowering.h"
#include "compiler/native/lower.h"

namespace lehr::native {

llvm::BasicBlock* FunctionLowering::new_block(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, &function_);
}

// Local arrays are excluded because other statements may have them in registers.
bool FunctionLowering::is_cheap(const loops::Stmt& statement) const {
  if (loop_exit_ || lane_index_.valid() || !is_cheap_code(program_, statement)) return false;
  return std::ranges::none_of(uses_of(program_, {&statement, 1}, true).buffers,
                              [&](const auto& use) { return is_local_array_[use.first.index()]; });
}

void FunctionLowering::lower(const loops::Block& block) {
  if (block.size() > program_.thresholds[kWholeBlock]) return outline_block(block);
  lower(std::span(block));
  evaluated_.clear();
}

void FunctionLowering::lower(std::span<const loops::Stmt> statements) {
  for (const loops::Stmt& statement : statements) {
    evaluated_.clear();
    other_evaluated_.clear();
    if (low_tier_ && is_costly_code(program_, statement)) {
      exit_on(call_outlined({&statement, 1}, nullptr));
      continue;
    }
    const bool all = std::exchange(low_tier_, low_tier_ || is_cheap(statement));
    std::visit([&](const auto& node) { lower(node); }, statement.node);
    low_tier_ = all;
  }
}

llvm::MDNode* FunctionLowering::loop_hints(const LoopShape& shape, llvm::MDNode* access_group) {
  llvm::LLVMContext& context = b_.getContext();
  llvm::SmallVector<llvm::Metadata*, 6> hints = {nullptr};  // the first operand identifies the loop itself
  const auto flag = [&](const char* name) {
    hints.push_back(llvm::MDNode::get(context, llvm::MDString::get(context, name)));
  };
  const auto setting = [&](const char* name, llvm::Constant* value) {
    hints.push_back(
        llvm::MDNode::get(context, {llvm::MDString::get(context, name), llvm::ConstantAsMetadata::get(value)}));
  };
  flag("llvm.loop.mustprogress");
  if (shape.unroll_later) flag("llvm.loop.unroll.full");
  if (shape.masked) setting("llvm.loop.vectorize.predicate.enable", b_.getTrue());
  if (shape.innermost && shape.unroll_later && *shape.trips % shape.lanes != 0) {
    setting("llvm.loop.vectorize.predicate.enable", b_.getTrue());
    // The loop of the last iterations continues the lanes of the loop before it, so it has the same width.
    if (shape.is_tail) setting("llvm.loop.vectorize.width", b_.getInt32(static_cast<std::uint32_t>(shape.lanes)));
  }
  if (access_group) {
    hints.push_back(
        llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), access_group}));
  }
  llvm::MDNode* result = llvm::MDNode::getDistinct(context, hints);
  result->replaceOperandWith(0, result);
  return result;
}

template <class Body>
void FunctionLowering::emit_loop(llvm::Value* begin, llvm::Value* end, const LoopShape& shape, const Body& body,
                                 std::int64_t step) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  // A loop of constant length, unless that is 0, has a first iteration and needs no guard.
  llvm::BasicBlock* loop = new_block("loop");
  llvm::BasicBlock* after = new_block("after");
  if (shape.trips && *shape.trips > 0) b_.CreateBr(loop);
  else b_.CreateCondBr(b_.CreateICmpSLT(begin, end), loop, after);
  b_.SetInsertPoint(loop);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  llvm::MDNode* group = shape.parallel ? llvm::MDNode::getDistinct(b_.getContext(), {}) : nullptr;

  llvm::BasicBlock* outer_exit = std::exchange(loop_exit_, after);
  llvm::MDNode* outer_group = std::exchange(access_group_, group);
  body(index);
  access_group_ = outer_group;
  loop_exit_ = outer_exit;

  llvm::Value* next = b_.CreateNSWAdd(index, b_.getInt64(static_cast<std::uint64_t>(step)));
  index->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, after);
  back->setMetadata(llvm::LLVMContext::MD_loop, loop_hints(shape, group));
  b_.SetInsertPoint(after);
}

void FunctionLowering::emit_unrolled(const loops::For& node, std::int64_t begin, std::int64_t trips) {
  llvm::BasicBlock* after = new_block("after");
  llvm::BasicBlock* outer_exit = std::exchange(loop_exit_, after);
  for (std::int64_t k = 0; k < trips; ++k) {
    values_[node.index] = b_.getInt64(static_cast<std::uint64_t>(begin + k));
    lower(node.body);
  }
  loop_exit_ = outer_exit;
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionLowering::lower(const loops::For& node) {
  if (const auto transpose = transpose_of(node)) return lower(*transpose);
  if (node.vectorised) {
    grouped_loop_ = &node;
    prefetched_.clear();
  }
  LoopShape shape = shape_of(program_, node, lanes_, low_tier_ ? nullptr : &spare_, bounds_);
  if (const int width = width_of(node, shape)) return lower_as_vectors(node, *shape.trips, width);
  if (low_tier_) shape = small(shape, lanes_);
  if (function_.hasFnAttribute(kKeepsNests)) shape = without_nests(shape);
  shape.masked = shape.masked && loop_exit_;  // only in inner loops: a loop over all items is long
  if (shape.unroll_now) {
    const auto begin = std::get<loops::ConstI>(program_[node.begin].node).value;
    if (*shape.trips > 0) emit_unrolled(node, begin, *shape.trips);
    return;
  }
  llvm::Value* begin = eval(node.begin);
  llvm::Value* end =
      shape.trips ? b_.CreateAdd(begin, b_.getInt64(static_cast<std::uint64_t>(*shape.trips))) : eval(node.end);
  if (shape.trips) bounds_[node.index] = std::get<loops::ConstI>(program_[node.begin].node).value + *shape.trips - 1;
  const auto body = [&](llvm::Value* index) {
    index->setName(program_[node.index].name);
    values_[node.index] = index;
    if (!shape.innermost) {
      prefetch_rows(node, index, end);
      prefetch_next(node, index);
    }
    lower(node.body);
  };
  if (shape.tail == 0) return emit_loop(begin, end, shape, body, node.step);
  llvm::Value* middle = b_.CreateSub(end, b_.getInt64(static_cast<std::uint64_t>(shape.tail)));
  emit_loop(begin, middle, main_part(shape), body);
  emit_loop(middle, end, tail_part(shape), body);
}

void FunctionLowering::lower(const loops::Let& node) {
  llvm::Value* value = eval(node.value);
  if (shared_.contains(node.scalar)) b_.CreateStore(value, values_.at(node.scalar));
  else values_[node.scalar] = value;
}

void FunctionLowering::lower(const loops::Local& node) {
  llvm::Value* initial = eval(node.initial);
  if (!shared_.contains(node.scalar)) {
    values_[node.scalar] = stack_slot(initial->getType(), 1, program_[node.scalar].name);
    is_slot_.insert(node.scalar);
  }
  b_.CreateStore(initial, values_.at(node.scalar));
}

void FunctionLowering::lower(const loops::Assign& node) { b_.CreateStore(eval(node.value), values_.at(node.scalar)); }

void FunctionLowering::lower(const loops::Accumulate& node) {
  llvm::Value* value = eval(node.value);
  if (lane_index_.valid()) return add_to_lanes(node.scalar, value);
  llvm::Value* slot = values_.at(node.scalar);
  b_.CreateStore(sum(b_.CreateLoad(value->getType(), slot), value), slot);
}

void FunctionLowering::lower(const loops::Store& node) {
  llvm::Value* value = eval(node.value);
  llvm::Value* at = address(node.buffer, node.indices);
  if (varies_by_lane(node.indices) && !value->getType()->isVectorTy()) value = b_.CreateVectorSplat(width_, value);
  store(node.buffer, at, node.accumulate ? sum(load(node.buffer, at, value->getType()), value) : value);
}

void FunctionLowering::lower(const loops::Fill& node) {
  llvm::Value* value = eval(node.value);
  llvm::Value* count = element_count(node.buffer);
  llvm::Value* base = buffers_[node.buffer.index()];
  const auto* constant_count = llvm::dyn_cast<llvm::ConstantInt>(count);
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  // For more than a few vectors memset is the fastest way to clear memory.
  if (constant && constant->isNullValue() && (!constant_count || constant_count->getSExtValue() > 32 * lanes_)) {
    llvm::Value* bytes = b_.CreateNSWMul(count, b_.getInt64(value->getType()->getPrimitiveSizeInBits() / 8));
    annotate(node.buffer, *b_.CreateMemSet(base, b_.getInt8(0), bytes, llvm::Align(64)));
    return;
  }
  LoopShape shape;
  if (constant_count) shape.trips = constant_count->getSExtValue();
  if (shape.trips == 0) return;
  if (shape.trips == 1 && function_.hasFnAttribute(kTier)) return store(node.buffer, base, value);
  shape.unroll_later = shape.trips && *shape.trips <= 32 * lanes_;
  const int lanes = lanes_of(program_[node.buffer].element, lanes_);
  if (shape.unroll_later && !low_tier_ && *shape.trips % lanes == 0) {
    value = b_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
    for (std::int64_t k = 0; k < *shape.trips; k += lanes)
      store(node.buffer, element(node.buffer, b_.getInt64(static_cast<std::uint64_t>(k)), base), value);
    return;
  }
  emit_loop(b_.getInt64(0), count, shape,
            [&](llvm::Value* index) { store(node.buffer, element(node.buffer, index, base), value); });
}

void FunctionLowering::lower(const loops::If& node) {
  llvm::BasicBlock* then_block = new_block("then");
  llvm::BasicBlock* else_block = node.else_block.empty() ? nullptr : new_block("else");
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(eval(node.condition), then_block, else_block ? else_block : after);
  b_.SetInsertPoint(then_block);
  if (node.rare && !low_tier_) call_cold_outlined(node.then_block);
  else lower(node.then_block);
  b_.CreateBr(after);
  if (else_block) {
    b_.SetInsertPoint(else_block);
    lower(node.else_block);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void FunctionLowering::lower(const loops::BreakIf& node) {
  llvm::BasicBlock* next = new_block("next");
  b_.CreateCondBr(eval(node.condition), loop_exit_, next);
  b_.SetInsertPoint(next);
}

void FunctionLowering::lower(const loops::Fail& node) {
  b_.CreateRet(b_.getInt32(static_cast<std::uint32_t>(node.code)));
  // Statements after the failure go to a block that nothing reaches.
  b_.SetInsertPoint(new_block("dead"));
}

}  // namespace lehr::native
