// Blocks of many statements, split into functions (parts), because LLVM's time grows faster than the size of a
// function.
// A part gets the four tables of the function around it, then local arrays and scalars that are declared there. A
// scalar that one part declares and another uses is in a slot on the caller's stack. A part returns 0 after it has run
// to its end, kLeft if it leaves the loop around it, else the code of a failure. Rarely executed branches become parts
// too, which are optimised little.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <optional>

#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/native/buffer_aliases.h"
#include "compiler/native/function_lowering.h"
#include "compiler/native/lower.h"
#include "runtime/threshold.h"

namespace lehr::native {
namespace {

/// The number of statements from which on a part ends.
constexpr Threshold<std::size_t> kPartStatements("native.outlining.part_statements", 48);
/// The status of a part that has left the loop around it.
constexpr std::uint32_t kLeft = static_cast<std::uint32_t>(-1);

/// Consecutive statements of a block that become one function.
using Part = std::span<const loops::Stmt>;

/// Returns a block in parts of about `statements` statements, those inside loops included.
std::vector<Part> parts_of(const loops::Block& block, std::size_t statements) {
  std::vector<Part> out;
  std::size_t begin = 0, count = 0;
  for (std::size_t k = 0; k < block.size(); ++k) {
    count += 1;
    if (const auto* loop = std::get_if<loops::For>(&block[k].node)) count += statement_count(loop->body);
    if (k + 1 < block.size() && count < statements) continue;
    out.push_back(Part(block).subspan(begin, k + 1 - begin));
    begin = k + 1;
    count = 0;
  }
  return out;
}

}  // namespace

void FunctionLowering::outline_block(const loops::Block& block) {
  const std::vector<Part> parts = parts_of(block, program_.thresholds[kPartStatements]);
  std::unordered_set<loops::ScalarId> own;  // scalars that the block declares
  for (const loops::Stmt& s : block) {
    if (const auto scalar = declared(s)) own.insert(*scalar);
  }
  // Every scalar of the block that some part uses from outside gets a slot.
  std::vector<loops::ScalarId> moved;
  for (const Part& part : parts) {
    for (loops::ScalarId s : uses_of(program_, part, true).scalars) {
      if (!own.contains(s) || !shared_.insert(s).second) continue;
      values_[s] = stack_slot(type(program_[s].type), 1, program_[s].name);
      is_slot_.insert(s);
      moved.push_back(s);
    }
  }
  for (const Part& part : parts)
    exit_on(call_outlined(part, kPart));
  for (loops::ScalarId s : moved)
    shared_.erase(s);
}

// The part works on copies of small arrays and slots. If their own addresses were passed to another function, LLVM
// would keep them in memory everywhere.
void FunctionLowering::call_cold_outlined(Part statements) {
  const Uses uses = uses_of(program_, statements, true);
  const auto values = values_;
  const auto buffers = buffers_;
  std::vector<std::pair<llvm::AllocaInst*, llvm::AllocaInst*>> copies;
  const llvm::DataLayout& layout = module_.getDataLayout();
  const auto move = [&](llvm::AllocaInst* to, llvm::AllocaInst* from) {
    b_.CreateMemCpyInline(to, to->getAlign(), from, from->getAlign(), b_.getInt64(*from->getAllocationSize(layout)));
  };
  const auto most_bytes =
      static_cast<std::uint64_t>(program_.thresholds[loops::kInRegisters] * bytes_of(loops::Type::f64));
  const auto copy = [&](llvm::Value*& at) {
    auto* original = llvm::dyn_cast_or_null<llvm::AllocaInst>(at);
    if (!original || *original->getAllocationSize(layout) > most_bytes) return;
    llvm::AllocaInst* own = stack_slot(original->getAllocatedType(), 1, "own");
    own->setAlignment(original->getAlign());
    move(own, original);
    copies.emplace_back(original, own);
    at = own;
  };
  for (loops::ScalarId s : uses.scalars) {
    if (is_slot_.contains(s) && !shared_.contains(s)) copy(values_.at(s));
  }
  for (const auto& [buffer, stored] : uses.buffers)
    copy(buffers_[buffer.index()]);
  llvm::Value* status = call_outlined(statements, kQuick);
  for (const auto& [original, own] : copies)
    move(original, own);
  exit_on(status);
  values_ = values;
  buffers_ = buffers;
}

std::vector<llvm::Value*> FunctionLowering::passed(const Uses& uses) const {
  std::vector<llvm::Value*> out;
  for (const auto& [buffer, stored] : uses.buffers) {
    if (is_local_array_[buffer.index()]) out.push_back(buffers_[buffer.index()]);
  }
  for (loops::ScalarId s : uses.scalars)
    out.push_back(values_.at(s));
  return out;
}

llvm::Value* FunctionLowering::call_outlined(Part statements, const char* tier) {
  Uses uses = uses_of(program_, statements, true);
  // Slots of what the part declares for others are passed too.
  for (const loops::Stmt& s : statements) {
    if (const auto scalar = declared(s); scalar && shared_.contains(*scalar)) uses.scalars.insert(*scalar);
  }
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& table : function_.args()) {
    if (table.getArgNo() < 4) arguments.push_back(&table);
  }
  for (llvm::Value* value : passed(uses))
    arguments.push_back(value);
  std::vector<llvm::Type*> types;
  for (llvm::Value* value : arguments)
    types.push_back(value->getType());
  auto* part = llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), types, false),
                                      llvm::Function::InternalLinkage, function_.getName() + ".part", module_);
  part->addFnAttrs(llvm::AttrBuilder(b_.getContext(), function_.getAttributes().getFnAttrs()));
  part->addFnAttr(llvm::Attribute::NoInline);
  // Outside of loops, and without a loop in it, a part executes each instruction at most once a call.
  const bool once = !loop_exit_ && std::ranges::none_of(statements, [](const loops::Stmt& s) { return has_loop(s); });
  if (!tier) part->removeFnAttr(kTier);
  else if (once) part->addFnAttr(kTier, kOnce);
  else if (!low_tier_) part->addFnAttr(kTier, tier);
  for (llvm::Argument& argument : part->args()) {
    if (!argument.getType()->isPointerTy()) continue;
    argument.addAttr(llvm::Attribute::NoAlias);
    argument.addAttr(llvm::Attribute::NoCapture);
    if (argument.getArgNo() < 4) argument.addAttr(llvm::Attribute::ReadOnly);
    if (argument.getArgNo() == 0) argument.addAttr(llvm::Attribute::get(b_.getContext(), kTableOfBuffers));
  }
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(b_.getContext(), "entry", part));
  builder.setFastMathFlags(b_.getFastMathFlags());
  FunctionLowering(program_, source_, *part, builder, lanes_, spare_, element_arrays_)
      .lower_outlined(statements, uses, *this);

  llvm::Value* status = b_.CreateCall(part, arguments);
  return uses.stops ? status : nullptr;
}

