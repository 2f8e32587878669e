// Transposition of matrices in squares of 8 x 8.
// Such a loop nest otherwise reads or writes one number of a cache line at a time:
//   for k: for l in 0 .. lanes: to[..., l, ..., k] = from[..., k, l]
//   for k: for l in 0 .. lanes: to[..., k, l] = from[..., l, ..., k]
// Each square becomes eight loads of vectors, three stages of shuffles, and eight stores of vectors.
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <array>

#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/native/function_lowering.h"
#include "compiler/native/padded_arrays.h"
#include "runtime/threshold.h"

namespace lehr::native {
namespace {

/// The elements of a side of a square: those of a vector of doubles.
using loops::kLanes;
/// The least trip count of the outer loop of a nest that is emitted as squares.
constexpr Threshold<std::int64_t> kFewest("native.lower_transposes.fewest", 2);
/// The rows of a square, as vectors.
using SquareRows = std::array<llvm::Value*, kLanes>;

/// Transposes a square: element i of row l becomes element l of row i.
void transpose(llvm::IRBuilderBase& b, SquareRows& rows) {
  // Stage s exchanges off-diagonal blocks of 2^s x 2^s between rows that are 2^s apart.
  constexpr std::array<std::array<int, kLanes>, 6> kHalves = {{{0, 8, 2, 10, 4, 12, 6, 14},
                                                               {1, 9, 3, 11, 5, 13, 7, 15},
                                                               {0, 1, 8, 9, 4, 5, 12, 13},
                                                               {2, 3, 10, 11, 6, 7, 14, 15},
                                                               {0, 1, 2, 3, 8, 9, 10, 11},
                                                               {4, 5, 6, 7, 12, 13, 14, 15}}};
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const std::size_t distance = std::size_t{1} << stage;
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (i & distance) continue;
      llvm::Value *first = rows[i], *second = rows[i + distance];
      rows[i] = b.CreateShuffleVector(first, second, kHalves[2 * stage]);
      rows[i + distance] = b.CreateShuffleVector(first, second, kHalves[2 * stage + 1]);
    }
  }
}

/// Returns the first `count` elements of a vector, in a vector of `width` elements.
llvm::Value* resized(llvm::IRBuilderBase& b, llvm::Value* vector, unsigned count, unsigned width) {
  const auto* from = llvm::cast<llvm::FixedVectorType>(vector->getType());
  if (from->getNumElements() == width) return vector;
  std::vector<int> mask(width, -1);
  for (unsigned k = 0; k < count; ++k)
    mask[k] = static_cast<int>(k);
  return b.CreateShuffleVector(vector, mask);
}

/// Returns true if the indices are [..., outer, inner], and neither index is in those before.
bool is_straight(const loops::Program& p, const std::vector<loops::ExprId>& at, loops::ScalarId outer,
                 loops::ScalarId inner) {
  return at.size() >= 2 && loops::is_scalar(p, at[at.size() - 2], outer) && loops::is_scalar(p, at.back(), inner) &&
         std::none_of(at.begin(), at.end() - 2, [&](loops::ExprId e) {
           return mentions(p, e, {outer, inner});
         });
}

/// Returns true if the indices are [..., inner, ..., outer] or [..., x + inner, ..., outer], with both indices nowhere
/// else.
bool is_transposed(const loops::Program& p, const std::vector<loops::ExprId>& at, loops::ScalarId outer,
                   loops::ScalarId inner) {
  const auto is_inner = [&](loops::ExprId e) {
    const auto* sum = std::get_if<loops::Binary>(&p[e].node);
    return loops::is_scalar(p, e, inner) ||
           (sum && sum->op == loops::BinaryOp::add && loops::is_scalar(p, sum->right, inner) &&
            !mentions(p, sum->left, {outer, inner}));
  };
  const auto others = [&](loops::ExprId e) { return mentions(p, e, {outer, inner}); };
  if (at.size() < 2 || !loops::is_scalar(p, at.back(), outer)) return false;
  const auto row = std::find_if(at.begin(), at.end() - 1, others);
  return row != at.end() - 1 && is_inner(*row) && std::none_of(row + 1, at.end() - 1, others);
}

}  // namespace

