// The code of a built object (runtime/machine/model.h) in the place of code that would be made.
#pragma once
#include <optional>

#include "compiler/instance/instance.h"

namespace lehr {

/// Runs the functions of `object`, which was built with these settings, where its program is the one that the data
/// need; elsewhere (missing values that it was not built for, plates that have grown) the program is interpreted. On
/// the caller's thread alone. The object must outlive the instance.
Result<std::unique_ptr<Instance>> instance_of_built(const machine::Model& object, const Settings& settings,
                                                    const Analysed& analysed, const BoundData& data,
                                                    const loops::LowerOptions& options);

}  // namespace lehr
