// Loops that are emitted as vectors by the lowering, without LLVM's vectoriser.
// The iterations of such a loop are one whole vector, or a few. LLVM's vectoriser would make the same code, but analyse
// and copy the loop first. The lane loops of the vectoriser of Loops (compiler/passes/vectoriser/vectorised.h) are of
// this kind. An expression that is the same in all lanes stays a scalar until it meets a vector (broadcast_scalar()).
#include <llvm/IR/IRBuilder.h>

#include <algorithm>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/native/function_lowering.h"

namespace lehr::native {
namespace {

using namespace loops;

/// Tests whether each statement of a loop can be emitted as vectors.
class VectorCheck {
 public:
  /// `picked`: arrays of which no vectors are to be made (element_arrays()).
  VectorCheck(const Program& program, const For& loop, const std::set<BufferId>& picked)
      : program_(program), element_arrays_(picked), index_(loop.index), own_{loop.index} {}

  /// Returns true if all statements can, and no sum is read inside the loop.
  bool are_lanes(const Block& body) {
    bool good = std::ranges::all_of(body, [&](const Stmt& s) { return is_lane(s); });
    const auto on_scalar = [&](ScalarId s, ScalarUse how) {
      good = good && (how != ScalarUse::read || !sums_.contains(s));
    };
    Walk{program_, [](ExprId) {}, [](BufferId, bool) {}, on_scalar}.block(body);
    return good;
  }

 private:
  /// Returns true if the statement can: a let, a sum of a scalar declared outside, or a store of neighbouring elements.
  bool is_lane(const Stmt& s) {
    if (const auto scalar = declared(s)) own_.insert(*scalar);
    if (const auto* x = std::get_if<Accumulate>(&s.node)) {
      sums_.insert(x->scalar);
      return is_value(x->value) && !own_.contains(x->scalar);
    }
    if (const auto* x = std::get_if<Let>(&s.node)) return is_value(x->value);
    const auto* x = std::get_if<Store>(&s.node);
    return x && is_value(x->value) && is_lane_access(x->buffer, x->indices) && varies(x->indices.back());
  }

  /// Returns true if the expression depends on the loop's index.
  bool varies(ExprId id) const { return mentions(program_, id, own_); }

  /// Returns true if the expression is the index, or the index plus what is the same in all iterations.
  bool runs_along(ExprId id) const {
    if (is_scalar(program_, id, index_)) return true;
    const auto* sum = std::get_if<Binary>(&program_[id].node);
    if (!sum || sum->op != BinaryOp::add) return false;
    return varies(sum->left) ? runs_along(sum->left) && !varies(sum->right) : runs_along(sum->right);
  }

  /// Returns true if the access is to one element in all iterations, or to neighbouring elements in neighbouring
  /// iterations.
  bool is_lane_access(BufferId buffer, const std::vector<ExprId>& at) const {
    if (at.empty()) return true;
    if (std::any_of(at.begin(), at.end() - 1, [&](ExprId e) { return varies(e); })) return false;
    return !varies(at.back()) || (runs_along(at.back()) && !element_arrays_.contains(buffer));
  }

  /// Returns true if the expression can be evaluated for a vector of iterations.
  bool is_value(ExprId id) const {
    const Expr& e = program_[id];
    if (const auto* x = std::get_if<Load>(&e.node)) return is_lane_access(x->buffer, x->indices);
    return !std::holds_alternative<Random>(e.node) && !any_operand(e, [&](ExprId x) { return !is_value(x); });
  }

