// Expressions. Each is emitted once in a statement; LLVM finds what different statements share.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <stdexcept>

#include "compiler/native/function_lowering.h"
#include "compiler/native/lower.h"
#include "compiler/native/special_functions.h"

namespace lehr::native {

using loops::BinaryOp;
using loops::UnaryOp;

llvm::Value* FunctionLowering::eval(loops::ExprId id) {
  if (const auto cached = evaluated_.find(id); cached != evaluated_.end()) return cached->second;
  const loops::Expr& expr = program_[id];
  llvm::Value* value = std::visit([&](const auto& node) { return lower(expr, node); }, expr.node);
  evaluated_.emplace(id, value);
  return value;
}

llvm::Value* FunctionLowering::lower(const loops::Expr& expr, const loops::ConstF& node) {
  return llvm::ConstantFP::get(type(expr.type), node.value);
}

llvm::Value* FunctionLowering::lower(const loops::Expr& expr, const loops::ConstI& node) {
  return llvm::ConstantInt::getSigned(type(expr.type), node.value);
}

llvm::Value* FunctionLowering::lower(const loops::Expr& expr, const loops::Get& node) {
  if (node.scalar == lane_index_ && !in_address_) return lane_indices();
  llvm::Value* value = values_.at(node.scalar);
  return is_slot_.contains(node.scalar) ? b_.CreateLoad(type(expr.type), value) : value;
}

llvm::Value* FunctionLowering::lower(const loops::Expr&, const loops::Extent& node) { return extent(node.size); }

llvm::Value* FunctionLowering::lower(const loops::Expr&, const loops::Load& node) {
  llvm::Value* base = buffers_[node.buffer.index()];
  if (node.reload && !low_tier_) base = laundered_address(base);
  llvm::Type* element = type(program_[node.buffer].element);
  return load(node.buffer, address(node.buffer, node.indices, base),
              varies_by_lane(node.indices) ? lane_vector_type(element) : element);
}

/// launder.invariant.group returns its argument, but LLVM may not assume that the two are equal.
llvm::Value* FunctionLowering::laundered_address(llvm::Value* base) {
  llvm::Value*& laundered = laundered_addresses_[base];
  if (!laundered) {
    auto* definition = llvm::dyn_cast<llvm::Instruction>(base);
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> after(&entry, definition ? std::next(definition->getIterator()) : entry.begin());
    laundered = after.CreateLaunderInvariantGroup(base);
  }
  return laundered;
}

/// The forms are exp(digamma(x)), exp(digamma(x) + c), exp(c + digamma(x)) and exp(digamma(x) - c).
llvm::Value* FunctionLowering::exp_of_digamma(loops::ExprId exponent) {
  const auto argument = [&](loops::ExprId id) {
    const auto* call = std::get_if<loops::Unary>(&program_[id].node);
    return call && call->op == UnaryOp::digamma ? call->operand : loops::ExprId{};
  };
  loops::ExprId x = argument(exponent);
  llvm::Value* shift = nullptr;
  if (x.valid()) {
    shift = llvm::ConstantFP::get(type(program_[exponent].type), 0);
  } else if (const auto* sum = std::get_if<loops::Binary>(&program_[exponent].node)) {
    const bool plus = sum->op == BinaryOp::add;
    if (!plus && sum->op != BinaryOp::subtract) return nullptr;
    x = argument(sum->left);
    loops::ExprId addend = sum->right;
    if (!x.valid() && plus) {
      x = argument(sum->right);
      addend = sum->left;
    }
    if (!x.valid()) return nullptr;
    shift = plus ? eval(addend) : b_.CreateFNeg(eval(addend));
  } else {
    return nullptr;
  }
  llvm::Value* at = eval(x);
  broadcast_scalar(at, shift);
  return call_special(exp_digamma_function(module_, shift->getType()), {at, shift});
}

/// In code that is optimised little the function is called and not inlined. It must then allow the same vectors as its
/// caller, because arguments in vector registers depend on that.
llvm::Value* FunctionLowering::call_special(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* call = b_.CreateCall(function, arguments);
  if (!low_tier_) return call;
  call->setIsNoInline();
  for (const char* attribute : {"target-cpu", "target-features", "prefer-vector-width"}) {
    if (const llvm::Attribute own = function_.getFnAttribute(attribute); own.isValid()) function->addFnAttr(own);
  }
  return call;
}

llvm::Value* FunctionLowering::lower(const loops::Expr& expr, const loops::Unary& node) {
  if (node.op == UnaryOp::exp) {
    if (llvm::Value* fused = exp_of_digamma(node.operand)) return fused;
  }
  llvm::Value* x = eval(node.operand);
  const bool real = loops::is_real(program_[node.operand].type);
  switch (node.op) {
    case UnaryOp::negate:
      return real ? b_.CreateFNeg(x) : b_.CreateNSWNeg(x);
    case UnaryOp::logical_not:
      return b_.CreateNot(x);
    case UnaryOp::to_f64:
    case UnaryOp::to_f32: {
      llvm::Type* to = x->getType()->getWithNewType(type(expr.type));
      return real ? b_.CreateFPCast(x, to) : b_.CreateSIToFP(x, to);
    }
    case UnaryOp::sqrt:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case UnaryOp::abs:
      return real ? b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x)
                  : b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getTrue());
    case UnaryOp::is_nan:
      return b_.CreateFCmpUNO(x, x);
    case UnaryOp::exp:
    case UnaryOp::log:
    case UnaryOp::log1p:
    case UnaryOp::logit_curvature:
    case UnaryOp::digamma:
    case UnaryOp::trigamma:
    case UnaryOp::lgamma:
      return call_special(special_function(module_, node.op, x->getType()), {x});
  }
  throw std::logic_error("native: unknown unary operation");
}

