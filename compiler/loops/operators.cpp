// The tables of operators (operators.h), in the order of the enumerations, so that an operator is its own index. A
// static_assert checks the order.
#include "compiler/loops/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <type_traits>

#include "compiler/loops/special.h"
#include "compiler/math/function.h"
#include "compiler/support/table.h"

namespace lehr::loops {
namespace {

/// Makes the function of a table entry from a function of reals.
template <double (*f)(double)>
Value of_real(Value x, bool) {
  return real(f(x.f));
}

Value negate(Value x, bool is_real) { return is_real ? real(-x.f) : integer(-x.i); }
Value absolute(Value x, bool is_real) { return is_real ? real(std::abs(x.f)) : integer(std::abs(x.i)); }
Value to_f64(Value x, bool is_real) { return is_real ? x : real(static_cast<double>(x.i)); }
Value to_f32(Value x, bool is_real) { return real(is_real ? static_cast<float>(x.f) : static_cast<float>(x.i)); }
Value logical_not(Value x, bool) { return integer(!x.i); }
Value is_nan(Value x, bool) { return integer(std::isnan(x.f)); }

double logit_curvature(double x) { return math::value_of(math::Function::logit_curvature, x); }

/// Returns the smaller of a and b, or NaN if either is NaN (std::fmin would drop it).
double minimum(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b); }
/// Returns the larger of a and b, or NaN if either is NaN.
double maximum(double a, double b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b); }

/// The operators with one operand.
constexpr std::array kUnary{
    UnaryRow{UnaryOp::negate, "-", kPrefix, Takes::number, Gives::same, negate},
    UnaryRow{UnaryOp::logical_not, "not", kPrefix, Takes::boolean, Gives::same, logical_not},
    UnaryRow{UnaryOp::to_f64, "f64", kAtom, Takes::number, Gives::real, to_f64},
    UnaryRow{UnaryOp::to_f32, "f32", kAtom, Takes::number, Gives::single, to_f32},
    UnaryRow{UnaryOp::exp, "exp", kAtom, Takes::real, Gives::same, of_real<std::exp>},
    UnaryRow{UnaryOp::log, "log", kAtom, Takes::real, Gives::same, of_real<std::log>},
    UnaryRow{UnaryOp::log1p, "log1p", kAtom, Takes::real, Gives::same, of_real<std::log1p>},
    UnaryRow{UnaryOp::logit_curvature, "logit_curvature", kAtom, Takes::real, Gives::same, of_real<logit_curvature>},
    UnaryRow{UnaryOp::sqrt, "sqrt", kAtom, Takes::real, Gives::same, of_real<std::sqrt>},
    UnaryRow{UnaryOp::digamma, "digamma", kAtom, Takes::real, Gives::same, of_real<digamma>},
    UnaryRow{UnaryOp::trigamma, "trigamma", kAtom, Takes::real, Gives::same, of_real<trigamma>},
    UnaryRow{UnaryOp::lgamma, "lgamma", kAtom, Takes::real, Gives::same, of_real<log_gamma>},
    UnaryRow{UnaryOp::abs, "abs", kAtom, Takes::number, Gives::same, absolute},
    UnaryRow{UnaryOp::is_nan, "is_nan", kAtom, Takes::real, Gives::boolean, is_nan},
};

/// Returns the table entry of an operator that is the same function of reals and of integers. It is a comparison if the
/// function returns a bool.
template <class F>
constexpr BinaryRow row(BinaryOp op, std::string_view name, Precedence precedence, F) {
  constexpr bool compares = std::is_same_v<std::invoke_result_t<F, double, double>, bool>;
  return {op,
          name,
          precedence,
          Takes::number,
          compares ? Gives::boolean : Gives::same,
          [](double a, double b) {
            if constexpr (compares) return integer(F{}(a, b));
            else return real(F{}(a, b));
          },
          [](std::int64_t a, std::int64_t b) { return integer(F{}(a, b)); }};
}

/// The operators with two operands.
constexpr std::array kBinary{
    row(BinaryOp::add, "+", kSum, std::plus{}),
    row(BinaryOp::subtract, "-", kSum, std::minus{}),
    row(BinaryOp::multiply, "*", kProduct, std::multiplies{}),
    BinaryRow{BinaryOp::divide, "/", kProduct, Takes::real, Gives::same, [](double a, double b) { return real(a / b); },
              nullptr},
    BinaryRow{BinaryOp::minimum, "min", kAtom, Takes::number, Gives::same,
              [](double a, double b) { return real(minimum(a, b)); },
              [](std::int64_t a, std::int64_t b) { return integer(std::min(a, b)); }},
    BinaryRow{BinaryOp::maximum, "max", kAtom, Takes::number, Gives::same,
              [](double a, double b) { return real(maximum(a, b)); },
              [](std::int64_t a, std::int64_t b) { return integer(std::max(a, b)); }},
    row(BinaryOp::equal, "==", kCompare, std::equal_to{}),
    row(BinaryOp::not_equal, "!=", kCompare, std::not_equal_to{}),
    row(BinaryOp::less, "<", kCompare, std::less{}),
    row(BinaryOp::less_equal, "<=", kCompare, std::less_equal{}),
    BinaryRow{BinaryOp::logical_and, "and", kAnd, Takes::boolean, Gives::same, nullptr,
              [](std::int64_t a, std::int64_t b) { return integer(a && b); }},
    BinaryRow{BinaryOp::logical_or, "or", kOr, Takes::boolean, Gives::same, nullptr,
              [](std::int64_t a, std::int64_t b) { return integer(a || b); }},
};

static_assert(rows_match_enum(kUnary, &UnaryRow::op) && rows_match_enum(kBinary, &BinaryRow::op));

}  // namespace

const UnaryRow& row_of(UnaryOp op) { return kUnary[static_cast<std::size_t>(op)]; }
const BinaryRow& row_of(BinaryOp op) { return kBinary[static_cast<std::size_t>(op)]; }

}  // namespace lehr::loops
