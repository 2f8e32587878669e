// The exchangeable components of a model: which of its buffers have axes over an exchangeable plate.
#pragma once
#include "compiler/machine/subjects.h"

namespace lehr {

/// Appends them to `to`, whose buffers and steps are written.
void write_components(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l, Subjects& subjects,
                      Tables& to);

}  // namespace lehr
