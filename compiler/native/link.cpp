// Linking: from functions of a program to position-independent bytes that run at any page-aligned address (code.h).
// LLVM compiles the module to an object, and RuntimeDyld lays out its sections in one block and resolves their
// references. All references are relative, so the block may be moved. Calls of outside functions go through a table
// that the loader fills in.
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <cstring>
#include <stdexcept>

#include "compiler/native/code.h"
#include "compiler/native/lower.h"
#include "compiler/native/target.h"

namespace lehr::native {
namespace {

/// The symbol of the table of imports.
constexpr const char* kTable = "lehr.imports";

/// Adds the table of imports to the module, and for each import a function of its name that jumps to its entry.
void define_imports(llvm::Module& module) {
  llvm::IRBuilder<> b(module.getContext());
  llvm::Type *pointer = b.getPtrTy(), *integer = b.getInt64Ty(), *real = b.getDoubleTy();
  llvm::FunctionType* const types[] = {
      llvm::FunctionType::get(pointer, {pointer, b.getInt32Ty(), integer}, false),
      llvm::FunctionType::get(real, {integer, pointer, integer, integer, integer, real, real}, false)};
  static_assert(std::size(types) == kImports.size());
  auto* const shape = llvm::ArrayType::get(pointer, kImports.size());
  auto* const table = new llvm::GlobalVariable(module, shape, false, llvm::GlobalValue::ExternalLinkage,
                                               llvm::ConstantAggregateZero::get(shape), kTable);
  table->setVisibility(llvm::GlobalValue::HiddenVisibility);
  for (unsigned k = 0; k < kImports.size(); ++k) {
    auto* const f = llvm::cast<llvm::Function>(module.getOrInsertFunction(kImports[k], types[k]).getCallee());
    f->setVisibility(llvm::GlobalValue::HiddenVisibility);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", f));
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& a : f->args())
      arguments.push_back(&a);
    llvm::Value* const target = b.CreateLoad(pointer, b.CreateConstInBoundsGEP2_64(shape, table, 0, k));
    llvm::CallInst* const call = b.CreateCall(types[k], target, arguments);
    call->setTailCallKind(llvm::CallInst::TCK_MustTail);
    b.CreateRet(call);
  }
}

/// The memory that RuntimeDyld puts sections into: one block, after a header of so many bytes. References are resolved
/// as if the block began at address 0, which has the low bits of any page.
class Block : public llvm::RuntimeDyld::MemoryManager {
 public:
  explicit Block(std::size_t header) : used_(header) {}

  /// Returns the address of the block in this process.
  std::uint8_t* begin() { return bytes_.data(); }
  /// Tells the linker at which offset each section is.
  void map_sections(llvm::RuntimeDyld& linker) {
    for (const std::size_t at : sections_)
      linker.mapSectionAddress(begin() + at, at);
  }
  /// Returns the bytes of header and sections.
  std::string used() const { return {reinterpret_cast<const char*>(bytes_.data()), used_}; }

  bool needsToReserveAllocationSpace() override { return true; }
  /// Allocates the whole block before any section, since it must not move later.
  void reserveAllocationSpace(std::uintptr_t code, llvm::Align a, std::uintptr_t constants, llvm::Align b,
                              std::uintptr_t variables, llvm::Align c) override {
    bytes_.resize(used_ + code + a.value() + constants + b.value() + variables + c.value());
  }
  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) override {
    return take(size, alignment);
  }
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef, bool) override {
    return take(size, alignment);
  }
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}
  void deregisterEHFrames() override {}
  bool finalizeMemory(std::string*) override { return false; }

 private:
  /// Returns the address of the next section. Throws std::runtime_error if LLVM has announced too few bytes.
  std::uint8_t* take(std::size_t size, unsigned alignment) {
    const std::size_t at = llvm::alignTo(used_, std::max(alignment, 1U));
    used_ = at + size;
    if (used_ > bytes_.size()) throw std::runtime_error("native: sections are larger than declared");
    sections_.push_back(at);
    return begin() + at;
  }

  std::vector<std::uint8_t> bytes_;    // the block
  std::vector<std::size_t> sections_;  // offsets of the sections
  std::size_t used_;                   // bytes of header and sections so far
};

/// Resolves no symbols: linked code calls nothing but its imports.
struct Nothing : llvm::LegacyJITSymbolResolver {
  llvm::JITSymbol findSymbol(const std::string&) override { return nullptr; }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }
};

}  // namespace

std::string linked_code(const loops::Program& program, std::span<const std::size_t> functions, const Options& options) {
  const auto target = make_target(options);
  llvm::LLVMContext context;
  const auto module = make_module(program, functions, options, *target, context);
  optimise(*module, *target, options.level, program.thresholds);
  define_imports(*module);
  const std::string bytes = emit_module(*module, *target, false);
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "model"));
  if (!object) throw std::runtime_error("native: " + llvm::toString(object.takeError()));

  // The words of the header, in order.
  std::vector<std::string> names{kTable};
  for (const std::size_t k : functions)
    names.push_back(options.prefix + program.functions[k].name);
  Block block(names.size() * sizeof(std::uint64_t));
  Nothing nothing;
  llvm::RuntimeDyld linker(block, nothing);
  linker.loadObject(**object);
  block.map_sections(linker);
  linker.resolveRelocations();
  if (linker.hasError()) throw std::runtime_error("native: " + linker.getErrorString().str());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::uint64_t offset = linker.getSymbol(names[k]).getAddress();
    if (offset == 0) throw std::runtime_error("native: no " + names[k] + " in the object");
    std::memcpy(block.begin() + k * sizeof(offset), &offset, sizeof(offset));
  }
  return block.used();
}

}  // namespace lehr::native
