// Includes the functions of Boost.Math that are used here, with a policy that throws nothing. Results that do not exist
// are NaN or infinite instead.
#pragma once
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <limits>

namespace lehr::math {

/// Short for Boost's namespace of error policies.
namespace policies = boost::math::policies;

/// The error policy to pass to Boost.Math. A result that overflows is infinite, one that underflows is 0, an argument
/// outside the domain gives NaN. Nothing throws. Computes in double, not long double.
using NoThrowPolicy =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::underflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

/// NaN: the result of a quantile or probability that does not exist for its arguments.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace lehr::math
