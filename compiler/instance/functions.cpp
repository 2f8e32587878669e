#include "compiler/instance/functions.h"

#include <chrono>

#include "compiler/loops/interpret.h"

namespace lehr {

Functions::Functions(const loops::Program& program, const CodeSource& source) : program_(program) {
  if (const auto* built = std::get_if<std::span<const lehr_function>>(&source)) {
    compiled_.assign(built->begin(), built->end());
    return;
  }
  const Backend backend = std::get<Backend>(source);
  if (backend == Backend::interpreter) {
    code_ = {this, [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                      const std::int64_t* integers, const double* reals) {
               return loops::interpret(static_cast<Functions*>(self)->program_, static_cast<std::size_t>(function),
                                       table, sizes, integers, reals);
             }};
    return;
  }
  jit_ = std::make_unique<native::Jit>(program);
  for (const loops::Function& f : program.functions)
    compiled_.push_back(jit_->function(f.name));
  if (backend == Backend::native) return;
  clocks_ = std::vector<Clock>(compiled_.size());
  code_ = {this, [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                    const std::int64_t* integers, const double* reals) {
             using std::chrono::steady_clock;
             auto& functions = *static_cast<Functions*>(self);
             Clock& clock = functions.clocks_[static_cast<std::size_t>(function)];
             const steady_clock::time_point begin = steady_clock::now();
             const std::int32_t status =
                 functions.compiled_[static_cast<std::size_t>(function)](table, sizes, integers, reals);
             clock.nanoseconds += std::chrono::nanoseconds(steady_clock::now() - begin).count();
             ++clock.calls;
             return status;
           }};
}

Functions::Time Functions::time(std::size_t function) const {
  return {clocks_.at(function).calls, clocks_.at(function).nanoseconds};
}

}  // namespace lehr