  const Program& program_;
  const std::set<BufferId>& element_arrays_;
  const ScalarId index_;
  std::set<ScalarId> own_, sums_;  // scalars that depend on the index; scalars that the loop adds to
};

}  // namespace

std::set<BufferId> element_arrays(const Program& program, const Function& function) {
  const std::set<BufferId> own(function.local_arrays.begin(), function.local_arrays.end());
  std::set<BufferId> out;
  const auto on_access = [&](BufferId b, const std::vector<ExprId>& at) {
    if (!at.empty() && literal(program, at.back()) && own.contains(b)) out.insert(b);
  };
  each_statement(function.body, [&](const Stmt& s) {
    if (const auto* x = std::get_if<Store>(&s.node)) on_access(x->buffer, x->indices);
  });
  const auto on_expr = [&](ExprId e) {
    if (const auto* x = std::get_if<Load>(&program[e].node)) on_access(x->buffer, x->indices);
  };
  Walk{program, on_expr, [](BufferId, bool) {}}.block(function.body);
  return out;
}

int FunctionLowering::width_of(const For& node, const LoopShape& shape) const {
  const std::int64_t trips = shape.trips.value_or(0);
  if (!shape.innermost || shape.unroll_now || trips == 0 || shape.tail > 0 || literal(program_, node.begin) != 0)
    return 0;
  const int width = trips % shape.lanes == 0 ? shape.lanes : lanes_;
  // A loop of more vectors than are to be unrolled is left to LLVM.
  const bool few = trips == width || (trips % width == 0 && shape.unroll_later);
  const bool only_adds =
      std::ranges::none_of(node.body, [](const Stmt& s) { return std::holds_alternative<Store>(s.node); });
  if (!few || node.body.size() > program_.thresholds[kWholeBlock] || !(shape.parallel || only_adds)) return 0;
  return VectorCheck(program_, node, element_arrays_).are_lanes(node.body) ? width : 0;
}

void FunctionLowering::lower_as_vectors(const For& node, std::int64_t trips, int width) {
  width_ = static_cast<unsigned>(width);
  begin_sums(node.body);
  lane_index_ = node.index;
  for (std::int64_t first = 0; first < trips; first += width) {
    values_[node.index] = b_.getInt64(static_cast<std::uint64_t>(first));
    lower(node.body);
    for (auto& [scalar, sums] : lane_sums_)
      // The next vector adds to the next of four accumulators, so that it need not wait for the last addition.
      std::ranges::rotate(sums, sums.begin() + 1);
  }
  lane_index_ = {};
  end_sums();
}

bool FunctionLowering::varies_by_lane(const std::vector<ExprId>& indices) const {
  return lane_index_.valid() && !indices.empty() && mentions(program_, indices.back(), {lane_index_});
}

// The address of a vector is that of its first lane.
void FunctionLowering::switch_address_mode() {
  in_address_ = !in_address_;
  evaluated_.swap(other_evaluated_);
}

llvm::Value* FunctionLowering::lane_indices() {
  llvm::Value* first = b_.CreateVectorSplat(width_, values_.at(lane_index_));
  return b_.CreateNSWAdd(first, b_.CreateStepVector(first->getType()));
}

// The first lane of the first accumulator begins with the scalar's value, all others with 0.
void FunctionLowering::begin_sums(const Block& body) {
  for (const Stmt& s : body) {
    const auto* x = std::get_if<Accumulate>(&s.node);
    if (!x || lane_sums_.contains(x->scalar)) continue;
    llvm::Type* element = type(program_[x->scalar].type);
    llvm::Value* zero = llvm::Constant::getNullValue(lane_vector_type(element));
    llvm::Value* before = b_.CreateLoad(element, values_.at(x->scalar));
    lane_sums_[x->scalar] = {b_.CreateInsertElement(zero, before, std::uint64_t{0}), zero, zero, zero};
  }
}

void FunctionLowering::add_to_lanes(ScalarId scalar, llvm::Value* value) {
  llvm::Value*& lanes = lane_sums_.at(scalar).front();
  broadcast_scalar(lanes, value);
  lanes = sum(lanes, value);
}

void FunctionLowering::end_sums() {
  for (const auto& [scalar, sums] : lane_sums_) {
    llvm::Value* lanes = sum(sum(sums[0], sums[1]), sum(sums[2], sums[3]));
    llvm::Value* zero = llvm::Constant::getNullValue(lanes->getType()->getScalarType());
    const bool real = zero->getType()->isFloatingPointTy();
    llvm::Value* total = real ? b_.CreateFAddReduce(llvm::ConstantFP::getNegativeZero(zero->getType()), lanes)
                              : b_.CreateAddReduce(lanes);
    b_.CreateStore(total, values_.at(scalar));
  }
  lane_sums_.clear();
}

// The product of a factor of all lanes and one of a loop around must not be reassociated: LLVM would otherwise form it
// again in each lane.
llvm::Value* FunctionLowering::product(llvm::Value* a, llvm::Value* b) {
  llvm::Value* value = b_.CreateFMul(a, b);
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made && lane_index_.valid()) made->setHasAllowReassoc(false);
  return value;
}

llvm::Type* FunctionLowering::lane_vector_type(llvm::Type* element) const {
  return llvm::FixedVectorType::get(element, width_);
}

void FunctionLowering::broadcast_scalar(llvm::Value*& a, llvm::Value*& b) {
  const bool wide = a->getType()->isVectorTy();
  if (wide == b->getType()->isVectorTy()) return;
  llvm::Value*& narrow = wide ? b : a;
  narrow = b_.CreateVectorSplat(width_, narrow);
}

}  // namespace lehr::native
