// Padding of trip counts: an abstract interpretation of a loop's body in the iterations past its end.
// Each expression is found to be the same in all iterations, or 0, or at least finite. The iterations are harmless if
// sums get 0 and stores write 0 behind rows that have zeros there. Loads are allowed only within such rows, or where
// the index is the same in all iterations.
#include "compiler/native/padded_trips.h"

#include <map>
#include <optional>
#include <utility>

#include "compiler/loops/facts.h"
#include "compiler/native/loop_shape.h"
#include "compiler/native/padded_arrays.h"

namespace lehr::native {
namespace {

using namespace loops;

/// What is known of an expression in an iteration past the end.
struct PastEnd {
  bool varies = false;  // true if it may differ between iterations
  bool zero = false;    // true if it is 0 there
  bool finite = true;   // true if it is finite there, provided that values which do not vary are
};

/// An expression that does not vary, one that is 0, and one of which nothing is known.
constexpr PastEnd kSame{}, kZero{true, true, true}, kAny{true, false, false};

/// The body of a loop from 0 to `extent`, in iterations from `extent` to `end`.
class Body {
 public:
  Body(const Program& p, const std::set<BufferId>& own, int lanes, ScalarId index, std::int64_t extent,
       std::int64_t end)
      : p_(p), own_(own), lanes_(lanes), index_(index), extent_(extent), end_(end) {}

  /// Returns true if the iterations past `extent` change nothing.
  bool is_harmless(const Block& body) {
    for (const Stmt& s : body) {
      if (!std::visit([&](const auto& node) { return harmless(node); }, s.node)) return false;
    }
    return true;
  }
  /// The local arrays behind whose elements there must be zeros.
  std::set<BufferId> read;

 private:
  /// The functions `harmless` return true if a statement changes nothing in such an iteration.
  bool harmless(const Let& x) {
    const std::optional<PastEnd> value = of(x.value);
    if (value) names_[x.scalar] = *value;
    return value.has_value();
  }
  bool harmless(const Accumulate& x) {
    const std::optional<PastEnd> value = of(x.value);
    return value && value->zero;
  }
  bool harmless(const Store& x) {
    const std::optional<PastEnd> value = of(x.value);
    return value && value->zero && is_of_row(x.buffer, x.indices);
  }
  bool harmless(const Comment&) { return true; }
  template <class Node>
  bool harmless(const Node&) {
    return false;
  }

  /// Returns true if the access is to the element of the iteration, in a row that has zeros behind it.
  bool is_of_row(BufferId id, const std::vector<ExprId>& at) {
    const Buffer& b = p_[id];
    if (at.empty() || !is_scalar(p_, at.back(), index_)) return false;
    for (std::size_t k = 0; k + 1 < at.size(); ++k) {
      const std::optional<PastEnd> index = of(at[k]);
      if (!index || index->varies) return false;
    }
    const std::int64_t row = p_[b.axes.back()].constant;
    if (own_.contains(id)) return row == extent_ && row_stride(row, lanes_of(b.element, lanes_)) >= end_;
    return b.used_length == extent_ && row >= end_;
  }

  /// Returns what is known of an expression; nullopt if it must not be evaluated past the end.
  std::optional<PastEnd> of(ExprId e) {
    const auto cached = seen_.find(e);
    if (cached != seen_.end()) return cached->second;
    const std::optional<PastEnd> out = std::visit([&](const auto& node) { return node_of(node); }, p_[e].node);
    seen_.emplace(e, out);
    return out;
  }
  std::optional<PastEnd> node_of(const ConstF& x) { return PastEnd{false, x.value == 0, true}; }
  std::optional<PastEnd> node_of(const ConstI&) { return kSame; }
  std::optional<PastEnd> node_of(const Extent&) { return kSame; }
  std::optional<PastEnd> node_of(const Get& x) {
    if (x.scalar == index_) return PastEnd{true, false, true};
    const auto name = names_.find(x.scalar);
    return name == names_.end() ? kSame : name->second;
  }
  std::optional<PastEnd> node_of(const Load& x) {
    if (is_of_row(x.buffer, x.indices)) {
      if (own_.contains(x.buffer)) read.insert(x.buffer);
      return kZero;
    }
    for (const ExprId at : x.indices) {
      const std::optional<PastEnd> index = of(at);
      if (!index || index->varies) return std::nullopt;
    }
    return kSame;
  }
  std::optional<PastEnd> node_of(const Unary& x) {
    const std::optional<PastEnd> operand = of(x.operand);
    if (!operand || !operand->varies) return operand ? std::optional(kSame) : std::nullopt;
    switch (x.op) {
      case UnaryOp::negate:
      case UnaryOp::to_f64:
      case UnaryOp::to_f32:
      case UnaryOp::abs:
      case UnaryOp::sqrt:
        return operand->zero ? *operand : kAny;
      default:
        return kAny;
    }
  }
  std::optional<PastEnd> node_of(const Binary& x) {
    const std::optional<PastEnd> a = of(x.left), b = of(x.right);
    if (!a || !b) return std::nullopt;
    if (!a->varies && !b->varies) return kSame;
    const bool finite = a->finite && b->finite;
    switch (x.op) {
      // 0 times infinity is NaN, so both factors must be finite.
      case BinaryOp::multiply:
        return PastEnd{true, finite && (a->zero || b->zero), finite};
      case BinaryOp::add:
      case BinaryOp::subtract:
      case BinaryOp::minimum:
      case BinaryOp::maximum:
        return PastEnd{true, a->zero && b->zero, finite};
      // A division of zeros gives NaN.
      case BinaryOp::divide:
        return kAny;
      default:
        return PastEnd{true, false, true};
    }
  }
  std::optional<PastEnd> node_of(const Select& x) {
    const std::optional<PastEnd> condition = of(x.condition), yes = of(x.if_true), no = of(x.if_false);
    if (!condition || !yes || !no) return std::nullopt;
    if (!condition->varies && !yes->varies && !no->varies) return kSame;
    return PastEnd{true, yes->zero && no->zero, yes->finite && no->finite};
  }
  std::optional<PastEnd> node_of(const Random&) { return std::nullopt; }

  const Program& p_;
  const std::set<BufferId>& own_;  // local arrays that can have zeros behind their elements
  const int lanes_;
  const ScalarId index_;  // index of the loop
  const std::int64_t extent_, end_;
  std::map<ScalarId, PastEnd> names_;              // what is known of scalars that the body declares
  std::map<ExprId, std::optional<PastEnd>> seen_;  // results for expressions so far
};

}  // namespace

TripPadding::TripPadding(const Program& program, const Function& function, int lanes)
    : program_(program), lanes_(lanes) {
  for (const BufferId id : function.local_arrays) {
    if (is_real(program[id].element) && program[id].axes.size() == 1) own_.insert(id);
  }
  for (const BufferId id : filled_nonzero(program, function.body))
    own_.erase(id);
}

std::int64_t TripPadding::extra_trips(const For& loop, int lanes) {
  const auto extent = literal(program_, loop.end);
  if (literal(program_, loop.begin) != 0 || !extent || loop.step != 1 || *extent % lanes == 0) return 0;
  const std::int64_t end = (*extent + lanes - 1) / lanes * lanes;
  Body body(program_, own_, lanes_, loop.index, *extent, end);
  if (!body.is_harmless(loop.body)) return 0;
  zero_padded_.insert(body.read.begin(), body.read.end());
  return end - *extent;
}

}  // namespace lehr::native
