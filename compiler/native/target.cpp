// Target machines, and LLVM text, assembly and objects made with them.
// All code is position-independent, and multiply-adds may be fused.
#include "compiler/native/target.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <stdexcept>

#include "compiler/native/lower.h"
#include "compiler/native/processor.h"

namespace lehr::native {
namespace {

/// The architectures that objects are made for and tested on.
constexpr llvm::Triple::ArchType kArchitectures[] = {llvm::Triple::x86_64, llvm::Triple::aarch64};

/// Sets an option that LLVM offers only on its command line. Nothing happens if this version of LLVM does not have it.
template <class T>
void set_option(llvm::StringRef name, T value) {
  const auto& all = llvm::cl::getRegisteredOptions();
  if (const auto found = all.find(name); found != all.end())
    static_cast<llvm::cl::opt<T>*>(found->second)->setValue(value);
}

/// Switches off what takes long in LLVM's code generator and gains nothing here; see docs/passes.md, "How much LLVM
/// optimises".
void set_code_generation() {
  set_option<bool>("disable-lsr", true);  // strength reduction: the lowering has hoisted addresses already
  set_option<unsigned>("grow-region-complexity-budget", 100);  // size of the regions in which registers are split
  set_option<int>("slp-schedule-budget", 500);                 // instructions that SLP vectorisation looks at
  set_option<bool>("disable-post-ra", true);  // scheduling after register allocation, for in-order processors
}

/// Initialises LLVM for this machine, and for all machines if `all`. Later calls do nothing.
void initialise_llvm(bool all) {
  static const bool native = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    set_code_generation();
    return true;
  }();
  (void)native;
  if (!all) return;
  static const bool others = [] {
    initialise_other_targets();
    return true;
  }();
  (void)others;
}

/// Returns the processor that the options name, or LEHR_CPU if they ask for this machine; empty for the processor at
/// hand.
std::string processor_of(const Options& options) {
  return options.cpu.empty() && options.triple.empty() ? chosen_processor() : options.cpu;
}

/// Returns the instruction sets of a processor that this machine lacks.
std::vector<std::string> missing_here(const llvm::MCSubtargetInfo& processor) {
  std::vector<std::string> out;
  for (const auto& [name, is_here] : llvm::sys::getHostCPUFeatures())
    if (!is_here && processor.checkFeatures("+" + name.str())) out.push_back(name.str());
  std::ranges::sort(out);
  return out;
}

/// Returns LLVM's features for a processor; `host`: all that this machine has.
std::string features_of(const std::string& cpu, bool host) {
  llvm::SubtargetFeatures features;
  if (host) {
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  }
  // On AMD's processors a gather takes longer than as many loads.
  if (cpu.starts_with("znver")) {
    features.AddFeature("prefer-no-gather");
    features.AddFeature("prefer-no-scatter");
  }
  return features.getString();
}

}  // namespace

