// Fills the tables of exchangeable components: plates whose elements can be permuted without changing the model, such
// as the clusters of a mixture. Moves (merge, split, reorder) edit the buffers that these tables name.
#pragma once
#include "compiler/machine/subjects.h"

namespace lehr {

/// Appends to `to` one record for each exchangeable plate that moves can edit, with all posterior buffers that have
/// axes over it. Such a plate has a buffer that counts items by component and a category that assigns items to
/// components; others are left out. Buffers and steps must be in `to` before.
void write_component_tables(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
                            SubjectTables& subjects, Tables& to);

}  // namespace lehr
