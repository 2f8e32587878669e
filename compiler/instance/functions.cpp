// Makes the functions of a program executable. Functions that are counted are called through a hook, which adds up
// their time or operations in atomic counters.
#include "compiler/instance/functions.h"

#include <chrono>

#include "compiler/pipeline.h"

namespace lehr {

Functions::Functions(const loops::Program& program, const CodeSource& source) : program_(program) {
  if (const auto* built = std::get_if<std::span<const lehr_function>>(&source)) {
    compiled_.assign(built->begin(), built->end());
    return;
  }
  const Backend backend = std::get<Backend>(source);
  if (backend != Backend::native) counters_ = std::vector<Counters>(program.functions.size());
  if (backend == Backend::interpreter) {
    code_ = {this, [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                      const std::int64_t* integers, const double* reals) {
               auto& functions = *static_cast<Functions*>(self);
               const auto at = static_cast<std::size_t>(function);
               loops::OperationCounts work;
               const std::int32_t status =
                   loops::interpret(functions.program_, at, table, sizes, integers, reals, &work);
               Counters& counters = functions.counters_[at];
               counters.operations += work.operations;
               counters.functions += work.functions;
               counters.bytes += work.bytes;
               ++counters.calls;
               return status;
             }};
    return;
  }
  jit_ = lehr::compiled(program);
  for (const loops::Function& f : program.functions)
    compiled_.push_back(jit_->function(f.name));
  if (backend == Backend::native) return;
  code_ = {this, [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                    const std::int64_t* integers, const double* reals) {
             using std::chrono::steady_clock;
             auto& functions = *static_cast<Functions*>(self);
             Counters& counters = functions.counters_[static_cast<std::size_t>(function)];
             const steady_clock::time_point begin = steady_clock::now();
             const std::int32_t status =
                 functions.compiled_[static_cast<std::size_t>(function)](table, sizes, integers, reals);
             counters.nanoseconds += std::chrono::nanoseconds(steady_clock::now() - begin).count();
             ++counters.calls;
             return status;
           }};
}

Functions::FunctionCost Functions::account(std::size_t function) const {
  const Counters& c = counters_.at(function);
  return {c.calls, c.nanoseconds, {c.operations, c.functions, c.bytes}};
}

}  // namespace lehr
