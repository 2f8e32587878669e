// Makes the functions of a program executable. Functions that are counted are called through a hook, which adds up
// their time or operations in atomic counters. So are those whose code is made when they are first called.
#include "compiler/instance/functions.h"

#include <chrono>

#include "compiler/pipeline.h"

namespace lehr {

namespace {

/// The type of machine::Code::call.
using Call = decltype(machine::Code::call);

}  // namespace

Functions::Functions(const loops::Program& program, const CodeSource& source)
    : program_(program), addresses_(program.functions.size(), nullptr) {
  if (const auto* built = std::get_if<std::span<const lehr_function>>(&source)) {
    addresses_.assign(built->begin(), built->end());
    return;
  }
  const Backend backend = std::get<Backend>(source);
  if (backend != Backend::native) counters_ = std::vector<Counters>(program.functions.size());
  const Call interpreted = [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                              const std::int64_t* integers, const double* reals) {
    auto& functions = *static_cast<Functions*>(self);
    const auto at = static_cast<std::size_t>(function);
    loops::OperationCounts work;
    const std::int32_t status = loops::interpret(functions.program_, at, table, sizes, integers, reals, &work);
    Counters& counters = functions.counters_[at];
    counters.operations += work.operations;
    counters.functions += work.functions;
    counters.bytes += work.bytes;
    ++counters.calls;
    return status;
  };
  const Call timed = [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                        const std::int64_t* integers, const double* reals) {
    using std::chrono::steady_clock;
    auto& functions = *static_cast<Functions*>(self);
    const auto at = static_cast<std::size_t>(function);
    const lehr_function code = functions.jit_->function(at);
    const steady_clock::time_point begin = steady_clock::now();
    const std::int32_t status = code(table, sizes, integers, reals);
    functions.counters_[at].nanoseconds += std::chrono::nanoseconds(steady_clock::now() - begin).count();
    ++functions.counters_[at].calls;
    return status;
  };
  const Call compiled_now = [](void* self, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                               const std::int64_t* integers, const double* reals) {
    const native::Jit& jit = *static_cast<Functions*>(self)->jit_;
    return jit.function(static_cast<std::size_t>(function))(table, sizes, integers, reals);
  };
  code_ = {this, backend != Backend::native,
           backend == Backend::interpreter ? interpreted
           : backend == Backend::timed     ? timed
                                           : compiled_now};
  if (backend == Backend::interpreter) return;
  jit_ = lehr::compiled(program);
  for (std::size_t k = 0; k < addresses_.size() && backend == Backend::native; ++k)
    if (!program.functions[k].seldom) addresses_[k] = jit_->function(k);
}

Functions::FunctionCost Functions::account(std::size_t function) const {
  const Counters& c = counters_.at(function);
  return {c.calls, c.nanoseconds, {c.operations, c.functions, c.bytes}};
}

}  // namespace lehr
