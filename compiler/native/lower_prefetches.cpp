// Prefetches of rows that later iterations read.
// Rows of tables that data name (table[id[n], ...]) are unpredictable for a processor. They are fetched up to twelve
// iterations ahead. If several items run together, their rows of data end before a processor has learnt the pattern. So
// the rows of the next group are fetched.
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/native/function_lowering.h"
#include "runtime/threshold.h"

namespace lehr::native {
namespace {

/// The bytes of a table that are prefetched ahead; at least one row is.
constexpr Threshold<std::int64_t> kAhead("native.lower_prefetches.ahead", 1 << 11);
/// The most iterations that prefetches run ahead.
constexpr Threshold<std::int64_t> kMostIterations("native.lower_prefetches.most_iterations", 12);

/// A row of a table with two axes that data name: table[data[...index...], ...].
struct Row {
  loops::BufferId table;  // the table
  loops::ExprId at;       // the load of its index from data
  auto operator<=>(const Row&) const = default;
};

/// Returns the bytes of a row of the table.
std::int64_t bytes_of_row(const loops::Program& p, loops::BufferId table) {
  return p[p[table].axes[1]].constant * loops::bytes_of(p[table].element);
}

/// Finds the rows of tables that each iteration of a loop reads or adds to.
class NamedRows {
 public:
  NamedRows(const loops::Program& p, const loops::For& loop) : p_(p), loop_(loop) {
    loops::Walk walk{p, [](loops::ExprId) {}, [](loops::BufferId, bool) {},
                     [&](loops::ScalarId s, loops::ScalarUse how) {
                       if (how != loops::ScalarUse::read) inside_.insert(s);
                     }};
    walk.block(loop.body);
    if (!walk.stops) of(loop.body);
  }

  /// Returns the rows, with true for those that are stored to.
  const std::map<Row, bool>& rows() const { return rows_; }

 private:
  /// Looks at the statements that every iteration executes.
  void of(const loops::Block& block) {
    for (const loops::Stmt& s : block) {
      if (const auto* let = std::get_if<loops::Let>(&s.node)) names_[let->scalar] = let->value;
      if (const auto* loop = std::get_if<loops::For>(&s.node)) of(loop->body);
      else if (!std::holds_alternative<loops::If>(s.node)) of(s);
    }
  }
  /// Looks at the loads and the store of a statement.
  void of(const loops::Stmt& s) {
    loops::each_access(p_, {&s, 1},
                       [&](loops::AccessKind kind, loops::BufferId b, const std::vector<loops::ExprId>& at) {
                         note(b, at, kind != loops::AccessKind::load);
                       });
  }
  /// Adds a row if the access is of the form above and the row is at least a cache line.
  void note(loops::BufferId table, const std::vector<loops::ExprId>& indices, bool stored) {
    if (indices.size() != 2 || bytes_of_row(p_, table) < loops::kCacheLine) return;
    loops::ExprId at = indices[0];
    if (const auto* name = std::get_if<loops::Get>(&p_[at].node)) {
      const auto value = names_.find(name->scalar);
      if (value == names_.end()) return;
      at = value->second;
    }
    const auto* row = std::get_if<loops::Load>(&p_[at].node);
    if (!row || p_[row->buffer].role != loops::Role::data || !is_of_iteration(*row)) return;
    rows_[{table, at}] |= stored;
  }
  /// Returns true if the index is that of the iteration: it depends on the loop's index and on nothing that the body
  /// changes.
  bool is_of_iteration(const loops::Load& row) const {
    bool uses_index = false, changes = false;
    loops::Walk walk{p_, [](loops::ExprId) {}, [](loops::BufferId, bool) {},
                     [&](loops::ScalarId s, loops::ScalarUse) {
                       uses_index = uses_index || s == loop_.index;
                       changes = changes || inside_.contains(s);
                     }};
    for (const loops::ExprId at : row.indices)
      walk.expr(at);
    return uses_index && !changes;
  }

