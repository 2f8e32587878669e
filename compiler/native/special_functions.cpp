// Formulas of the special functions, emitted as LLVM arithmetic.
// exp: Cody-Waite reduction to |r| <= ln 2 / 2 and a polynomial. log: fdlibm's e_log.c. digamma, trigamma and lgamma:
// the recurrence to x + 8, folded into one rational function, then the asymptotic series (DLMF 5.11.1, 5.11.2, 5.15.8).
// No fast-math flag is set, because the reductions depend on the order of operations.
#include "compiler/native/special_functions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <initializer_list>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace lehr::native {
namespace {

using llvm::Value;

/// A value of LLVM with operators of arithmetic, so that the code below reads like formulas.
struct Real {
  llvm::IRBuilder<>* b;  // emits the instructions
  Value* v;              // the value, a real or a vector of reals

  /// Returns a constant of the same type.
  Real constant(double x) const { return {b, llvm::ConstantFP::get(v->getType(), x)}; }
};

Real operator+(Real x, Real y) { return {x.b, x.b->CreateFAdd(x.v, y.v)}; }
Real operator-(Real x, Real y) { return {x.b, x.b->CreateFSub(x.v, y.v)}; }
Real operator*(Real x, Real y) { return {x.b, x.b->CreateFMul(x.v, y.v)}; }
Real operator/(Real x, Real y) { return {x.b, x.b->CreateFDiv(x.v, y.v)}; }
Real operator+(Real x, double y) { return x + x.constant(y); }
Real operator-(Real x, double y) { return x - x.constant(y); }
Real operator*(Real x, double y) { return x * x.constant(y); }
Real operator+(double x, Real y) { return y.constant(x) + y; }
Real operator*(double x, Real y) { return y.constant(x) * y; }
Real operator-(double x, Real y) { return y.constant(x) - y; }
Real operator/(double x, Real y) { return y.constant(x) / y; }

/// Returns x * y + z, in one instruction if the machine has it.
Real fma(Real x, Real y, Real z) {
  return {x.b, x.b->CreateIntrinsic(x.v->getType(), llvm::Intrinsic::fmuladd, {x.v, y.v, z.v})};
}
Real fma(Real x, double y, Real z) { return fma(x, x.constant(y), z); }
Real fma(Real x, Real y, double z) { return fma(x, y, x.constant(z)); }

Value* less(Real x, double y) { return x.b->CreateFCmpOLT(x.v, x.constant(y).v); }
Value* greater(Real x, double y) { return x.b->CreateFCmpOGT(x.v, x.constant(y).v); }
Real select(Value* condition, Real yes, Real no) { return {yes.b, yes.b->CreateSelect(condition, yes.v, no.v)}; }
Real select(Value* condition, double yes, Real no) { return select(condition, no.constant(yes), no); }

/// Returns the bits of x as an integer of the same width.
Value* bits(Real x) {
  llvm::Type* integer = x.b->getIntNTy(x.v->getType()->getScalarSizeInBits());
  return x.b->CreateBitCast(x.v, x.v->getType()->getWithNewType(integer));
}
/// Returns an integer constant of the type of `i`.
Value* like(Value* i, std::uint64_t constant) { return llvm::ConstantInt::get(i->getType(), constant); }
/// Returns the real, of the type of `like`, that has the bits of an integer.
Real from_bits(Real like, Value* i) { return {like.b, like.b->CreateBitCast(i, like.v->getType())}; }

/// Returns c[first] + c[first + step] x + c[first + 2 step] x^2 + ... by Horner's rule.
Real chain(Real x, std::initializer_list<double> c, std::size_t first = 0, std::size_t step = 1) {
  std::size_t last = first;
  while (last + step < c.size())
    last += step;
  Real sum = x.constant(c.begin()[last]);
  while (last > first)
    sum = fma(sum, x, c.begin()[last -= step]);
  return sum;
}

/// Returns c0 + c1 x + c2 x^2 + ..., as two interleaved chains, which halves the latency.
Real polynomial(Real x, std::initializer_list<double> c) {
  const Real square = x * x;
  return fma(chain(square, c, 1, 2), x, chain(square, c, 0, 2));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// ln 2 in two parts; products of the first with small integers are exact.
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
/// Adding and subtracting this number rounds to an integer, which is in the low bits in between.
constexpr double kRound = 0x1.8p52;

/// The parts of exp(x), where x = n ln 2 + r and |r| <= ln 2 / 2: half_scale is 2^(n-1), expm1 is exp(r) - 1.
struct Reduced {
  Real half_scale, expm1;
};

/// Returns the parts of exp(x). exp(r) = 1 + r + r^2 q(r), where q is fitted at Chebyshev nodes with an error of 3e-17.
Reduced reduced(Real x) {
  auto& b = *x.b;
  // The low 12 bits of `shifted` hold n + 1022: the exponent of 2^(n-1).
  const Real shifted = fma(x, 1.4426950408889634074, x.constant(kRound + 1022));
  const Real n = shifted - (kRound + 1022);
  const Real r = fma(n, -kLn2Low, fma(n, -kLn2High, x));
  const Real q = polynomial(r, {0.5, 0.16666666666666666, 0.04166666666665134, 0.008333333333332155,
                                0.0013888888905891745, 0.00019841269854346458, 2.480153636831133e-05,
                                2.7557280051344567e-06, 2.761381816969184e-07, 2.5095563373394485e-08});
  return {from_bits(x, b.CreateShl(bits(shifted), 52)), fma(r * r, q, r)};
}

/// Returns exp(x) from its parts; 0 below `lowest`, infinity above `highest`.
Real exp_of(Real x, const Reduced& e, double lowest, double highest) {
  const Real y = fma(e.expm1, 2, x.constant(2)) * e.half_scale;
  return select(less(x, lowest), 0, select(greater(x, highest), kInfinity, y));
}

Real exp_of(Real x) { return exp_of(x, reduced(x), -708, 709.782712893384); }

/// The constants of logit_curvature for f64 or f32.
struct CurvatureForm {
  double tiny;        // replaces smaller arguments, so that 0 / 0 does not occur and the result is 1/8
  double far;         // arguments from here on, where tanh(x / 2) is 1
  double round;       // added to -n, it puts the exponent of 2^-n into the low bits
  unsigned mantissa;  // bits of the fraction of a number
  std::initializer_list<double>
      coth;  // coefficients of r coth(r / 2) in r^2, for |r| <= ln 2 / 2, fitted at Chebyshev nodes
};

/// Returns tanh(x / 2) / (4 x). With |x| = n ln 2 + r and h = r coth(r / 2), exp(-r) = (h - r) / (h + r). So for s =
/// 2^-n
///   tanh(x / 2) = (h (1 - s) + r (1 + s)) / (h (1 + s) + r (1 - s)).
/// This takes one division, and nothing cancels near 0.
Real logit_curvature_of(Real x, const CurvatureForm& f) {
  auto& b = *x.b;
  const Real magnitude = {&b, b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x.v)};
  const Real positive = select(less(magnitude, f.tiny), f.tiny, magnitude);
  const Real y = select(greater(positive, f.far), f.far, positive);
  const Real shifted = fma(y, -std::numbers::log2e, x.constant(f.round));
  const Real r = fma(shifted - f.round, std::numbers::ln2, y), h = chain(r * r, f.coth);
  const Real s = from_bits(x, b.CreateShl(bits(shifted), f.mantissa)), sum = 1.0 + s, difference = 1.0 - s;
  return fma(h, difference, r * sum) / (4.0 * positive * fma(h, sum, r * difference));
}

Real logit_curvature_of(Real x) {
  return logit_curvature_of(x, {1e-300,
                                80,
                                kRound + 1023,
                                52,
                                {2, 0.1666666666666666, -0.0027777777777564486, 6.613756471665357e-05,
                                 -1.653406009991112e-06, 4.143769423035882e-08}});
}

/// Returns log(x) of a normal, finite x > 0, minus `bias` times ln 2. x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m -
/// 1 and s = f / (2 + f).
Real log_of_normal(Real x, Real bias) {
  auto& b = *x.b;
  Value* ix = bits(x);
  Value* shifted = b.CreateSub(ix, like(ix, 0x3fe6a09e667f3bcd));
  Value* e = b.CreateAShr(shifted, 52);
  const Real f = from_bits(x, b.CreateSub(ix, b.CreateShl(e, 52))) - 1;
  // e as a real: adding the bits of 1.5 * 2^52 to e gives those of 1.5 * 2^52 + e.
  const Real whole = from_bits(x, b.CreateAdd(e, like(e, 0x4338000000000000))) - kRound - bias;
  const Real s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const Real series = z * polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                         2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                         1.479819860510658591e-01});
  const Real low = fma(s, half + series, whole * kLn2Low);
  return fma(whole, kLn2High, f - (half - low));
}

