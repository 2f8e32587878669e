// Errors as values: what is wrong with a file, an option or a number, where, and how to mend it. Functions that can
// fail because of the user's input return Result<T>; exceptions are left for exhausted memory and for bugs.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lehr {

/// The kind of an error; its number is the exit code of the command line.
///
/// * done: success.
/// * internal: a bug or a failing system.
/// * usage: wrong options or arguments.
/// * model: a wrong model.
/// * data: a wrong file or wrong data.
/// * numerical: arithmetic that failed, for instance a value that is not finite.
enum class ExitCode : int { done = 0, internal = 1, usage = 2, model = 3, data = 4, numerical = 5 };

/// An error as a value: what is wrong, where, of which kind, and how to mend it.
struct Error {
  ExitCode code = ExitCode::internal;  // kind of the failure, and the exit code of the command
  std::string where;  // subject, printed before "error:": "points.csv:7:3", "file.npz" or option("data"); may be empty
  std::string text;   // what is wrong, one sentence
  std::vector<std::string> notes;  // remedies and further locations, printed one a line after the text
};

/// Makes an error of ExitCode::usage about the option or argument `where`.
Error usage_error(std::string where, std::string text, std::vector<std::string> notes = {});

/// Returns an option's name behind a marker, for use inside messages: the command line later prints "--data" where a
/// caller of the library reads "data" (with_option_prefix()).
std::string option(std::string_view name);
/// Returns the text with every marker of option() replaced by `prefix`: "--" for the command line, "" for the library.
std::string with_option_prefix(std::string text, std::string_view prefix);
/// Returns the error with every marker of option() in all its texts replaced by `prefix`: "--" for the command line, ""
/// for the library.
Error with_option_prefix(Error error, std::string_view prefix);

/// Formats an error for printing: `where: error: text`, then the notes, one a line. Option markers become `prefix`, and
/// characters that could disturb a terminal are escaped (printable_lines()).
std::string render(const Error& error, std::string_view prefix = "");

/// The result of a function that may fail: its value, or an Error that says why there is none. Test it before reading
/// the value. A function without a value of its own returns Result<bool>, with the value true.
template <class T>
class Result {
 public:
  /// Makes a successful result with this value.
  Result(T value) : state_(std::move(value)) {}
  /// Makes a failed result with this error.
  Result(Error error) : state_(std::move(error)) {}
  /// Returns true if the result is a success, so that it has a value.
  explicit operator bool() const { return state_.index() == 0; }
  /// Returns the value; throws std::bad_variant_access if there is none.
  T& operator*() { return std::get<0>(state_); }
  /// Returns the value of a constant result; throws std::bad_variant_access if there is none.
  const T& operator*() const { return std::get<0>(state_); }
  /// Returns a pointer to the value; throws std::bad_variant_access if there is none.
  T* operator->() { return &std::get<0>(state_); }
  /// Returns a pointer to the constant value; throws std::bad_variant_access if there is none.
  const T* operator->() const { return &std::get<0>(state_); }
  /// Returns the error; throws std::bad_variant_access if there is a value.
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;  // the value of a success, or the error of a failure
};

}  // namespace lehr
