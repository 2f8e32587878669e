// Translates enumerations of the compiler into those of the tables, since the runtime does not know the compiler's.
#pragma once
#include "compiler/loops/loops.h"
#include "compiler/model/model.h"
#include "runtime/machine/model.h"

namespace lehr {

/// Translates the set in which a variable's values lie, for ParameterRow::support. A sparse or scaled joint variable
/// becomes a vector, a switched one real; write_parameters() sets what differs for single parameters.
machine::Support support_of(math::Support s);

/// Translates the meaning of a factor's parameter, for ParameterRow::parameter; starts displace parameters by it.
machine::Parameter parameter_of(math::ParameterRole r);

/// Returns what the contents of a buffer are to the machine: scratch and natural are scratch; parameters and
/// expectations are factors; statistics are statistics; all others are work. Arrays of data get machine::Role::data
/// later.
machine::Role role_of(const loops::Buffer& b);

/// Returns the set in which observed values of a variable with this support must lie, which a built object checks. It
/// is `real` for reals, vectors and joint variables.
machine::Domain domain_of(math::Support s);

/// Returns the set in which the values of a given (input) must lie, which a built object checks. With `definite`, a
/// matrix must be symmetric: generated code finds whether it is positive definite.
machine::Domain domain_of(const model::Given& g, bool definite);

}  // namespace lehr