Real log_of(Real x) {
  constexpr double kSmallest = 0x1p-1022;
  Value* subnormal = less(x, kSmallest);
  const Real scaled = select(subnormal, x * 0x1p54, x);
  const Real y = log_of_normal(scaled, select(subnormal, 54, x.constant(0)));
  Value* regular = x.b->CreateAnd(greater(x, 0), less(x, kInfinity));
  Value* zero = x.b->CreateFCmpOEQ(x.v, x.constant(0).v);
  // Other arguments: 0 gives -infinity, +infinity itself, NaN and negative numbers NaN.
  return select(regular, y, select(zero, -kInfinity, select(greater(x, 0), x, x.constant(kNaN))));
}

/// Returns log(1 + x): the logarithm of u = 1 + x as rounded, plus what the rounding has lost.
Real log1p_of(Real x, Real log_u) {
  const Real u = 1 + x;
  const Real lost = (x - (u - 1)) / u;
  Value* regular = x.b->CreateAnd(greater(u, 0), less(u, kInfinity));
  return select(regular, log_u + lost, log_u);
}

/// The recurrence from x < 8 to y = x + 8. With u = x (x + 7), x + i and x + 7 - i have the product u + i (7 - i), for
/// i = 0 .. 3.
struct Shift {
  Value* far;  // true if x >= 8: then y = x and there is no recurrence
  Real y;      // the argument of the series
  Real a[4];   // products (x + i)(x + 7 - i)
  Real du;     // 2x + 7, the sum of each pair
};

