// The lowering of one function to LLVM's IR: its state, and one method for each kind of statement and expression.
// The methods are implemented by subject: lower.cpp (entry and memory), outlining.cpp (large blocks),
// lower_expressions.cpp, lower_statements.cpp, lower_transposes.cpp, lower_prefetches.cpp and lower_vectors.cpp.
// LLVM code is emitted at the insertion point of the builder `b_`; a method leaves it where the next code belongs.
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

/// Returns the local arrays of the function of which some load or store has a literal as its last index. Registers hold
/// their elements best one by one, so no loop over them is emitted as vectors.
std::set<loops::BufferId> element_arrays(const loops::Program& program, const loops::Function& function);

/// Lowers one function of a program, or a part of one that is outlined, to LLVM's IR.
class FunctionLowering {
 public:
  /// Prepares the lowering of `source` into `function`, whose entry block `builder` stands in. `lanes`: doubles in a
  /// vector of the target. `spare`: finds loops that may have extra iterations. `picked`: the arrays of
  /// element_arrays(). All references must outlive this object.
  FunctionLowering(const loops::Program& program, const loops::Function& source, llvm::Function& function,
                   llvm::IRBuilderBase& builder, int lanes, TripPadding& spare,
                   const std::set<loops::BufferId>& picked);

  /// Emits the whole function.
  void run();

 private:
  // ---- entry and memory (lower.cpp) ----

  /// Returns LLVM's type of a scalar or an element.
  llvm::Type* type(loops::Type type) const;
  /// Emits loads of the function's parameters from the tables of integers and reals.
  void bind_parameters();
  /// Emits loads of the addresses of the buffers in `uses`, except arrays on the stack, whose addresses exist. Makes an
  /// alias scope for each, by which LLVM sees that accesses of different buffers are independent.
  void bind_buffers(const Uses& uses);
  /// Emits loads of all sizes that are read at run time.
  void bind_sizes();
  /// Emits a load of entry `index` of a table that never changes during a call: of buffers, sizes or parameters.
  llvm::Value* entry_load(llvm::Value* table, std::size_t index, llvm::Type* type);
  /// Allocates a local array on the stack and returns its address. Its rows are padded to whole vectors, unless they
  /// have half a vector or less (row_stride).
  llvm::Value* bind_local_array(const loops::Buffer& array);
  /// Allocates `count` elements of a type on the stack, in the entry block.
  llvm::AllocaInst* stack_slot(llvm::Type* type, std::int64_t count, const std::string& name);
  /// Returns the LLVM value of a size: a constant, or what was loaded at entry.
  llvm::Value* extent(loops::SizeId size);
  /// Returns the extent of an axis as the buffer lies in memory: for the last axis of a local array, that of its padded
  /// rows.
  llvm::Value* stored_extent(loops::BufferId buffer, std::size_t axis);
  /// Returns the number of elements of a buffer in memory, padding included.
  llvm::Value* element_count(loops::BufferId buffer);
  /// Returns the address of the element at a flat position from address `base` of a buffer.
  llvm::Value* element(loops::BufferId buffer, llvm::Value* position, llvm::Value* base);
  /// Returns the address of the element of a buffer at these indices.
  llvm::Value* address(loops::BufferId buffer, const std::vector<loops::ExprId>& indices);
  /// Returns the address of the element at these indices of a buffer that begins at `base`.
  llvm::Value* address(loops::BufferId buffer, const std::vector<loops::ExprId>& indices, llvm::Value* base);
  /// Marks a local array as followed by zeros, and emits the stores of these zeros at the entry.
  void pad_with_zeros(loops::BufferId local_array);
  /// Emits a load from a buffer; `type` may be a vector.
  llvm::Value* load(loops::BufferId buffer, llvm::Value* address, llvm::Type* type);
  /// Emits a store to a buffer; the value may be a vector.
  void store(loops::BufferId buffer, llvm::Value* address, llvm::Value* value);
  /// Attaches the alias scopes of a buffer to an instruction that accesses it, and the mark that the access is free of
  /// dependences if the loop around is parallel.
  void annotate(loops::BufferId buffer, llvm::Instruction& access);

  // ---- parts (outlining.cpp) ----

