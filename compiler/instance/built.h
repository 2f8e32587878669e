// Runs the machine code of a built object (`lehr build`) as an Instance, without compiling the model again.
#pragma once
#include <optional>

#include "compiler/instance/instance.h"

namespace lehr {

/// Makes an instance that runs the machine code of `object` (made by `lehr build` with `settings`), so that predictions
/// and scores need not compile the model. This works if the program that the data need is the one in the object (their
/// identities are compared). For other data (missing values or sizes that it was not built for) the instance interprets
/// the program, more slowly. In both cases it works on the caller's thread alone. The object must outlive the instance.
/// An Error says why no instance can be made.
Result<std::unique_ptr<Instance>> instance_of_built(const machine::Model& object, const Settings& settings,
                                                    const Analysed& analysed, const BoundData& data,
                                                    const loops::LowerOptions& options);

}  // namespace lehr