/// Returns the recurrence for an argument.
Shift shift_of(Real x) {
  Value* far = x.b->CreateFCmpOGE(x.v, x.constant(8).v);
  const Real near = select(far, 8, x);
  const Real u = near * (near + 7);
  return {far, select(far, x, x + 8), {u, u + 6, u + 10, u + 12}, fma(near, 2, x.constant(7))};
}

/// Returns y for finite x > 0, `at_infinity` for infinity, and NaN elsewhere.
Real on_positive(Real x, double at_infinity, Real y) {
  const Real finite = select(less(x, kInfinity), y, x.constant(at_infinity));
  return select(greater(x, 0), finite, x.constant(kNaN));
}

/// Returns log(y) - digamma(x): 1/(2y) + sum B_2k/(2k y^2k) + sum_i 1/(x+i). It takes one division for all terms.
Real digamma_rest(const Shift& s) {
  const Real ab = s.a[0] * s.a[1], cd = s.a[2] * s.a[3], product = ab * cd;
  const Real inverse = 1.0 / (product * s.y);
  const Real pairs = fma(s.a[0] + s.a[1], cd, (s.a[2] + s.a[3]) * ab);
  const Real recurrence = select(s.far, 0, s.du * pairs * (s.y * inverse));
  const Real iy = product * inverse, z = iy * iy;
  const Real series =
      z * polynomial(z, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});
  return fma(iy, 0.5, series) + recurrence;
}

Real digamma_of(Real x, const Shift& s, Real log_y) { return on_positive(x, kInfinity, log_y - digamma_rest(s)); }

/// Returns trigamma(x). Pairs of the recurrence are 1/(x+i)^2 + 1/(x+7-i)^2 = (du^2 - 2 a_i) / a_i^2; four of them get
/// one denominator.
Real trigamma_of(Real x) {
  const Shift s = shift_of(x);
  const Real square = s.du * s.du;
  const auto top = [&](int i) { return fma(s.a[i], -2, square); };
  const auto bottom = [&](int i) { return s.a[i] * s.a[i]; };
  const Real left = fma(top(0), bottom(1), top(1) * bottom(0)), right = fma(top(2), bottom(3), top(3) * bottom(2));
  const Real ab = bottom(0) * bottom(1), cd = bottom(2) * bottom(3);
  const Real recurrence = select(s.far, 0, fma(left, cd, right * ab) / (ab * cd));
  const Real iy = 1.0 / s.y, z = iy * iy;
  const Real series =
      polynomial(z, {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510});
  return on_positive(x, 0, recurrence + (iy + fma(z * iy, series, 0.5 * z)));
}

/// Returns lgamma(x): (y - 1/2)(log y - 1) - 1/2 + log(2 pi)/2 + sum B_2k/(2k(2k-1) y^(2k-1)) - log(x (x+1) ... (x+7)).
Real lgamma_of(Real x, const Shift& s, Real log_y, Real log_product) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const Real iy = 1.0 / s.y, z = iy * iy;
  const Real series =
      iy * polynomial(z, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156});
  const Real main = fma(s.y - 0.5, log_y - 1, series + (kHalfLogTwoPi - 0.5));
  return on_positive(x, kInfinity, main - select(s.far, 0, log_product));
}

