// Parts of Lehr that are loaded when they are needed: what they stand on takes longer to load than most commands to
// run.
#pragma once
#include <string>

namespace lehr {

/// What liblehr-NAME-VERSION.so exports as `lehr_plugin`, of a type that its header tells; it stays loaded. Throws
/// std::runtime_error, with all places where it is not.
const void* load_plugin(const std::string& name);

}  // namespace lehr
