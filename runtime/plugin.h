// Parts of Lehr that are loaded when they are needed: what they stand on takes longer to load than most commands to
// run.
#pragma once
#include <stdexcept>
#include <string>

namespace lehr {

/// A library that cannot be loaded, or is not there.
struct NoPlugin : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What liblehr-NAME-VERSION.so exports as `lehr_plugin`, of a type that its header tells; it stays loaded. Throws
/// NoPlugin, with all places where it is not.
const void* load_plugin(const std::string& name);

}  // namespace lehr
