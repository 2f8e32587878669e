// The frame of a vectorised loop: the loop over groups of iterations, its remainder, and the sums after it.
//   fill the private sums with 0
//   for first by width: if (fewer than `fewest` are left): the original body, one by one      else: the group
//   add up the private sums
#include "compiler/passes/vectoriser/vectorised.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vector_statements.h"

namespace lehr::loops {
namespace {

/// Vectorises one loop.
class Vectoriser : VectorStatements {
 public:
  using VectorStatements::VectorStatements;

  /// Returns the statements that replace the loop; new arrays on the stack are appended to `arrays`.
  Block rewrite(std::vector<BufferId>& arrays) {
    Block together = are_full() ? Block{} : open_lanes();
    append(together, how_.transposes_rows ? in_rows() : in_groups(loop_.body));

    const ScalarId rest = scalar(p_[loop_.index].name, Type::i64);
    Block single{Stmt{Let{loop_.index, get(rest)}}};
    append(single, loop_.body);
    Block singles{Stmt{For{rest, get(first_), loop_.end, std::move(single), true, 1}}};
    const ExprId few = less(binary(BinaryOp::subtract, loop_.end, get(first_)), i(how_.min_group));
    Block body{Stmt{If{few, std::move(singles), std::move(together), how_.transposes_rows}}};

    Block out;
    const std::vector<ScalarId> accumulated = accumulated_scalars();
    for (const ScalarId s : accumulated)
      out.emplace_back().node = Fill{private_copy(s), f(0)};
    for (const auto& [sum, copies] : sums_)
      out.emplace_back().node = Fill{copies, f(0)};
    out.push_back(Stmt{For{first_, loop_.begin, loop_.end, std::move(body), false, how_.width, true}});
    for (const auto& [sum, copies] : sums_)
      append(out, added_up(sum, copies));
    for (const ScalarId s : accumulated) {
      for_each_iteration(
          out,
          [&](Block& to) {
            to.emplace_back().node = Accumulate{s, of_iteration(private_copy(s))};
          },
          false);
    }
    arrays.insert(arrays.end(), on_stack_.begin(), on_stack_.end());
    return out;
  }

 private:
  /// Returns the statements that set up the mask and the index of each lane. A lane beyond the end repeats the last
  /// iteration, so that its loads are valid; it is left out of sums.
  Block open_lanes() {
    active_ = array("active", {}, Type::i64);
    of_scalar_[loop_.index] = array(p_[loop_.index].name, {}, Type::i64);
    Block out;
    for_each_iteration(out, [&](Block& lane) {
      const ExprId ahead = binary(BinaryOp::add, get(first_), iteration());
      const ExprId last = binary(BinaryOp::subtract, loop_.end, i(1));
      lane.push_back(put(active_, {}, select(less(ahead, loop_.end), i(1), i(0))));
      lane.push_back(put(of_scalar_.at(loop_.index), {}, binary(BinaryOp::minimum, ahead, last)));
    });
    return out;
  }

  /// Returns the scalars declared outside that iterations add to.
  std::vector<ScalarId> accumulated_scalars() const {
    const SmallIdSet<ScalarId> declares = declared_in(loop_.body);
    SmallIdSet<ScalarId> adds;
    each_statement(loop_.body, [&](const Stmt& s) {
      if (const auto* x = std::get_if<Accumulate>(&s.node)) adds.insert(x->scalar);
    });
    std::vector<ScalarId> out;
    std::ranges::copy_if(adds, std::back_inserter(out), [&](ScalarId s) { return !declares.contains(s); });
    return out;
  }

  /// Returns the body in which rows of shared arrays have private copies, each from the first statement on that
  /// needs it.
  Block in_rows() {
    const std::vector<IterationRow> rows = iteration_rows(p_, varying_, loop_);
    Block out;
    auto from = loop_.body.begin();
    for (std::size_t k = 0; k < loop_.body.size(); ++k) {
      for (const IterationRow& row : rows) {
        if (row.from != k) continue;
        const auto here = loop_.body.begin() + static_cast<std::ptrdiff_t>(k);
        append(out, in_groups(Block(from, here)));
        from = here;
        privatise_row(row, out);
      }
    }
    append(out, in_groups(Block(from, loop_.body.end())));
    for (const IterationRow& row : rows) {
      if (row.copy_out) copy_row(row.array, true, out);
    }
    return out;
  }

  /// Returns the body in the unrolled form with small groups: what waits for functions runs for all iterations
  /// together, other statements for `how_.unroll` at a time, and what all share once.
  Block in_groups(const Block& b) {
    const Mask all{active_, {}, false};
    if (how_.unroll == 0) return block(b, all);
    const auto is_alone = [&](const Stmt& s) { return is_shared(s) || waits_for_functions(p_, s); };
    Block out;
    for (auto s = b.begin(); s != b.end();) {
      if (is_alone(*s)) {
        append(out, block({*s++}, all));
        continue;
      }
      const auto end = std::find_if(s, b.end(), is_alone);
      for (from_ = 0; from_ < how_.width; from_ = to_) {
        to_ = from_ + how_.unroll;
        append(out, block({s, end}, all));
      }
      from_ = 0;
      to_ = how_.width;
      s = end;
    }
    return out;
  }
  /// Returns true if the statement declares a scalar that all iterations share.
  bool is_shared(const Stmt& s) const {
    return !is_private(s) && (std::holds_alternative<Let>(s.node) || std::holds_alternative<Local>(s.node));
  }
};

}  // namespace

bool has_constant_extents(const Program& p, const Buffer& b) {
  return std::ranges::all_of(b.axes, [&](SizeId s) { return p[s].constant >= 0; });
}

std::int64_t constant_extents(const Program& p, BufferId b) {
  std::int64_t out = 1;
  for (const SizeId s : p[b].axes)
    out *= std::max<std::int64_t>(1, p[s].constant);
  return out;
}

bool fits_in_lanes(const Program& p, const Varying& varying) {
  return std::ranges::all_of(varying.arrays,
                             [&](BufferId b) { return constant_extents(p, b) <= p.thresholds[kCopiedElements]; });
}

Block vectorised(Program& program, const For& loop, const Varying& varying, const VectorForm& how,
                 std::vector<BufferId>& arrays) {
  return Vectoriser(program, loop, varying, how).rewrite(arrays);
}

}  // namespace lehr::loops