// ---- f32: exp after Cephes' expf.c, log after fdlibm's e_logf.c, digamma by the recurrence to x + 4 ----
namespace single {

/// Adding and subtracting this number rounds to an integer, which is in the low bits in between.
constexpr double kRound = 0x1.8p23;

/// Returns log(x) of a normal, finite x > 0, minus `bias` times ln 2.
Real log_of_normal(Real x, Real bias) {
  auto& b = *x.b;
  Value* ix = bits(x);
  Value* e = b.CreateAShr(b.CreateSub(ix, like(ix, 0x3f3504f3)), 23);
  const Real f = from_bits(x, b.CreateSub(ix, b.CreateShl(e, 23))) - 1;
  const Real whole = Real{x.b, b.CreateSIToFP(e, x.v->getType())} - bias;
  const Real s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  const Real series = z * polynomial(z, {0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841});
  const Real low = fma(s, half + series, whole * 9.0580006145e-06);
  return fma(whole, 6.9313812256e-01, f - (half - low));
}

/// The argument of the series of digamma, and log(y) - digamma(x) of it.
struct Shifted {
  Real y, rest;
};

/// Returns these for an argument; one division is enough for all terms.
Shifted shifted(Real x) {
  Value* far = x.b->CreateFCmpOGE(x.v, x.constant(8).v);
  const Real near = select(far, 8, x);
  const Real u = near * (near + 3), v = u + 2, product = u * v;
  const Real y = select(far, x, x + 4);
  const Real inverse = 1.0 / (product * y);
  const Real recurrence = select(far, 0, fma(near, 2, x.constant(3)) * (u + v) * (y * inverse));
  const Real iy = product * inverse, z = iy * iy;
  const Real series = z * polynomial(z, {1.0 / 12, -1.0 / 120, 1.0 / 252});
  return {y, fma(iy, 0.5, series) + recurrence};
}

/// Returns y for finite x > 0, infinity for infinity, and NaN elsewhere.
Real on_positive(Real x, Real y) {
  const Real finite = select(less(x, kInfinity), y, x.constant(kInfinity));
  return select(greater(x, 0), finite, x.constant(kNaN));
}

Reduced reduced(Real x) {
  auto& b = *x.b;
  // The low 8 bits of `shifted` hold n + 126: the exponent of 2^(n-1).
  const Real shifted = fma(x, 1.44269504088896341, x.constant(kRound + 126));
  const Real n = shifted - (kRound + 126);
  const Real r = fma(n, 2.12194440e-4, fma(n, -0.693359375, x));
  const Real q = polynomial(
      r, {5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4});
  return {from_bits(x, b.CreateShl(bits(shifted), 23)), fma(r * r, q, r)};
}

Real exp_of(Real x) { return native::exp_of(x, single::reduced(x), -87, 88.72); }
Real logit_curvature_of(Real x) {
  return native::logit_curvature_of(
      x, {1e-30, 40, kRound + 127, 23, {2, 0.1666666665775072, -0.0027777644155528923, 6.584065000375607e-05}});
}

Real log_of(Real x) {
  Value* subnormal = less(x, 0x1p-126);
  const Real y = single::log_of_normal(select(subnormal, x * 0x1p25, x), select(subnormal, 25, x.constant(0)));
  Value* regular = x.b->CreateAnd(greater(x, 0), less(x, kInfinity));
  Value* zero = x.b->CreateFCmpOEQ(x.v, x.constant(0).v);
  return select(regular, y, select(zero, -kInfinity, select(greater(x, 0), x, x.constant(kNaN))));
}

Real digamma_of(Real x) {
  const Shifted s = single::shifted(x);
  return single::on_positive(x, single::log_of_normal(s.y, x.constant(0)) - s.rest);
}

Real exp_digamma_of(Real x, Real c) {
  const Shifted s = single::shifted(x);
  return single::on_positive(x, s.y * single::exp_of(c - s.rest));
}

}  // namespace single

/// Returns the name of the LLVM function for an operation; null if it is not a special function.
const char* symbol(loops::UnaryOp op) {
  switch (op) {
    case loops::UnaryOp::exp:
      return "lehr.exp";
    case loops::UnaryOp::log:
      return "lehr.log";
    case loops::UnaryOp::log1p:
      return "lehr.log1p";
    case loops::UnaryOp::logit_curvature:
      return "lehr.logit_curvature";
    case loops::UnaryOp::digamma:
      return "lehr.digamma";
    case loops::UnaryOp::trigamma:
      return "lehr.trigamma";
    case loops::UnaryOp::lgamma:
      return "lehr.lgamma";
    default:
      return nullptr;
  }
}

