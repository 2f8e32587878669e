// The program in this process: ORC's LLJIT over an object, which may have been compiled before.
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <ctime>
#include <map>
#include <stdexcept>

#include "compiler/native/lower.h"
#include "compiler/native/native.h"
#include "compiler/native/object_cache.h"
#include "compiler/native/target.h"
#include "runtime/machine/random.h"

namespace lehr::native {
namespace {

template <class T>
T unwrap(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error("native: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void unwrap(llvm::Error error) {
  if (error) throw std::runtime_error("native: " + llvm::toString(std::move(error)));
}

std::string bitcode(const llvm::Module& module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::WriteBitcodeToFile(module, stream);
  return out;
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

struct Jit::Impl {
  std::unique_ptr<llvm::orc::LLJIT> engine;
  std::map<std::string, lehr_function> functions;
  double optimise_seconds = 0, codegen_seconds = 0;
};

Jit::Jit(const loops::Program& program, const Options& options) : impl_(std::make_unique<Impl>()) {
  const double start = thread_cpu_seconds();
  const auto target = make_target(options);
  llvm::LLVMContext context;
  const auto module = make_module(program, options, *target, context);
  const ObjectCache cache = ObjectCache::of_user();
  std::string key;
  if (cache.is_there()) {
    key = cache.key(
        {bitcode(*module), target->getTargetCPU(), target->getTargetFeatureString(), std::to_string(options.level)});
  }
  std::optional<std::string> object = cache.find(key);
  if (!object) {
    optimise(*module, *target, options.level);
    impl_->optimise_seconds = thread_cpu_seconds() - start;
    object = emit_module(*module, *target, false);
    cache.keep(key, *object);
  }

  llvm::orc::JITTargetMachineBuilder machine(target->getTargetTriple());
  machine.setCPU(target->getTargetCPU().str());
  machine.addFeatures(llvm::SubtargetFeatures(target->getTargetFeatureString()).getFeatures());
  machine.setOptions(target->Options);
  machine.setRelocationModel(target->getRelocationModel());
  machine.setCodeGenOptLevel(target->getOptLevel());
  impl_->engine = unwrap(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create());
  auto& library = impl_->engine->getMainJITDylib();
  library.addGenerator(unwrap(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      impl_->engine->getDataLayout().getGlobalPrefix())));
  unwrap(library.define(llvm::orc::absoluteSymbols(
      {{impl_->engine->mangleAndIntern(kRandomFunction),
        {llvm::orc::ExecutorAddr::fromPtr(&machine::lehr_random), llvm::JITSymbolFlags::Callable}}})));
  unwrap(impl_->engine->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(*object)));
  for (const loops::Function& function : program.functions) {
    const auto address = unwrap(impl_->engine->lookup(options.prefix + function.name));
    impl_->functions[function.name] = address.toPtr<lehr_function>();
  }
  impl_->codegen_seconds = thread_cpu_seconds() - start - impl_->optimise_seconds;
}

Jit::~Jit() = default;
Jit::Jit(Jit&&) noexcept = default;
Jit& Jit::operator=(Jit&&) noexcept = default;

lehr_function Jit::function(const std::string& name) const {
  const auto found = impl_->functions.find(name);
  return found == impl_->functions.end() ? nullptr : found->second;
}

double Jit::optimise_seconds() const { return impl_->optimise_seconds; }
double Jit::codegen_seconds() const { return impl_->codegen_seconds; }

}  // namespace lehr::native
