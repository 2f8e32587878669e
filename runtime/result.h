// Failures of the runtime as values: what is wrong with a file or a number, where, and the cure.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lehr {

/// Exit codes of the command line (design: 0 done, 1 internal, 2 usage, 3 model, 4 data, 5 numerical).
enum class ExitCode : int { done = 0, internal = 1, usage = 2, model = 3, data = 4, numerical = 5 };

struct Error {
  ExitCode code = ExitCode::internal;
  std::string where;  // "points.csv:7:3", "file.npz", option("data"); printed before "error:"
  std::string text;
  std::vector<std::string> notes;  // cures and other places, one a line
};

/// An option in a message, whoever has it: of a command line it is spelled "--data", of a call of the library "data".
std::string option(std::string_view name);
/// A message with its options behind this prefix.
std::string spelled(std::string text, std::string_view prefix);
Error spelled(Error error, std::string_view prefix);

/// `where: error: text` and its notes, one a line, options as `spelled`.
std::string render(const Error& error, std::string_view prefix = "");

/// A value or the error that prevented it.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace lehr