llvm::Value* FunctionLowering::lower(const loops::Expr&, const loops::Binary& node) {
  llvm::Value* a = eval(node.left);
  llvm::Value* b = eval(node.right);
  broadcast_scalar(a, b);
  switch (program_[node.left].type) {
    case loops::Type::f64:
    case loops::Type::f32:
      return on_reals(node.op, a, b);
    case loops::Type::i64:
      return on_integers(node.op, a, b);
    case loops::Type::boolean:
      return on_bools(node.op, a, b);
  }
  return nullptr;
}

llvm::Value* FunctionLowering::on_reals(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case BinaryOp::add:
      return b_.CreateFAdd(a, b);
    case BinaryOp::subtract:
      return b_.CreateFSub(a, b);
    case BinaryOp::multiply:
      return product(a, b);
    case BinaryOp::divide:
      return b_.CreateFDiv(a, b);
    // These two propagate NaN, as minimum and maximum of IEEE 754-2019 do.
    case BinaryOp::minimum:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, b);
    case BinaryOp::maximum:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, b);
    case BinaryOp::equal:
      return b_.CreateFCmpOEQ(a, b);
    case BinaryOp::not_equal:
      return b_.CreateFCmpUNE(a, b);
    case BinaryOp::less:
      return b_.CreateFCmpOLT(a, b);
    case BinaryOp::less_equal:
      return b_.CreateFCmpOLE(a, b);
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  throw std::logic_error("native: logical operation on reals");
}

llvm::Value* FunctionLowering::on_integers(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case BinaryOp::add:
      return b_.CreateNSWAdd(a, b);
    case BinaryOp::subtract:
      return b_.CreateNSWSub(a, b);
    case BinaryOp::multiply:
      return b_.CreateNSWMul(a, b);
    case BinaryOp::minimum:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case BinaryOp::maximum:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case BinaryOp::equal:
      return b_.CreateICmpEQ(a, b);
    case BinaryOp::not_equal:
      return b_.CreateICmpNE(a, b);
    case BinaryOp::less:
      return b_.CreateICmpSLT(a, b);
    case BinaryOp::less_equal:
      return b_.CreateICmpSLE(a, b);
    case BinaryOp::divide:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  throw std::logic_error("native: operation undefined on integers");
}

llvm::Value* FunctionLowering::on_bools(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  if (op == BinaryOp::logical_and) return b_.CreateAnd(a, b);
  if (op == BinaryOp::logical_or) return b_.CreateOr(a, b);
  throw std::logic_error("native: arithmetic on bools");
}

llvm::Value* FunctionLowering::lower(const loops::Expr&, const loops::Select& node) {
  llvm::Value* condition = eval(node.condition);
  llvm::Value *if_true = eval(node.if_true), *if_false = eval(node.if_false);
  if (condition->getType()->isVectorTy()) broadcast_scalar(condition, if_true);
  broadcast_scalar(if_true, if_false);
  return b_.CreateSelect(condition, if_true, if_false);
}

llvm::Value* FunctionLowering::lower(const loops::Expr&, const loops::Random& node) {
  llvm::Type *integer = b_.getInt64Ty(), *real = b_.getDoubleTy();
  llvm::FunctionCallee draw = module_.getOrInsertFunction(
      kRandomFunction,
      llvm::FunctionType::get(real, {integer, b_.getPtrTy(), integer, integer, integer, real, real}, false));
  llvm::Value* element = eval(node.element);
  llvm::Value* component = eval(node.component);
  llvm::Value* a = eval(node.a);
  return b_.CreateCall(draw, {b_.getInt64(static_cast<std::uint64_t>(node.noise)), buffers_[node.key.index()],
                              b_.getInt64(static_cast<std::uint64_t>(node.site)), element, component, a, eval(node.b)});
}

llvm::Value* FunctionLowering::sum(llvm::Value* a, llvm::Value* b) {
  return a->getType()->isFPOrFPVectorTy() ? b_.CreateFAdd(a, b) : b_.CreateNSWAdd(a, b);
}

}  // namespace lehr::native
