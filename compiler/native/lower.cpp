// Entry of a function and memory: parameters, addresses of buffers and elements, alias scopes, and arrays on the stack.
// Functions with single precision get an outer function that sets the processor to flush subnormal numbers to zero.
#include "compiler/native/lower.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/analysis/cost_model.h"
#include "compiler/native/buffer_aliases.h"
#include "compiler/native/function_lowering.h"
#include "compiler/native/padded_arrays.h"

namespace lehr::native {
namespace {

using loops::BufferId;
using loops::SizeId;

/// Alignment in bytes of buffers, and of data: data may be arrays of the caller.
constexpr std::uint64_t kBufferAlignment = loops::kCacheLine, kDataAlignment = 8;

/// Returns metadata that holds an integer.
llvm::MDNode* integer_node(llvm::LLVMContext& context, std::uint64_t value) {
  auto* constant = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value);
  return llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(constant));
}

/// Adds an empty function of the type lehr_function to the module, with its attributes: four tables that do not alias
/// and are only read.
llvm::Function* declare(const loops::Function& function, const std::string& prefix, const llvm::TargetMachine& target,
                        llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer, pointer, pointer}, false);
  auto* result = llvm::Function::Create(type, llvm::Function::ExternalLinkage, prefix + function.name, module);
  for (const auto& [index, name] : {std::pair(0, "buffers"), {1, "sizes"}, {2, "integers"}, {3, "reals"}}) {
    result->getArg(static_cast<unsigned>(index))->setName(name);
    for (auto attribute : {llvm::Attribute::NoAlias, llvm::Attribute::ReadOnly, llvm::Attribute::NoCapture}) {
      result->addParamAttr(static_cast<unsigned>(index), attribute);
    }
  }
  result->getArg(0)->addAttr(llvm::Attribute::get(context, kTableOfBuffers));
  for (auto attribute :
       {llvm::Attribute::NoUnwind, llvm::Attribute::NoSync, llvm::Attribute::NoFree, llvm::Attribute::MustProgress}) {
    result->addFnAttr(attribute);
  }
  if (function.cold) {
    result->addFnAttr(llvm::Attribute::Cold);
    result->addFnAttr(llvm::Attribute::MinSize);
    result->addFnAttr(llvm::Attribute::OptimizeForSize);
  }
  result->addFnAttr("target-cpu", target.getTargetCPU());
  result->addFnAttr("target-features", target.getTargetFeatureString());
  return result;
}

/// Returns true if the target has vectors of 512 bits.
bool has_wide_vectors(const llvm::TargetMachine& target) {
  return target.getTargetTriple().isX86() && target.getMCSubtargetInfo()->checkFeatures("+avx512f");
}

/// Emits the body of `outer`: it sets the flags that flush subnormal numbers to zero, calls `inner`, and restores the
/// flags.
void call_flushing(llvm::Function& outer, llvm::Function& inner, const llvm::Triple& machine) {
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(outer.getContext(), "entry", &outer));
  const auto call = [&] {
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& a : outer.args())
      arguments.push_back(&a);
    return b.CreateCall(&inner, arguments);
  };
  llvm::Value* status = nullptr;
  if (machine.isX86()) {
    constexpr std::uint32_t kFlushToZero = 1U << 15, kDenormalsAreZero = 1U << 6;
    llvm::Value *before = b.CreateAlloca(b.getInt32Ty()), *now = b.CreateAlloca(b.getInt32Ty());
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {}, {before});
    b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt32Ty(), before), kFlushToZero | kDenormalsAreZero), now);
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {}, {now});
    status = call();
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {}, {before});
  } else if (machine.isAArch64()) {
    constexpr std::uint64_t kFlushToZero = 1U << 24;
    llvm::Value* before = b.CreateIntrinsic(llvm::Intrinsic::aarch64_get_fpcr, {}, {});
    b.CreateIntrinsic(llvm::Intrinsic::aarch64_set_fpcr, {}, {b.CreateOr(before, kFlushToZero)});
    status = call();
    b.CreateIntrinsic(llvm::Intrinsic::aarch64_set_fpcr, {}, {before});
  } else {
    status = call();
  }
  b.CreateRet(status);
}

}  // namespace