void FunctionLowering::exit_on(llvm::Value* status) {
  if (!status) return;
  llvm::BasicBlock* stopped = new_block("stopped");
  llvm::BasicBlock* next = new_block("next");
  b_.CreateCondBr(b_.CreateICmpEQ(status, b_.getInt32(0)), next, stopped);
  b_.SetInsertPoint(stopped);
  if (loop_exit_) {
    llvm::BasicBlock* failed = new_block("failed");
    b_.CreateCondBr(b_.CreateICmpEQ(status, b_.getInt32(kLeft)), loop_exit_, failed);
    b_.SetInsertPoint(failed);
  }
  b_.CreateRet(status);
  b_.SetInsertPoint(next);
}

void FunctionLowering::lower_outlined(Part statements, const Uses& uses, const FunctionLowering& caller) {
  unsigned next = 4;
  for (const auto& [buffer, stored] : uses.buffers) {
    if (!caller.is_local_array_[buffer.index()]) continue;
    buffers_[buffer.index()] = function_.getArg(next++);
    is_local_array_[buffer.index()] = true;
  }
  for (loops::ScalarId s : uses.scalars) {
    values_[s] = function_.getArg(next++);
    if (!caller.is_slot_.contains(s)) continue;
    is_slot_.insert(s);
    if (caller.shared_.contains(s)) shared_.insert(s);
  }
  bind_sizes();
  bind_buffers(uses_of(program_, statements, false));
  llvm::BasicBlock* leave = loop_exit_ = new_block("leave");
  lower(statements);
  b_.CreateRet(b_.getInt32(0));
  if (leave->use_empty()) {
    leave->eraseFromParent();
  } else {
    b_.SetInsertPoint(leave);
    b_.CreateRet(b_.getInt32(kLeft));
  }
}

}  // namespace lehr::native
