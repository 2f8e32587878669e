// Work in a process of its own, for libraries that a damaged file can crash: the child reads the file and sends what it
// found through a pipe. Whatever becomes of the child, its parent goes on.
#pragma once
#include <functional>
#include <string>

#include "runtime/bytes.h"
#include "runtime/result.h"

namespace lehr {

/// The bytes that `f` returns in a child. Where the child crashes, `where` is in the error, of ExitCode::data. Throws
/// std::bad_alloc where the child had not enough memory, and std::system_error where there can be no child.
Result<std::string> bytes_of_child(const std::string& where, const std::function<std::string()>& f);

template <class Archive>
void fields(Archive& a, Error& e) {
  a(e.code, e.where, e.text, e.notes);
}

/// What `f` returns in a child; T is a type that Writer and Reader know.
template <class T>
Result<T> in_child(const std::string& where, const std::function<Result<T>()>& f) {
  const Result<std::string> bytes = bytes_of_child(where, [&] {
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