void lower(const loops::Program& program, std::span<const std::size_t> functions, const std::string& prefix,
           const llvm::TargetMachine& target, llvm::Module& module) {
  const bool wide = has_wide_vectors(target);
  for (const std::size_t k : functions) {
    const loops::Function& source = program.functions[k];
    llvm::Function* function = declare(source, prefix, target, module);
    if (source.f32_allowed) {
      llvm::Function* outer = function;
      function = declare(source, prefix, target, module);
      function->setLinkage(llvm::Function::InternalLinkage);
      function->setName(outer->getName() + ".flushed");
      call_flushing(*outer, *function, target.getTargetTriple());
    }
    if (is_cheap_code(program, k)) function->addFnAttr(kTier, kQuick);
    if (keeps_nests(program, k)) function->addFnAttr(kKeepsNests);
    // LLVM prefers 256 bits on most AVX-512 machines, with which loops full of arithmetic take 1.4 to 1.8 times as
    // long.
    if (wide) function->addFnAttr("prefer-vector-width", "512");
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    // loops.h allows reassociation and contraction only; NaN and infinity keep their meaning.
    llvm::FastMathFlags flags;
    flags.setAllowReassoc();
    flags.setNoSignedZeros();
    flags.setAllowReciprocal();
    flags.setAllowContract(true);
    builder.setFastMathFlags(flags);
    const int lanes = wide ? loops::kLanes : loops::kNarrowLanes;
    TripPadding spare(program, source, lanes);
    const std::set<BufferId> picked = element_arrays(program, source);
    FunctionLowering(program, source, *function, builder, lanes, spare, picked).run();
  }
}

FunctionLowering::FunctionLowering(const loops::Program& program, const loops::Function& source,
                                   llvm::Function& function, llvm::IRBuilderBase& builder, int lanes,
                                   TripPadding& spare, const std::set<BufferId>& picked)
    : program_(program),
      source_(source),
      function_(function),
      b_(builder),
      module_(*function.getParent()),
      lanes_(lanes),
      spare_(spare),
      element_arrays_(picked),
      low_tier_(function.getFnAttribute(kTier).getValueAsString() == kQuick),
      buffers_(program.buffers.size()),
      sizes_(program.sizes.size()),
      is_local_array_(program.buffers.size()),
      own_scope_(program.buffers.size()),
      other_scopes_(program.buffers.size()) {}

void FunctionLowering::run() {
  bind_parameters();
  bind_sizes();
  const Uses all = uses_of(program_, source_.body, true);
  for (BufferId local : source_.local_arrays) {
    if (!all.buffers.contains(local)) continue;
    buffers_[local.index()] = bind_local_array(program_[local]);
    is_local_array_[local.index()] = true;
  }
  if (source_.body.size() <= program_.thresholds[kWholeBlock]) bind_buffers(uses_of(program_, source_.body, false));
  lower(source_.body);
  b_.CreateRet(b_.getInt32(0));
  for (BufferId local : spare_.zero_padded())
    pad_with_zeros(local);
}

llvm::Type* FunctionLowering::type(loops::Type type) const {
  switch (type) {
    case loops::Type::f64:
      return b_.getDoubleTy();
    case loops::Type::f32:
      return b_.getFloatTy();
    case loops::Type::i64:
      return b_.getInt64Ty();
    case loops::Type::boolean:
      return b_.getInt1Ty();
  }
  return nullptr;
}

llvm::Value* FunctionLowering::entry_load(llvm::Value* table, std::size_t index, llvm::Type* type) {
  llvm::Value* at = b_.CreateConstInBoundsGEP1_64(type, table, index);
  llvm::LoadInst* loaded = b_.CreateAlignedLoad(type, at, llvm::Align(8));
  loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  loaded->setMetadata(llvm::LLVMContext::MD_noundef, llvm::MDNode::get(b_.getContext(), {}));
  return loaded;
}