  /// Emits a block of more than kWholeBlock statements as calls of several functions (parts), each with some of its
  /// statements, because LLVM's time grows faster than the size of a function.
  void outline_block(const loops::Block& block);
  /// Emits a rarely executed block as a call of a function of its own that is optimised little (kQuick or kOnce in
  /// lower.h). It works on copies of small local arrays and slots, which are copied back after the call.
  void call_cold_outlined(std::span<const loops::Stmt> statements);
  /// Emits a function with these statements and a call of it, and returns the status that the call gives; null if the
  /// statements can neither fail nor leave a loop. `tier`: the value of kTier (lower.h) that the function gets; it is
  /// kOnce instead if the statements are outside of loops and contain none. Without a `tier`, the whole pipeline runs.
  llvm::Value* call_outlined(std::span<const loops::Stmt> statements, const char* tier);
  /// Emits code that leaves the loop or the function if the status that an outlined function returned is not 0. A null
  /// `status` emits nothing.
  void exit_on(llvm::Value* status);
  /// Emits the body of an outlined function: binds its arguments, in the order of passed(), and lowers its statements.
  void lower_outlined(std::span<const loops::Stmt> statements, const Uses& uses, const FunctionLowering& caller);
  /// Returns the arguments that an outlined function gets after the four tables: local arrays, then scalars declared
  /// outside of it.
  std::vector<llvm::Value*> passed(const Uses& uses) const;

  // ---- expressions (lower_expressions.cpp) ----

  /// Returns the LLVM value of an expression. Its instructions are emitted at the first use in a statement; later uses
  /// there get the same value.
  llvm::Value* eval(loops::ExprId expr);
  /// Returns the LLVM constant of a real number.
  llvm::Value* lower(const loops::Expr& expr, const loops::ConstF& node);
  /// Returns the LLVM constant of an integer.
  llvm::Value* lower(const loops::Expr& expr, const loops::ConstI& node);
  /// Returns the LLVM value of a scalar variable. Of the index of a loop emitted as vectors, it is the vector of the
  /// indices of all lanes.
  llvm::Value* lower(const loops::Expr& expr, const loops::Get& node);
  /// Returns the LLVM value of a size (the extent of an axis).
  llvm::Value* lower(const loops::Expr& expr, const loops::Extent& node);
  /// Emits a load from a buffer and returns the value. In a loop emitted as vectors it is a vector if the last index
  /// depends on the loop's index.
  llvm::Value* lower(const loops::Expr& expr, const loops::Load& node);
  /// Emits the instructions of an operation of one operand (negation, exp, ...) and returns its value.
  llvm::Value* lower(const loops::Expr& expr, const loops::Unary& node);
  /// Emits the instruction of an operation of two operands (sum, comparison, ...) and returns its value.
  llvm::Value* lower(const loops::Expr& expr, const loops::Binary& node);
  /// Emits a select: a choice between two values, both of which are evaluated. Returns the value.
  llvm::Value* lower(const loops::Expr& expr, const loops::Select& node);
  /// Emits a call of the random number generator and returns its result.
  llvm::Value* lower(const loops::Expr& expr, const loops::Random& node);
  /// Emits an arithmetic operation or comparison of reals. Logical operations throw std::logic_error.
  llvm::Value* on_reals(loops::BinaryOp op, llvm::Value* a, llvm::Value* b);
  /// Emits an arithmetic operation or comparison of integers. Division and logical operations throw std::logic_error.
  llvm::Value* on_integers(loops::BinaryOp op, llvm::Value* a, llvm::Value* b);
  /// Emits `and` or `or`. Other operations throw std::logic_error.
  llvm::Value* on_bools(loops::BinaryOp op, llvm::Value* a, llvm::Value* b);
  /// Returns an address equal to `base` that LLVM cannot recognise as equal, for loads with Load::reload, which must
  /// not be merged with others.
  llvm::Value* laundered_address(llvm::Value* base);
  /// Emits exp(digamma(x) + c) as one call if the exponent has that form, with or without c; null otherwise.
  llvm::Value* exp_of_digamma(loops::ExprId exponent);
  /// Emits a call of a special function; it is inlined later unless the function at hand is optimised little.
  llvm::Value* call_special(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments);
  /// Emits the addition of two reals or two integers, or of vectors of them, and returns the sum.
  llvm::Value* sum(llvm::Value* a, llvm::Value* b);

  // ---- statements (lower_statements.cpp) ----

