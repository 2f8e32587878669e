// The package makes code for the machine that it runs on: no other is there to be asked for.
#include "compiler/native/target.h"

namespace lehr::native {

void initialise_other_targets() {}

}  // namespace lehr::native
