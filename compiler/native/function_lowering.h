// State of the lowering of one function; its members are implemented by subject in lower.cpp (entry and
// memory), lower_expressions.cpp, lower_statements.cpp and lower_parts.cpp.
#pragma once
#include <array>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/loops/loops.h"
#include "compiler/native/loop_shape.h"

namespace llvm {
class AllocaInst;
template <typename T>
class ArrayRef;
class BasicBlock;
class Function;
class IRBuilderBase;
class Instruction;
class MDNode;
class Module;
class Type;
class Value;
}  // namespace llvm

namespace lehr::native {

/// The function's own arrays of which elements are named one by one: in registers these are better alone.
std::set<loops::BufferId> picked_arrays(const loops::Program& program, const loops::Function& function);

class FunctionLowering {
 public:
  /// `builder` stands in the entry block of `function`; `lanes` is the number of reals in a vector of the
  /// target; `picked`: picked_arrays.
  FunctionLowering(const loops::Program& program, const loops::Function& source, llvm::Function& function,
                   llvm::IRBuilderBase& builder, int lanes, SpareTurns& spare, const std::set<loops::BufferId>& picked);

  void run();

 private:
  // ---- entry and memory (lower.cpp) ----
  llvm::Type* type(loops::Type type) const;
  void bind_parameters();
  void bind_buffers(const Uses& uses);
  void bind_sizes();
  llvm::Value* entry_load(llvm::Value* table, std::size_t index, llvm::Type* type);
  llvm::Value* bind_local_array(const loops::Buffer& array);
  llvm::AllocaInst* stack_slot(llvm::Type* type, std::int64_t count, const std::string& name);
  llvm::Value* extent(loops::SizeId size);
  llvm::Value* stored_extent(loops::BufferId buffer, std::size_t axis);
  llvm::Value* element_count(loops::BufferId buffer);
  llvm::Value* element(loops::BufferId buffer, llvm::Value* position, llvm::Value* base);
  llvm::Value* address(loops::BufferId buffer, const std::vector<loops::ExprId>& indices);
  llvm::Value* address(loops::BufferId buffer, const std::vector<loops::ExprId>& indices, llvm::Value* base);
  void put_zeros_behind(loops::BufferId local_array);
  llvm::Value* load(loops::BufferId buffer, llvm::Value* address, llvm::Type* type);
  void store(loops::BufferId buffer, llvm::Value* address, llvm::Value* value);
  void annotate(loops::BufferId buffer, llvm::Instruction& access);

  // ---- parts (lower_parts.cpp) ----
  void lower_in_parts(const loops::Block& block);
  void call_rare_part(std::span<const loops::Stmt> statements);
  /// What it returns, null where it always runs to its end.
  llvm::Value* call_part(std::span<const loops::Stmt> statements, const char* effort);
  void leave_on(llvm::Value* status);
  void run_part(std::span<const loops::Stmt> statements, const Uses& uses, const FunctionLowering& caller);
  /// What a part is passed beside the tables: local arrays, then scalars that are declared outside.
  std::vector<llvm::Value*> passed(const Uses& uses) const;

