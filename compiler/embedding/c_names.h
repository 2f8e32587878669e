// Names for C and C++ from those of a model: the only place that knows what may not be called how.
#pragma once
#include <set>
#include <string>

namespace lehr {

/// Functions of the C library, `main` and `std`: no namespace can have their name.
const std::set<std::string>& c_library();

/// Of ASCII letters.
std::string upper_case(std::string name);

/// In the letters of C: letters of other scripts are written out (μ₀ is mu0, ж is u0436). Not yet told apart
/// from others.
std::string in_ascii(const std::string& name);

/// Names that stand side by side in C and C++: members of one structure, functions with one prefix. No two
/// are alike, none is a word of C or C++, or of what their headers define; what would be gets underscores at
/// its end.
class NameScope {
 public:
  explicit NameScope(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}
  std::string add(const std::string& name);

 private:
  std::set<std::string> taken_;
};

}  // namespace lehr
