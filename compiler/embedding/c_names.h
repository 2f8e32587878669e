// Identifiers for C and C++ made from the names of a model. The list of reserved words, macros and library functions is
// here and nowhere else.
#pragma once
#include <set>
#include <string>

namespace lehr {

/// Returns the names that the C++ namespace of a built model must not have: those of C library functions, `main` and
/// `std`.
const std::set<std::string>& c_library();

/// Returns the name with its ASCII letters in upper case, for macros of the C header.
std::string upper_case(std::string name);

/// Transliterates a name of the model to an identifier of ASCII letters, digits and underscores, for generated C code:
/// μ₀ becomes mu0, ж becomes u0436. An underscore is put before a digit at the beginning. Different names may give the
/// same result, and reserved words are not changed; NameScope::add() sees to both.
std::string ascii_identifier(const std::string& name);

/// Chooses distinct C identifiers for names of the model in one scope of a generated header, such as the members of a
/// struct or functions with one prefix.
class NameScope {
 public:
  /// Makes a scope in which the identifiers in `used` are in use already, so that add() does not return them.
  explicit NameScope(std::set<std::string> used = {}) : used_(std::move(used)) {}
  /// Returns an identifier for a name of the model, and marks it as used: its transliteration, with underscores
  /// appended until it is new here and is not a word of C or C++ or a macro of their headers.
  std::string add(const std::string& name);

 private:
  std::set<std::string> used_;  // the identifiers that add() has returned or that were in use before
};

}  // namespace lehr
