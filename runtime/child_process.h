// Runs a function in a forked child process and returns its result through a pipe. This isolates libraries (HDF5,
// NetCDF) that a damaged file can crash: the parent continues and reports an error.
#pragma once
#include <functional>
#include <string>

#include "runtime/bytes.h"
#include "runtime/result.h"

namespace lehr {

/// Runs `f` in a forked child process and returns the bytes that it returned there, so that a crash of a library on a
/// damaged file ends the child only.
///
/// If the child crashes or throws, the result is an error of ExitCode::data about `where` (usually a path), which says
/// that the library that reads such files failed. Throws std::bad_alloc if `f` throws it in the child, and
/// std::system_error if no pipe or process can be made.
Result<std::string> run_in_child(const std::string& where, const std::function<std::string()>& f);

/// Serialises an Error (bytes.h), so that a child can send it to its parent.
template <class Archive>
void fields(Archive& a, Error& e) {
  a(e.code, e.where, e.text, e.notes);
}

/// Runs `f` in a forked child process and returns its result, value or error, so that a crash of a library on a damaged
/// file ends the child only. T must be serialisable by Writer and Reader (bytes.h). A crash or an exception of `f`
/// becomes an error of ExitCode::data about `where`; only std::bad_alloc is thrown again.
template <class T>
Result<T> in_child(const std::string& where, const std::function<Result<T>()>& f) {
  const Result<std::string> bytes = run_in_child(where, [&] {
    std::string out;
    Writer to(out);
    Result<T> result = f();
    to(static_cast<bool>(result));
    if (result) to(*result);
    else to(result.error());
    return out;
  });
  if (!bytes) return bytes.error();
  Reader from(*bytes);
  if (from.take<bool>()) return from.take<T>();
  return from.take<Error>();
}

}  // namespace lehr