  const loops::Program& p_;
  const loops::For& loop_;
  std::set<loops::ScalarId> inside_;                // scalars that an iteration declares or changes
  std::map<loops::ScalarId, loops::ExprId> names_;  // values of the lets of the body
  std::map<Row, bool> rows_;
};

/// Returns the k of an expression index + k; nullopt for other expressions.
std::optional<std::int64_t> after(const loops::Program& p, loops::ExprId e, loops::ScalarId index) {
  if (is_scalar(p, e, index)) return 0;
  const auto* sum = std::get_if<loops::Binary>(&p[e].node);
  if (!sum || sum->op != loops::BinaryOp::add || !is_scalar(p, sum->left, index)) return {};
  const auto* k = std::get_if<loops::ConstI>(&p[sum->right].node);
  return k ? std::optional(k->value) : std::nullopt;
}

/// Returns the rows data[i + k, ...], where i is the index of `grouped`, of which an iteration of the loop `along`
/// reads an element: by array, the numbers k. Loops inside `along` are left out.
std::map<loops::BufferId, std::set<std::int64_t>> rows_along(const loops::Program& p, const loops::For& grouped,
                                                             const loops::For& along) {
  std::map<loops::BufferId, std::set<std::int64_t>> out;
  loops::Walk walk{p,
                   [&](loops::ExprId e) {
                     const auto* load = std::get_if<loops::Load>(&p[e].node);
                     if (!load || load->indices.size() != 2 || p[load->buffer].role != loops::Role::data) return;
                     if (!is_scalar(p, load->indices[1], along.index)) return;
                     if (const auto k = after(p, load->indices[0], grouped.index)) out[load->buffer].insert(*k);
                   },
                   [](loops::BufferId, bool) {}};
  for (const loops::Stmt& s : along.body) {
    if (std::holds_alternative<loops::For>(s.node)) continue;
    std::visit([&](const auto& node) { walk.statement(node); }, s.node);
  }
  return out;
}

}  // namespace

void FunctionLowering::prefetch(llvm::Value* first, std::int64_t bytes, bool to_store) {
  for (std::int64_t at = 0; at < bytes; at += loops::kCacheLine) {
    llvm::Value* line = b_.CreateConstGEP1_64(b_.getInt8Ty(), first, static_cast<std::uint64_t>(at));
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {line->getType()},
                       {line, b_.getInt32(to_store ? 1 : 0), b_.getInt32(3), b_.getInt32(1)});
  }
}

void FunctionLowering::prefetch_rows(const loops::For& loop, llvm::Value* index, llvm::Value* end) {
  if (loop.step != 1 || std::holds_alternative<loops::ConstI>(program_[loop.end].node)) return;
  const NamedRows rows(program_, loop);
  // Tables that are only read stay in the cache, so they are fetched only if others are added to.
  if (std::ranges::none_of(rows.rows(), [](const auto& row) { return row.second; })) return;
  // A large body is emitted as functions of their own, and only these have the addresses of its arrays.
  const auto is_here = [&](loops::BufferId b) { return buffers_[b.index()] != nullptr; };
  for (const auto& [row, stored] : rows.rows()) {
    bool all_here = is_here(row.table);
    loops::Walk{program_, [](loops::ExprId) {}, [&](loops::BufferId b, bool) { all_here = all_here && is_here(b); }}
        .expr(row.at);
    if (!all_here) continue;
    const std::int64_t bytes = bytes_of_row(program_, row.table);
    const std::int64_t ahead =
        std::clamp<std::int64_t>(program_.thresholds[kAhead] / bytes, 1, program_.thresholds[kMostIterations]);
    evaluated_.clear();
    values_[loop.index] = b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, b_.CreateNSWAdd(index, b_.getInt64(static_cast<std::uint64_t>(ahead))),
        b_.CreateNSWSub(end, b_.getInt64(1)));
    prefetch(
        element(row.table, b_.CreateNSWMul(eval(row.at), stored_extent(row.table, 1)), buffers_[row.table.index()]),
        bytes, stored);
  }
  values_[loop.index] = index;
  evaluated_.clear();
}

void FunctionLowering::prefetch_next(const loops::For& along, llvm::Value* index) {
  if (!grouped_loop_) return;
  const auto number = [&](std::int64_t value) { return b_.getInt64(static_cast<std::uint64_t>(value)); };
  for (const auto& [data, row_offsets] : rows_along(program_, *grouped_loop_, along)) {
    // The rows of a group are contiguous. An iteration that reads one column of them fetches as many bytes of the next
    // group.
    const std::int64_t bytes = static_cast<std::int64_t>(row_offsets.size()) * loops::bytes_of(program_[data].element);
    if (bytes < loops::kCacheLine || !prefetched_.insert({data, *row_offsets.begin()}).second) continue;
    llvm::Value* next =
        b_.CreateAdd(values_.at(grouped_loop_->index), number(grouped_loop_->step + *row_offsets.begin()));
    llvm::Value* base = buffers_[data.index()];
    if (!base) continue;
    llvm::Value* offset =
        b_.CreateMul(next, b_.CreateMul(stored_extent(data, 1), number(loops::bytes_of(program_[data].element))));
    prefetch(b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateAdd(offset, b_.CreateMul(index, number(bytes)))), bytes,
             false);
  }
}

}  // namespace lehr::native