  /// Returns true if the statement gets little optimisation: it is outside of loops, does little work, and uses no
  /// local arrays.
  bool is_cheap(const loops::Stmt& statement) const;
  /// Emits the statements of a block; as functions of their own if there are more than kWholeBlock.
  void lower(const loops::Block& block);
  /// Emits statements one after another. In code that is optimised little, those that are costly become functions of
  /// their own, which get the whole pipeline.
  void lower(std::span<const loops::Stmt> statements);
  /// Emits a loop: as a transposition (transpose_of), as vectors (width_of), or in the form that shape_of() chooses,
  /// unrolled or as one or two loops with hints for LLVM.
  void lower(const loops::For& node);
  /// Emits the code that evaluates an immutable scalar (`let`).
  void lower(const loops::Let& node);
  /// Emits the allocation of a mutable scalar on the stack, and the store of its initial value.
  void lower(const loops::Local& node);
  /// Emits the assignment of a value to a mutable scalar.
  void lower(const loops::Assign& node);
  /// Emits an addition to a mutable scalar; in a vectorised loop, to the lanes of its sum.
  void lower(const loops::Accumulate& node);
  /// Emits a store to a buffer, or an addition in place.
  void lower(const loops::Store& node);
  /// Emits the assignment of one value to all elements of a buffer.
  void lower(const loops::Fill& node);
  /// Emits a branch (`if`). If it is rarely taken (If::rare), its first block becomes a function of its own, unless
  /// the code around is optimised little anyway.
  void lower(const loops::If& node);
  /// Emits a conditional exit from the innermost loop (`break`).
  void lower(const loops::BreakIf& node);
  /// Emits the return of an error code from the function (`fail`).
  void lower(const loops::Fail& node);
  /// Emits nothing: comments have no code.
  void lower(const loops::Comment&) {}
  /// Emits a rotated loop from `begin` to `end` with hints of `shape`. `body(index)` emits the statements inside.
  template <class Body>
  void emit_loop(llvm::Value* begin, llvm::Value* end, const LoopShape& shape, const Body& body, std::int64_t step = 1);
  /// Emits `trips` copies of the loop's body, with constants for its index.
  void emit_unrolled(const loops::For& node, std::int64_t begin, std::int64_t trips);
  /// A nest of two loops that transposes a matrix, which is emitted in squares of 8 x 8 (lower_transposes.cpp).
  struct Transpose {
    loops::Store store;                     // the innermost statement
    loops::Load load;                       // the value that it stores
    loops::ScalarId outer, inner;           // indices of the outer loop and the inner loop
    std::int64_t outer_trips, inner_trips;  // trip counts of the outer loop and the inner loop
    bool to_rows;  // true: to[l, k] = from[k, l]; false: to[k, l] = from[l, k]; k outer, l inner index
  };
  /// Returns the transposition that the loop is; nullopt if it is none, if its trip counts are not constants that suit
  /// vectors of 8, or if the target has no vectors of 8 doubles.
  std::optional<Transpose> transpose_of(const loops::For& node) const;
  /// Emits a transposition as loads, shuffles and stores of vectors of 8 elements.
  void lower(const Transpose& t);
  /// Emits, at the beginning of iteration `index` of a loop up to `end`, prefetches of the table rows table[data[n],
  /// ...] that a later iteration will access, if the loop stores to some of them (lower_prefetches.cpp).
  void prefetch_rows(const loops::For& loop, llvm::Value* index, llvm::Value* end);
  /// Emits, at the beginning of iteration `index` of a loop `along`, prefetches of the rows of data that the next group
  /// of items will read, where several items run together (For::vectorised).
  void prefetch_next(const loops::For& along, llvm::Value* index);
  /// Emits prefetches of the cache lines of `bytes` bytes from address `first`. `to_store`: they will be written.
  void prefetch(llvm::Value* first, std::int64_t bytes, bool to_store);
  /// Returns the metadata of a loop: hints for LLVM's unroller and vectoriser. `access_group` names the accesses that
  /// are free of loop-carried dependences; null if there are none.
  llvm::MDNode* loop_hints(const LoopShape& shape, llvm::MDNode* access_group);
  /// Appends a new empty basic block to the function and returns it.
  llvm::BasicBlock* new_block(const char* name);

  // ---- iterations of a loop as lanes of a vector (lower_vectors.cpp) ----

