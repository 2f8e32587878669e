// Fills the tables of exchangeable components: plates whose elements can be permuted without changing the model, such
// as the clusters of a mixture. Moves (merge, split, reorder) edit the buffers that these tables name.
#pragma once
#include "compiler/machine/subjects.h"

namespace lehr {

/// Appends to `to` a row for each exchangeable plate that moves can edit, with all buffers of the posterior that have
/// axes over it. Some buffer must count the items by component, and some category must assign items to components;
/// other plates get no row. Buffers and steps must be written before.
void write_component_tables(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
                            SubjectTables& subjects, Tables& to);

}  // namespace lehr
