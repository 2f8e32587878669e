/* The binary interface (ABI) between generated code and its callers: the JIT, the interpreter and objects written by
   `lehr build`. It is plain C, and depends neither on LLVM nor on the compiler. */
#ifndef LEHR_RUNTIME_ABI_H
#define LEHR_RUNTIME_ABI_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One entry of the table of buffers that generated code works on: a pointer to the first element, a double or an
   int64_t. Arrays of data are aligned to 8 bytes, all others to 64. The table has the order of loops::Program::buffers,
   and its arrays never overlap. */
typedef void* lehr_buffer;

/* A generated function. It returns status 0 on success, otherwise a code that names the failure.

   buffers: the table of buffers. sizes: the extents of axes that are not constants of the code, by slot. integers and
   reals: the function's parameters of each type, in order; null if there are none. */
typedef int32_t (*lehr_function)(lehr_buffer const* buffers, const int64_t* sizes, const int64_t* integers,
                                 const double* reals);

#ifdef __cplusplus
}

namespace lehr {

/// The precision of a factor with all its mass at an observed value. It is finite and stands for infinity: its inverse
/// vanishes beside any other variance, and its product with 0 is 0 instead of NaN.
inline constexpr double kPointPrecision = 1e200;

}  // namespace lehr
#endif
#endif
