// Loops that turn a square of an array over, which otherwise read or write one number of a line of memory at a time:
//   for k: for l in 0 .. lanes: to[l, k] = from[..., k, l]
// becomes loads, permutations and stores of whole vectors.
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <array>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/native/function_lowering.h"

namespace lehr::native {
namespace {

constexpr int kLanes = 8;
using Rows = std::array<llvm::Value*, kLanes>;

/// Number i of vector l is number l of vector i.
void transpose(llvm::IRBuilderBase& b, Rows& rows) {
  constexpr std::array<std::array<int, kLanes>, 6> kHalves = {{{0, 8, 2, 10, 4, 12, 6, 14},
                                                               {1, 9, 3, 11, 5, 13, 7, 15},
                                                               {0, 1, 8, 9, 4, 5, 12, 13},
                                                               {2, 3, 10, 11, 6, 7, 14, 15},
                                                               {0, 1, 2, 3, 8, 9, 10, 11},
                                                               {4, 5, 6, 7, 12, 13, 14, 15}}};
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const std::size_t apart = std::size_t{1} << stage;
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (i & apart) continue;
      llvm::Value *first = rows[i], *second = rows[i + apart];
      rows[i] = b.CreateShuffleVector(first, second, kHalves[2 * stage]);
      rows[i + apart] = b.CreateShuffleVector(first, second, kHalves[2 * stage + 1]);
    }
  }
}

bool mentions(const loops::Program& program, loops::ExprId e, loops::ScalarId scalar) {
  bool found = false;
  loops::Walk walk{program, [](loops::ExprId) {}, [](loops::BufferId, bool) {},
                   [&](loops::ScalarId s, loops::Mention) { found = found || s == scalar; }};
  walk.expr(e);
  return found;
}

}  // namespace

std::optional<FunctionLowering::Transpose> FunctionLowering::transpose_of(const loops::For& node) const {
  const auto is = [&](loops::ExprId e, loops::ScalarId s) { return loops::is_scalar(program_, e, s); };
  const auto* inner = node.body.size() == 1 ? std::get_if<loops::For>(&node.body[0].node) : nullptr;
  const auto* store = inner && inner->body.size() == 1 ? std::get_if<loops::Store>(&inner->body[0].node) : nullptr;
  const auto* load = store && !store->accumulate ? std::get_if<loops::Load>(&program_[store->value].node) : nullptr;
  if (!load || lanes_ != kLanes || store->indices.size() != 2 || load->indices.size() < 2) return std::nullopt;
  const auto trips = shape_of(program_, node, lanes_).trips, turns = shape_of(program_, *inner, lanes_).trips;
  const loops::Type element = program_[store->buffer].element;
  // Rows of up to half a vector are not padded.
  const bool fits = turns == kLanes && trips && *trips > kLanes / 2 && is_local_array_[store->buffer.index()] &&
                    loops::is_real(element) && element == program_[load->buffer].element;
  const std::size_t last = load->indices.size() - 1;
  if (!fits || !is(store->indices[0], inner->index) || !is(store->indices[1], node.index) ||
      !is(load->indices[last], inner->index) || !is(load->indices[last - 1], node.index) ||
      std::any_of(load->indices.begin(), load->indices.end() - 2, [&](loops::ExprId e) {
        return mentions(program_, e, node.index) || mentions(program_, e, inner->index);
      }))
    return std::nullopt;
  return Transpose{*store, *load, node.index, inner->index, *trips};
}

void FunctionLowering::lower(const Transpose& t) {
  auto* vector = llvm::FixedVectorType::get(type(program_[t.store.buffer].element), kLanes);
  const llvm::Align align(vector->getScalarSizeInBits() / 8);
  const auto at = [&](loops::BufferId buffer, const std::vector<loops::ExprId>& indices, std::int64_t k,
                      std::size_t lane) {
    evaluated_.clear();
    values_[t.along] = b_.getInt64(static_cast<std::uint64_t>(k));
    values_[t.turn] = b_.getInt64(lane);
    return address(buffer, indices);
  };
  for (std::int64_t first = 0; first < t.trips; first += kLanes) {
    Rows rows;
    rows.fill(llvm::PoisonValue::get(vector));
    for (std::int64_t k = first; k < std::min(t.trips, first + kLanes); ++k) {
      auto* loaded = b_.CreateAlignedLoad(vector, at(t.load.buffer, t.load.indices, k, 0), align);
      annotate(t.load.buffer, *loaded);
      rows[static_cast<std::size_t>(k - first)] = loaded;
    }
    transpose(b_, rows);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      annotate(t.store.buffer,
               *b_.CreateAlignedStore(rows[lane], at(t.store.buffer, t.store.indices, first, lane), align));
  }
  evaluated_.clear();
}

}  // namespace lehr::native