void FunctionLowering::bind_parameters() {
  std::size_t integers = 0, reals = 0;
  for (loops::ScalarId p : source_.parameters) {
    const bool real = program_[p].type == loops::Type::f64;
    llvm::Value* value =
        entry_load(function_.getArg(real ? 3 : 2), real ? reals++ : integers++, type(program_[p].type));
    value->setName(program_[p].name);
    values_[p] = value;
  }
}

void FunctionLowering::bind_sizes() {
  llvm::MDNode* range = llvm::MDBuilder(b_.getContext()).createRange(llvm::APInt(64, 0), llvm::APInt(64, 1ULL << 48));
  for (std::size_t s = 0; s < program_.sizes.size(); ++s) {
    const loops::Size& size = program_.sizes[s];
    if (size.constant >= 0) continue;
    llvm::Value* value = entry_load(function_.getArg(1), static_cast<std::size_t>(size.slot), b_.getInt64Ty());
    llvm::cast<llvm::Instruction>(value)->setMetadata(llvm::LLVMContext::MD_range, range);
    value->setName(size.name);
    sizes_[s] = value;
  }
}

llvm::AllocaInst* FunctionLowering::stack_slot(llvm::Type* type, std::int64_t count, const std::string& name) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  if (count == 1) return at_entry.CreateAlloca(type, nullptr, name);
  llvm::AllocaInst* slot =
      at_entry.CreateAlloca(llvm::ArrayType::get(type, static_cast<std::uint64_t>(count)), nullptr, name);
  slot->setAlignment(llvm::Align(kBufferAlignment));
  return slot;
}

llvm::Value* FunctionLowering::bind_local_array(const loops::Buffer& array) {
  std::int64_t rows = 1, extent = 1;
  for (SizeId axis : array.axes) {
    rows *= extent;
    extent = program_[axis].constant;
  }
  const std::int64_t stride = row_stride(extent, lanes_of(array.element, lanes_));
  llvm::AllocaInst* slot = stack_slot(type(array.element), rows * stride, array.name);
  if (stride != extent) mark_rows(*slot, extent, stride);
  return slot;
}

void FunctionLowering::pad_with_zeros(BufferId local_array) {
  auto* slot = llvm::cast<llvm::AllocaInst>(buffers_[local_array.index()]);
  const loops::Buffer& array = program_[local_array];
  const std::int64_t extent = program_[array.axes[0]].constant;
  const auto stride = static_cast<std::int64_t>(slot->getAllocatedType()->getArrayNumElements());
  mark_rows(*slot, extent, stride, /*zeros=*/true);
  llvm::IRBuilder<> at_entry(slot->getNextNode());
  llvm::Type* element = type(array.element);
  for (std::int64_t k = extent; k < stride; ++k)
    at_entry.CreateStore(llvm::ConstantFP::get(element, 0),
                         at_entry.CreateConstInBoundsGEP1_64(element, slot, static_cast<std::uint64_t>(k)));
}

