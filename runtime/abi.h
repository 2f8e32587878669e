/* The plain C contract between generated code and whoever calls it: the JIT driver, the interpreter, objects
   written by `lehr build`. Nothing here knows LLVM or the compiler. */
#ifndef LEHR_RUNTIME_ABI_H
#define LEHR_RUNTIME_ABI_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One entry of the table of buffers: a pointer to the first element (double or int64_t), 64-byte aligned but for data,
   which are aligned to 8 bytes.
   The order of the table is the order of Program::buffers. Different entries never overlap. */
typedef void* lehr_buffer;

/* Generated functions: status 0 when well, otherwise the code of the failure. `sizes` holds the extents that
   are not constants of the code, by slot; `integers` and `reals` the function's parameters of each type, in order. */
typedef int32_t (*lehr_function)(lehr_buffer const* buffers, const int64_t* sizes, const int64_t* integers,
                                 const double* reals);

#ifdef __cplusplus
}

namespace lehr {

/// The precision of a factor that is all mass at a value of the data. It stands for an infinite one: its inverse is
/// lost in every sum, and no product of it is NaN.
inline constexpr double kPointPrecision = 1e200;

}  // namespace lehr
#endif
#endif