std::optional<Refusal> refusal(const Options& options) {
  initialise_llvm(!options.triple.empty());
  const std::string triple = options.triple.empty() ? llvm::sys::getProcessTriple() : options.triple;
  const llvm::Triple parsed(triple);
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  const bool is_supported = std::ranges::find(kArchitectures, parsed.getArch()) != std::end(kArchitectures);
  const char* why = !target                                             ? "LLVM knows no machine '"
                    : !parsed.isArch64Bit() || !parsed.isLittleEndian() ? "not a 64-bit little-endian machine: '"
                    : !is_supported || parsed.isX32()                   ? "no objects are made for '"
                                                                        : nullptr;
  if (why)
    return Refusal{why + triple + "'",
                   "machines are those of x86_64 and aarch64 (arm64): x86_64-linux-gnu, aarch64-linux-gnu, "
                   "arm64-apple-darwin, x86_64-pc-windows-gnu, ..."};
  const std::string cpu = processor_of(options);
  if (cpu.empty()) return std::nullopt;
  const std::unique_ptr<llvm::MCSubtargetInfo> machine(target->createMCSubtargetInfo(triple, "", ""));
  if (!machine->isCPUStringValid(cpu)) {
    llvm::SmallVector<llvm::StringRef> processors;
    for (const llvm::SubtargetSubTypeKV& subtype : machine->getAllProcessorDescriptions())
      processors.push_back(subtype.Key);
    return Refusal{"LLVM knows no processor '" + cpu + "' of '" + triple + "'",
                   "processors are " + llvm::join(processors, ", ")};
  }
  if (!options.cpu.empty()) return std::nullopt;  // it may be that of another machine
  const std::unique_ptr<llvm::MCSubtargetInfo> named(target->createMCSubtargetInfo(triple, cpu, ""));
  const std::vector<std::string> missing = missing_here(*named);
  if (missing.empty()) return std::nullopt;
  return Refusal{
      "code for the processor '" + cpu + "' does not run here: this machine has no " + llvm::join(missing, ", "),
      "this machine is '" + llvm::sys::getHostCPUName().str() + "'; it runs code for older processors"};
}

std::unique_ptr<llvm::TargetMachine> make_target(const Options& options) {
  initialise_llvm(!options.triple.empty());
  const std::string triple = options.triple.empty() ? llvm::sys::getProcessTriple() : options.triple;
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) throw std::runtime_error("native: " + message);
  const std::string named = processor_of(options);
  const bool host = named.empty();
  const std::string cpu = host ? llvm::sys::getHostCPUName().str() : named;
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  const auto level = options.level == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features_of(cpu, host), target_options, llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine) throw std::runtime_error("native: LLVM makes no code for " + triple);
  return machine;
}

namespace {

/// Ignores remarks, such as of loops that LLVM did not vectorise although they have the hint.
struct ErrorsOnly : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& d) override { return d.getSeverity() != llvm::DS_Error; }
};

}  // namespace

std::unique_ptr<llvm::Module> make_module(const loops::Program& program, const Options& options,
                                          const llvm::TargetMachine& target, llvm::LLVMContext& context) {
  std::vector<std::size_t> all(program.functions.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return make_module(program, all, options, target, context);
}

std::unique_ptr<llvm::Module> make_module(const loops::Program& program, std::span<const std::size_t> functions,
                                          const Options& options, const llvm::TargetMachine& target,
                                          llvm::LLVMContext& context) {
  context.setDiagnosticHandler(std::make_unique<ErrorsOnly>());
  auto module = std::make_unique<llvm::Module>("lehr", context);
  module->setDataLayout(target.createDataLayout());
  module->setTargetTriple(target.getTargetTriple().str());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  lower(program, functions, options.prefix, target, *module);
  return module;
}

std::string emit_module(llvm::Module& module, llvm::TargetMachine& target, bool assembly) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  const auto kind = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  try {
    if (target.addPassesToEmitFile(*passes, out, nullptr, kind))
      throw std::runtime_error("native: this target cannot write that kind of file");
    passes->run(module);
  } catch (const std::bad_alloc&) {
    // LLVM frees nothing on the way of an exception: its passes are in no state to be destroyed, so they stay.
    (void)passes.release();
    throw;
  }
  return std::string(bytes.begin(), bytes.end());
}

std::string llvm_text(const loops::Program& program, const Options& options) {
  const auto target = make_target(options);
  llvm::LLVMContext context;
  const auto module = make_module(program, options, *target, context);
  if (options.level > 0) optimise(*module, *target, options.level, program.thresholds);
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, nullptr);
  return text;
}

std::string assembly(const loops::Program& program, const Options& options) {
  const auto target = make_target(options);
  llvm::LLVMContext context;
  const auto module = make_module(program, options, *target, context);
  optimise(*module, *target, options.level, program.thresholds);
  return emit_module(*module, *target, true);
}

}  // namespace lehr::native