std::optional<FunctionLowering::Transpose> FunctionLowering::transpose_of(const loops::For& node) const {
  const auto* inner = node.body.size() == 1 ? std::get_if<loops::For>(&node.body[0].node) : nullptr;
  const auto* store = inner && inner->body.size() == 1 ? std::get_if<loops::Store>(&inner->body[0].node) : nullptr;
  const auto* load = store && !store->accumulate ? std::get_if<loops::Load>(&program_[store->value].node) : nullptr;
  if (!load || lanes_ != kLanes) return std::nullopt;
  // The squares count from 0, and are read whole before they are stored.
  if (literal(program_, node.begin) != 0 || literal(program_, inner->begin) != 0) return std::nullopt;
  if (load->buffer == store->buffer) return std::nullopt;
  const auto outer_trips = shape_of(program_, node, lanes_).trips,
             inner_trips = shape_of(program_, *inner, lanes_).trips;
  const loops::Type element = program_[store->buffer].element;
  const bool fits = inner_trips && *inner_trips > 0 && *inner_trips % kLanes == 0 && outer_trips &&
                    *outer_trips >= program_.thresholds[kFewest] && loops::is_real(element) &&
                    element == program_[load->buffer].element;
  if (!fits) return std::nullopt;
  const bool to_rows = is_transposed(program_, store->indices, node.index, inner->index) &&
                       is_straight(program_, load->indices, node.index, inner->index);
  const bool from_rows = is_straight(program_, store->indices, node.index, inner->index) &&
                         is_transposed(program_, load->indices, node.index, inner->index);
  if (!to_rows && !from_rows) return std::nullopt;
  return Transpose{*store, *load, node.index, inner->index, *outer_trips, *inner_trips, to_rows};
}

void FunctionLowering::lower(const Transpose& t) {
  llvm::Type* element = type(program_[t.store.buffer].element);
  const llvm::Align align(element->getScalarSizeInBits() / 8);
  const auto at = [&](loops::BufferId buffer, const std::vector<loops::ExprId>& indices, std::int64_t k,
                      std::int64_t l) {
    evaluated_.clear();
    values_[t.outer] = b_.getInt64(static_cast<std::uint64_t>(k));
    values_[t.inner] = b_.getInt64(static_cast<std::uint64_t>(l));
    return address(buffer, indices);
  };
  // Emits the square that begins at `first` of the outer index and `inner` of the inner one.
  const auto square = [&](std::int64_t first, std::int64_t inner) {
    const std::int64_t count = std::min<std::int64_t>(kLanes, t.outer_trips - first);
    // The first element of vector number r: `across` steps along the inner index, otherwise along the outer one.
    const auto position = [&](bool across, std::int64_t r) {
      return across ? std::pair(first, inner + r) : std::pair(first + r, inner);
    };
    const auto width = static_cast<unsigned>(count);
    // Stores of all lanes write `kLanes - count` elements behind the row, which only padding may have.
    const loops::Buffer& to = program_[t.store.buffer];
    const std::int64_t extent = program_[to.axes.back()].constant;
    const bool has_padding = is_local_array_[t.store.buffer.index()] && extent == t.outer_trips &&
                             row_stride(extent, lanes_of(to.element, lanes_)) >= first + kLanes;
    SquareRows rows;
    rows.fill(llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kLanes)));
    for (std::int64_t r = 0; r < (t.to_rows ? count : kLanes); ++r) {
      const auto [k, l] = position(!t.to_rows, r);
      auto* vector = llvm::FixedVectorType::get(element, t.to_rows ? kLanes : width);
      auto* loaded = b_.CreateAlignedLoad(vector, at(t.load.buffer, t.load.indices, k, l), align);
      annotate(t.load.buffer, *loaded);
      rows[static_cast<std::size_t>(r)] = resized(b_, loaded, width, kLanes);
    }
    transpose(b_, rows);
    for (std::int64_t r = 0; r < (t.to_rows ? kLanes : count); ++r) {
      const auto [k, l] = position(t.to_rows, r);
      llvm::Value* row = rows[static_cast<std::size_t>(r)];
      if (t.to_rows && !has_padding) row = resized(b_, row, width, width);
      annotate(t.store.buffer, *b_.CreateAlignedStore(row, at(t.store.buffer, t.store.indices, k, l), align));
    }
  };
  for (std::int64_t first = 0; first < t.outer_trips; first += kLanes) {
    for (std::int64_t inner = 0; inner < t.inner_trips; inner += kLanes)
      square(first, inner);
  }
  evaluated_.clear();
}

}  // namespace lehr::native
