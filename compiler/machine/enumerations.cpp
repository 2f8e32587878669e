// One switch for each enumeration, so that the compiler asks for a case of each new value.
#include "compiler/machine/enumerations.h"

#include "compiler/loops/facts.h"

namespace lehr {

using machine::Domain;
using machine::Parameter;
using machine::Role;

machine::Support support_of(math::Support s) {
  using From = math::Support;
  using To = machine::Support;
  switch (s) {
    case From::real:
      return To::real;
    case From::positive:
      return To::positive;
    case From::unit:
      return To::unit;
    case From::count:
      return To::count;
    case From::bit:
      return To::bit;
    case From::spin:
      return To::spin;
    case From::category:
      return To::category;
    case From::simplex:
      return To::simplex;
    case From::vector:
      return To::vector;
    case From::counts:
      return To::counts;
    case From::spd_matrix:
      return To::spd_matrix;
    case From::sparse:
      return To::vector;
    case From::scaled:
      return To::vector;  // except its scale, see write_parameters()
    case From::switched:
      break;  // its choice is a category and its other parameters are numbers, see write_parameters()
  }
  return To::real;
}

Parameter parameter_of(math::ParameterRole r) {
  using From = math::ParameterRole;
  switch (r) {
    case From::value:
      return Parameter::value;
    case From::location:
      return Parameter::mean;
    case From::precision:
      return Parameter::precision;
    case From::freedom:
      return Parameter::df;
    case From::probabilities:
      return Parameter::probs;
    case From::probability:
      return Parameter::p;
    case From::spread:
      return Parameter::rate;
    case From::pseudo_count:
      return Parameter::shape_like;
    case From::other:
      break;
  }
  return Parameter::other;
}

Role role_of(const loops::Buffer& b) {
  if (loops::is_scratch(b)) return Role::scratch;
  if (b.role == loops::Role::parameter || b.role == loops::Role::expectation) return Role::factor;
  return b.role == loops::Role::statistic ? Role::statistic : Role::work;
}

Domain domain_of(math::Support s) {
  switch (s) {
    case math::Support::positive:
      return Domain::positive;
    case math::Support::unit:
      return Domain::unit;
    case math::Support::count:
    case math::Support::counts:
      return Domain::count;
    case math::Support::bit:
      return Domain::bit;
    case math::Support::spin:
      return Domain::spin;
    case math::Support::category:
      return Domain::category;
    case math::Support::simplex:
      return Domain::open_simplex;
    case math::Support::spd_matrix:
      return Domain::positive_definite;
    case math::Support::real:
    case math::Support::vector:
    case math::Support::switched:
    case math::Support::scaled:
    case math::Support::sparse:
      break;
  }
  return Domain::real;
}

Domain domain_of(const model::Given& g, bool definite) {
  switch (g.type) {
    case model::GivenType::count:
      return Domain::count;
    case model::GivenType::category:
      return Domain::category;
    case model::GivenType::simplex:
      return Domain::simplex;
    case model::GivenType::matrix:
      return definite ? Domain::symmetric : Domain::real;
    case model::GivenType::real:
    case model::GivenType::vector:
      break;
  }
  return Domain::real;
}

}  // namespace lehr
