// Translates enumerations of the compiler into those of the tables, since the runtime does not know the compiler's.
#pragma once
#include "compiler/loops/loops.h"
#include "compiler/model/model.h"
#include "runtime/machine/model.h"

namespace lehr {

/// Translates the support of a variable. A sparse or scaled joint variable is a vector. A switched one is real; the
/// rows of its parameters say which are categories.
machine::Support support_of(math::Support s);

/// Translates the role of a parameter.
machine::Parameter parameter_of(math::ParameterRole r);

/// Returns the role of a buffer that is not data.
machine::Role role_of(const loops::Buffer& b);

/// Returns the domain against which data of a variable are checked.
machine::Domain domain_of(math::Support s);

/// Returns the domain against which an input is checked; `definite`: a matrix must be positive definite.
machine::Domain domain_of(const model::Given& g, bool definite);

}  // namespace lehr