  // ---- expressions (lower_expressions.cpp) ----
  llvm::Value* eval(loops::ExprId expr);
  llvm::Value* lower(const loops::Expr& expr, const loops::ConstF& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::ConstI& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Get& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Extent& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Load& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Unary& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Binary& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Select& node);
  llvm::Value* lower(const loops::Expr& expr, const loops::Random& node);
  llvm::Value* on_reals(loops::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* on_integers(loops::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* on_bools(loops::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* another_address(llvm::Value* base);
  llvm::Value* exp_of_digamma(loops::ExprId exponent);
  llvm::Value* call_special(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Value* sum(llvm::Value* a, llvm::Value* b);

  // ---- statements (lower_statements.cpp) ----
  bool is_little(const loops::Stmt& statement) const;
  void lower(const loops::Block& block);
  void lower(const loops::For& node);
  void lower(const loops::Let& node);
  void lower(const loops::Local& node);
  void lower(const loops::Assign& node);
  void lower(const loops::Accumulate& node);
  void lower(const loops::Store& node);
  void lower(const loops::Fill& node);
  void lower(const loops::If& node);
  void lower(const loops::BreakIf& node);
  void lower(const loops::Fail& node);
  void lower(const loops::Comment&) {}
  template <class Body>
  void emit_loop(llvm::Value* begin, llvm::Value* end, const LoopShape& shape, const Body& body, std::int64_t step = 1);
  void emit_unrolled(const loops::For& node, std::int64_t begin, std::int64_t trips);
  /// A square that is turned over (lower_transposes.cpp), and the indices of its two loops.
  struct Transpose {
    loops::Store store;
    loops::Load load;
    loops::ScalarId along, turn;
    std::int64_t trips, turns;
    bool to_rows;  // to[l, k] = from[k, l]; else to[k, l] = from[l, k]
  };
  std::optional<Transpose> transpose_of(const loops::For& node) const;
  void lower(const Transpose& t);
  /// At the beginning of the turn `index` of a loop up to `end` (lower_prefetches.cpp).
  void prefetch_rows(const loops::For& turns, llvm::Value* index, llvm::Value* end);
  /// At the beginning of a turn of a loop along rows of the data whose turns go together.
  void prefetch_next(const loops::For& along, llvm::Value* index);
  void prefetch(llvm::Value* first, std::int64_t bytes, bool to_store);
  llvm::MDNode* loop_hints(const LoopShape& shape, llvm::MDNode* access_group);
  llvm::BasicBlock* new_block(const char* name);

  // ---- turns of a loop as lanes of a vector (lower_vectors.cpp) ----
  /// Turns that one vector takes; 0 of a loop that remains one.
  int width_of(const loops::For& node, const LoopShape& shape) const;
  void lower_as_vectors(const loops::For& node, std::int64_t trips, int width);
  bool is_of_turn(const std::vector<loops::ExprId>& indices) const;
  void switch_place();
  llvm::Value* numbers_of_turns();
  void begin_sums(const loops::Block& body);
  void add_to_lanes(loops::ScalarId scalar, llvm::Value* value);
  void end_sums();
  llvm::Value* product(llvm::Value* a, llvm::Value* b);
  llvm::Type* lanes_of_turns(llvm::Type* element) const;
  /// Both a vector where one is.
  void make_alike(llvm::Value*& a, llvm::Value*& b);

  const loops::Program& program_;
  const loops::Function& source_;
  llvm::Function& function_;
  llvm::IRBuilderBase& b_;
  llvm::Module& module_;
  int lanes_;
  SpareTurns& spare_;
  const std::set<loops::BufferId>& picked_;
  bool little_;  // nothing is copied or inlined: in all of the function, or in the statement at hand

  std::unordered_map<loops::ScalarId, llvm::Value*> values_;  // its value, or the slot of a mutable one
  std::unordered_set<loops::ScalarId> is_slot_;
  std::vector<llvm::Value*> buffers_;  // by buffer: address of the first element; null when unused
  std::unordered_map<llvm::Value*, llvm::Value*> other_addresses_;  // for what is read again
  std::vector<llvm::Value*> sizes_;                                 // by size: its value when read at run time
  std::vector<bool> is_local_array_;                                // by buffer
  std::vector<llvm::MDNode*> own_scope_;                            // by buffer
  std::vector<llvm::MDNode*> other_scopes_;                         // by buffer: those of all others
  std::unordered_set<loops::ScalarId> shared_;  // declared by one part of a block and used by another: in a slot
  std::unordered_map<loops::ExprId, llvm::Value*> evaluated_;  // within one statement
  llvm::BasicBlock* loop_exit_ = nullptr;                      // of the innermost loop
  loops::ScalarId turn_;                                       // index of the loop whose turns are lanes
  unsigned width_ = 0;                                         // so many
  bool is_place_ = false;                                      // where the first of them is, and not what its number is
  std::unordered_map<loops::ExprId, llvm::Value*> evaluated_elsewhere_;  // of places beside values, or the other way
  std::map<loops::ScalarId, std::array<llvm::Value*, 4>> lane_sums_;     // what the turns add to scalars
  const loops::For* together_ = nullptr;                      // the loop around whose turns go several at a time
  std::set<std::pair<loops::BufferId, std::int64_t>> ahead_;  // rows of its turns that are fetched for its next
  llvm::MDNode* access_group_ = nullptr;                      // of the innermost parallel loop
};

}  // namespace lehr::native