/// Adds an empty pure function of `arity` reals to the module, and puts the builder into its entry block.
llvm::Function* declare(llvm::Module& module, const std::string& name, unsigned arity, llvm::Type* real,
                        llvm::IRBuilder<>& b) {
  const std::vector<llvm::Type*> parameters(arity, real);
  auto* type = llvm::FunctionType::get(real, parameters, false);
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  for (auto attribute : {llvm::Attribute::AlwaysInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn,
                         llvm::Attribute::Speculatable, llvm::Attribute::NoSync, llvm::Attribute::NoFree}) {
    function->addFnAttr(attribute);
  }
  function->setDoesNotAccessMemory();
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  return function;
}

/// Returns the formula of an operation in f64.
Real formula(llvm::Module& module, loops::UnaryOp op, Real x) {
  const auto log_call = [&](Real y) {
    return Real{y.b, y.b->CreateCall(special_function(module, loops::UnaryOp::log, y.v->getType()), {y.v})};
  };
  if (op == loops::UnaryOp::exp) return exp_of(x);
  if (op == loops::UnaryOp::logit_curvature) return logit_curvature_of(x);
  if (op == loops::UnaryOp::log) return log_of(x);
  if (op == loops::UnaryOp::log1p) return log1p_of(x, log_call(1 + x));
  if (op == loops::UnaryOp::trigamma) return trigamma_of(x);
  const Shift s = shift_of(x);
  const Real log_y = log_of_normal(s.y, x.constant(0));  // y >= 8; NaN is handled at the end
  if (op == loops::UnaryOp::digamma) return digamma_of(x, s, log_y);
  return lgamma_of(x, s, log_y, log_of_normal((s.a[0] * s.a[1]) * (s.a[2] * s.a[3]), x.constant(0)));
}

/// Returns the formula of an operation in f32. Operations that are rare in inner loops are computed in f64 and rounded.
Real single_formula(llvm::Module& module, loops::UnaryOp op, Real x) {
  if (op == loops::UnaryOp::exp) return single::exp_of(x);
  if (op == loops::UnaryOp::logit_curvature) return single::logit_curvature_of(x);
  if (op == loops::UnaryOp::log) return single::log_of(x);
  if (op == loops::UnaryOp::digamma) return single::digamma_of(x);
  llvm::Type* real = x.v->getType()->getWithNewType(x.b->getDoubleTy());
  llvm::Value* y = x.b->CreateCall(special_function(module, op, real), {x.b->CreateFPExt(x.v, real)});
  return {x.b, x.b->CreateFPTrunc(y, x.v->getType())};
}

/// Returns the name of a function for a type: one for each type.
std::string name_of(const char* plain, llvm::Type* real) {
  std::string name = plain;
  if (real->getScalarType()->isFloatTy()) name += ".f32";
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(real))
    name += ".v" + std::to_string(vector->getNumElements());
  return name;
}

}  // namespace

llvm::Function* special_function(llvm::Module& module, loops::UnaryOp op, llvm::Type* real) {
  const char* plain = symbol(op);
  if (!plain) throw std::logic_error("native: not a special function");
  const std::string name = name_of(plain, real);
  if (llvm::Function* existing = module.getFunction(name)) return existing;
  llvm::IRBuilder<> b(module.getContext());
  llvm::Function* function = declare(module, name, 1, real, b);
  const Real x{&b, function->getArg(0)};
  b.CreateRet((real->getScalarType()->isFloatTy() ? single_formula(module, op, x) : formula(module, op, x)).v);
  return function;
}

llvm::Function* exp_digamma_function(llvm::Module& module, llvm::Type* real) {
  const std::string name = name_of("lehr.exp_digamma", real);
  if (llvm::Function* existing = module.getFunction(name)) return existing;
  llvm::IRBuilder<> b(module.getContext());
  llvm::Function* function = declare(module, name, 2, real, b);
  const Real x{&b, function->getArg(0)}, c{&b, function->getArg(1)};
  if (real->getScalarType()->isFloatTy()) {
    b.CreateRet(single::exp_digamma_of(x, c).v);
    return function;
  }
  const Shift s = shift_of(x);
  const Real exponent = c - digamma_rest(s);
  b.CreateRet(on_positive(x, kInfinity, s.y * exp_of(exponent)).v);
  return function;
}

}  // namespace lehr::native