  /// Returns how many iterations of the loop each vector takes if the loop is emitted as vectors; 0 if it stays a loop.
  int width_of(const loops::For& node, const LoopShape& shape) const;
  /// Emits a loop as straight code on vectors of `width` iterations.
  void lower_as_vectors(const loops::For& node, std::int64_t trips, int width);
  /// Returns true if an access with these indices takes other elements in other lanes: the last index depends on the
  /// index of the loop that is emitted as vectors.
  bool varies_by_lane(const std::vector<loops::ExprId>& indices) const;
  /// Switches eval() between values (vectors over the lanes) and addresses (of the first lane), with a cache of
  /// evaluated expressions for each.
  void switch_address_mode();
  /// Returns the vector of the loop's index in all lanes: first, first + 1, ...
  llvm::Value* lane_indices();
  /// Begins vector accumulators for the scalars that the body adds to.
  void begin_sums(const loops::Block& body);
  /// Adds a value to the vector accumulator of a scalar.
  void add_to_lanes(loops::ScalarId scalar, llvm::Value* value);
  /// Adds up the lanes of the vector accumulators and stores the totals in the scalars.
  void end_sums();
  /// Emits the multiplication of two reals and returns the product. In a loop emitted as vectors, LLVM may not
  /// reassociate it.
  llvm::Value* product(llvm::Value* a, llvm::Value* b);
  /// Returns the vector type with one element for each lane of the loop.
  llvm::Type* lane_vector_type(llvm::Type* element) const;
  /// If one of two values is a vector and the other is not, repeats the other in all lanes.
  void broadcast_scalar(llvm::Value*& a, llvm::Value*& b);

  const loops::Program& program_;                    // the program that the function belongs to
  const loops::Function& source_;                    // the function that is lowered
  llvm::Function& function_;                         // what it is lowered to, or the part of it
  llvm::IRBuilderBase& b_;                           // emits instructions
  llvm::Module& module_;                             // the module of the function
  int lanes_;                                        // doubles in a vector of the target
  TripPadding& spare_;                               // finds loops that may have extra iterations
  const std::set<loops::BufferId>& element_arrays_;  // arrays of which no vectors are made (element_arrays())
  bool low_tier_;  // true in code that is optimised little: loop bodies are not copied, functions not inlined

  std::unordered_map<loops::ScalarId, llvm::Value*> values_;  // value of a scalar, or the stack slot of a mutable one
  std::unordered_set<loops::ScalarId> is_slot_;               // scalars whose entry in values_ is a slot
  UpperBounds bounds_;                                        // of the indices of loops with constant bounds
  std::vector<llvm::Value*> buffers_;  // by buffer: address of the first element; null if it is not used here
  std::unordered_map<llvm::Value*, llvm::Value*> laundered_addresses_;  // results of laundered_address(), by address
  std::vector<llvm::Value*> sizes_;                                     // by size: its value if it is read at run time
  std::vector<bool> is_local_array_;                                    // by buffer: whether it is a local array
  std::vector<llvm::MDNode*> own_scope_;                                // by buffer: the alias scope of its accesses
  std::vector<llvm::MDNode*> other_scopes_;     // by buffer: the alias scopes of other buffers that are stored to
  std::unordered_set<loops::ScalarId> shared_;  // scalars in slots that one outlined part declares and another uses
  std::unordered_map<loops::ExprId, llvm::Value*> evaluated_;  // values of expressions so far, within one statement
  llvm::BasicBlock* loop_exit_ = nullptr;                      // where a `break` from the innermost loop goes
  loops::ScalarId lane_index_;  // index of the loop that is emitted as vectors; invalid outside of one
  unsigned width_ = 0;          // iterations of that loop in a vector
  bool in_address_ = false;     // true while an address is evaluated: expressions are those of the first lane
  std::unordered_map<loops::ExprId, llvm::Value*> other_evaluated_;   // the cache that switch_address_mode() swaps in
  std::map<loops::ScalarId, std::array<llvm::Value*, 4>> lane_sums_;  // four accumulators for each scalar
  const loops::For* grouped_loop_ = nullptr;  // the loop around whose iterations run together (For::vectorised)
  std::set<std::pair<loops::BufferId, std::int64_t>>
      prefetched_;                        // rows that are prefetched for its next group already
  llvm::MDNode* access_group_ = nullptr;  // mark of accesses in the innermost parallel loop; null outside
};

}  // namespace lehr::native
