// Identifiers for C and C++ made from the names of a model. The list of reserved words, macros and library functions is
// here and nowhere else.
#pragma once
#include <set>
#include <string>

namespace lehr {

/// Returns the names of C library functions, with `main` and `std`, which a C++ namespace cannot have.
const std::set<std::string>& c_library();

/// Converts the ASCII letters of a name to upper case.
std::string upper_case(std::string name);

/// Transliterates a name to ASCII letters, digits and underscores: μ₀ becomes mu0, ж becomes u0436. An underscore is
/// put before a digit at the beginning. Different names may give the same result.
std::string ascii_identifier(const std::string& name);

/// Hands out distinct identifiers for one scope, such as the members of a struct or functions with one prefix.
class NameScope {
 public:
  /// Makes a scope in which the identifiers in `used` are in use already.
  explicit NameScope(std::set<std::string> used = {}) : used_(std::move(used)) {}
  /// Returns an identifier for a name of the model: its transliteration, with underscores appended until it is new here
  /// and is not a word of C or C++ or a macro of their headers.
  std::string add(const std::string& name);

 private:
  std::set<std::string> used_;  // the identifiers in use
};

}  // namespace lehr