void FunctionLowering::bind_buffers(const Uses& uses) {
  llvm::MDBuilder metadata(b_.getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(function_.getName());
  std::map<BufferId, llvm::Metadata*> scopes;
  for (const auto& [id, stored] : uses.buffers) {
    const loops::Buffer& buffer = program_[id];
    scopes[id] = metadata.createAnonymousAliasScope(domain, buffer.name);
    if (buffers_[id.index()]) continue;  // an array of the caller
    llvm::Value* base = entry_load(function_.getArg(0), id.index(), b_.getPtrTy());
    auto* load = llvm::cast<llvm::LoadInst>(base);
    load->setMetadata(
        llvm::LLVMContext::MD_align,
        integer_node(b_.getContext(), buffer.role == loops::Role::data ? kDataAlignment : kBufferAlignment));
    base->setName(buffer.name);
    buffers_[id.index()] = base;
  }
  // A query costs as much as the list is long. Loads do not disturb each other, so only buffers that are stored to are
  // listed.
  for (const auto& [id, scope] : scopes) {
    std::vector<llvm::Metadata*> others;
    for (const auto& [other, is_stored] : uses.buffers) {
      if (other != id && is_stored) others.push_back(scopes.at(other));
    }
    own_scope_[id.index()] = llvm::MDNode::get(b_.getContext(), {scope});
    other_scopes_[id.index()] = llvm::MDNode::get(b_.getContext(), others);
  }
}

void FunctionLowering::annotate(BufferId buffer, llvm::Instruction& access) {
  access.setMetadata(llvm::LLVMContext::MD_alias_scope, own_scope_[buffer.index()]);
  access.setMetadata(llvm::LLVMContext::MD_noalias, other_scopes_[buffer.index()]);
  if (access_group_) access.setMetadata(llvm::LLVMContext::MD_access_group, access_group_);
}

llvm::Value* FunctionLowering::load(BufferId buffer, llvm::Value* address, llvm::Type* type) {
  llvm::LoadInst* loaded = b_.CreateAlignedLoad(type, address, llvm::Align(type->getScalarSizeInBits() / 8));
  annotate(buffer, *loaded);
  if (program_[buffer].role == loops::Role::data) {
    loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  }
  return loaded;
}

void FunctionLowering::store(BufferId buffer, llvm::Value* address, llvm::Value* value) {
  const llvm::Align align(value->getType()->getScalarSizeInBits() / 8);
  annotate(buffer, *b_.CreateAlignedStore(value, address, align));
}

llvm::Value* FunctionLowering::extent(SizeId size) {
  const loops::Size& s = program_[size];
  return s.constant >= 0 ? b_.getInt64(static_cast<std::uint64_t>(s.constant)) : sizes_[size.index()];
}

llvm::Value* FunctionLowering::stored_extent(BufferId id, std::size_t axis) {
  const loops::Buffer& buffer = program_[id];
  if (is_local_array_[id.index()] && axis + 1 == buffer.axes.size()) {
    const int lanes = lanes_of(buffer.element, lanes_);
    return b_.getInt64(static_cast<std::uint64_t>(row_stride(program_[buffer.axes[axis]].constant, lanes)));
  }
  return extent(buffer.axes[axis]);
}

llvm::Value* FunctionLowering::element_count(BufferId id) {
  llvm::Value* count = b_.getInt64(1);
  for (std::size_t axis = 0; axis < program_[id].axes.size(); ++axis)
    count = b_.CreateNSWMul(count, stored_extent(id, axis));
  return count;
}

/// A buffer of a minibatch may begin before its memory, since only some items are there. So its addresses are not
/// declared to be in bounds.
llvm::Value* FunctionLowering::element(BufferId id, llvm::Value* position, llvm::Value* base) {
  llvm::Type* element = type(program_[id].element);
  return is_local_array_[id.index()] ? b_.CreateInBoundsGEP(element, base, position)
                                     : b_.CreateGEP(element, base, position);
}

llvm::Value* FunctionLowering::address(BufferId id, const std::vector<loops::ExprId>& indices) {
  return address(id, indices, buffers_[id.index()]);
}

llvm::Value* FunctionLowering::address(BufferId id, const std::vector<loops::ExprId>& indices, llvm::Value* base) {
  // In a vectorised loop the address is that of the first lane, so indices are evaluated as scalars.
  const bool of_lanes = lane_index_.valid() && !in_address_;
  if (of_lanes) switch_address_mode();
  llvm::Value* at = nullptr;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    llvm::Value* index = eval(indices[axis]);
    if (at) at = b_.CreateMul(at, stored_extent(id, axis), "", true, true);
    at = at ? b_.CreateAdd(at, index, "", true, true) : index;
  }
  if (of_lanes) switch_address_mode();
  return at ? element(id, at, base) : base;
}

}  // namespace lehr::native
