// Object files: the code of a model, the driver (runtime/embedded) and the constant tables between them, linked in
// LLVM.
// The functions of the model go through the same pipeline as in the JIT, before anything else is in the module. So both
// compute the same bits. Only the functions of Image::entries stay visible.
#include <llvm/ADT/StringSet.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <stdexcept>

#include "compiler/native/lower.h"
#include "compiler/native/native.h"
#include "compiler/native/target.h"
#include "compiler/support/overloaded.h"
#include "runtime/embedded/bitcode.h"

namespace lehr::native {
namespace {

/// What the names of the model's functions begin with; no function that a user exports can have such a name.
const std::string kPrefix = "model.";

/// Returns the driver, compiled for the target. Its bitcode is the same for all 64-bit little-endian machines.
std::unique_ptr<llvm::Module> driver_for(const llvm::TargetMachine& target, llvm::LLVMContext& context) {
  const auto bytes = embedded::driver_bitcode();
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, "driver"), context);
  if (!module) throw std::runtime_error("native: " + llvm::toString(module.takeError()));
  (*module)->setDataLayout(target.createDataLayout());
  (*module)->setTargetTriple(target.getTargetTriple().str());
  for (llvm::Function& f : **module) {
    if (!f.isDeclaration() && f.getName() != kRandomFunction) f.setName("driver." + f.getName());
    f.removeFnAttr("tune-cpu");
    f.removeFnAttr("target-cpu");
    f.removeFnAttr("target-features");
    if (f.isDeclaration()) continue;
    f.addFnAttr("target-cpu", target.getTargetCPU());
    f.addFnAttr("target-features", target.getTargetFeatureString());
  }
  return std::move(*module);
}

/// Adds the tables and the exported functions to the module.
class Builder {
 public:
  Builder(const loops::Program& program, llvm::Module& module)
      : program_(program), module_(module), context_(module.getContext()), b_(context_) {}

  /// Returns the address of the table of the model, embedded::Model.
  llvm::Constant* model(const Image& image) {
    std::vector<llvm::Constant*> members;
    for (const Image::Field& f : image.model)
      members.push_back(std::visit([&](const auto& x) { return member(x); }, f));
    return table(llvm::ConstantStruct::getAnon(context_, members), "model");
  }

  /// Adds an exported function, which calls a function of the driver with the table of the model and, if given, an
  /// argument.
  void entry(const Image::Entry& e, llvm::Constant* model) {
    llvm::Function* target = module_.getFunction("driver." + e.function);
    if (!target) throw std::runtime_error("native: the driver has no " + e.function);
    std::vector<llvm::Value*> arguments{model};
    if (e.argument) arguments.push_back(b_.getInt64(static_cast<std::uint64_t>(*e.argument)));
    const std::size_t bound = arguments.size();  // arguments that the exported function supplies itself
    const auto given = target->getFunctionType()->params().drop_front(bound);
    auto* f = llvm::Function::Create(llvm::FunctionType::get(target->getReturnType(), given, false),
                                     llvm::Function::ExternalLinkage, e.name, module_);
    for (llvm::StringRef name : {"target-cpu", "target-features"})
      f->addFnAttr(target->getFnAttribute(name));
    f->addFnAttr(llvm::Attribute::NoUnwind);
    for (llvm::Argument& a : f->args())
      arguments.push_back(&a);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", f));
    b_.CreateRet(b_.CreateCall(target, arguments));
  }

 private:
  /// Adds a constant to the module and returns its address.
  llvm::Constant* table(llvm::Constant* value, const char* name) {
    auto* global =
        new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::InternalLinkage, value, name);
    global->setAlignment(llvm::Align(8));
    return global;
  }

  /// The functions `member` return a member of embedded::Model: here a number.
  llvm::Constant* member(std::int64_t x) { return b_.getInt64(static_cast<std::uint64_t>(x)); }
  /// Returns the address of a table of integers.
  llvm::Constant* member(const Image::Words& words) {
    const std::vector<std::uint64_t> bits(words.begin(), words.end());
    return table(llvm::ConstantDataArray::get(context_, bits), "words");
  }
  /// Returns the address of a table of the program's functions.
  llvm::Constant* member(const Image::Functions&) {
    std::vector<llvm::Constant*> all;
    for (const loops::Function& f : program_.functions)
      all.push_back(module_.getFunction(kPrefix + f.name));
    return pointers(all, "functions");
  }
  /// Returns the address of a table of texts.
  llvm::Constant* member(const Image::Strings& strings) {
    std::vector<llvm::Constant*> all;
    for (const std::string& s : strings)
      all.push_back(table(llvm::ConstantDataArray::getString(context_, s), "text"));
    return pointers(all, "texts");
  }
  /// Adds a table of pointers to the module and returns its address.
  llvm::Constant* pointers(const std::vector<llvm::Constant*>& all, const char* name) {
    return table(llvm::ConstantArray::get(llvm::ArrayType::get(b_.getPtrTy(), all.size()), all), name);
  }

  const loops::Program& program_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
};

}  // namespace

std::string emit_embeddable(const loops::Program& program, const Image& image, const Options& given) {
  Options options = given;
  options.prefix = kPrefix;
  const auto target = make_target(options);
  llvm::LLVMContext context;
  const auto module = make_module(program, options, *target, context);
  optimise(*module, *target, options.level, program.thresholds);

  if (llvm::Linker::linkModules(*module, driver_for(*target, context)))
    throw std::runtime_error("native: the driver cannot be linked with the model");
  llvm::StringSet<> exported;
  Builder builder(program, *module);
  llvm::Constant* model = builder.model(image);
  for (const Image::Entry& e : image.entries) {
    builder.entry(e, model);
    exported.insert(e.name);
  }
  // Everything but the entries becomes internal, so that it is inlined, or dropped if it is not used.
  for (llvm::GlobalObject& x : module->global_objects()) {
    if (!x.isDeclaration() && !exported.contains(x.getName())) {
      x.setComdat(nullptr);
      x.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  }
  for (llvm::GlobalAlias& x : module->aliases())
    x.setLinkage(llvm::GlobalValue::InternalLinkage);
  drop_unused(*module, *target, options.sanitizer);
  return emit_module(*module, *target, false);
}

}  // namespace lehr::native
