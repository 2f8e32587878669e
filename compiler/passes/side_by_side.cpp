#include "compiler/passes/side_by_side.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/passes/turn_statements.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kWidest = 1024;  // numbers of an array of a lane beside axes of unknown size

class SideBySide : TurnStatements {
 public:
  using TurnStatements::TurnStatements;

  Block take(std::vector<BufferId>& arrays) {
    Block together = are_full() ? Block{} : open_lanes();
    if (how_.rows_ahead) turn_items_over(together);
    append(together, in_groups(loop_.body));

    const ScalarId rest = scalar(p_[loop_.index].name, Type::i64);
    Block single{Stmt{Let{loop_.index, get(rest)}}};
    append(single, loop_.body);
    Block singles{Stmt{For{rest, get(first_), loop_.end, std::move(single), true, 1}}};
    const ExprId few = less(binary(BinaryOp::subtract, loop_.end, get(first_)), i(how_.fewest));
    Block body{Stmt{If{few, std::move(singles), std::move(together), how_.rows_ahead}}};

    Block out;
    for (const auto& [sum, apart] : sums_)
      out.emplace_back().node = Fill{apart, f(0)};
    out.push_back(Stmt{For{first_, loop_.begin, loop_.end, std::move(body), false, how_.turns, true}});
    for (const auto& [sum, apart] : sums_)
      append(out, added_up(sum, apart));
    arrays.insert(arrays.end(), on_stack_.begin(), on_stack_.end());
    return out;
  }

 private:
  /// Lanes beyond the end do what the last one does, but for sums.
  Block open_lanes() {
    active_ = array("active", {}, Type::i64);
    of_scalar_[loop_.index] = array(p_[loop_.index].name, {}, Type::i64);
    Block out;
    turns(out, [&](Block& lane) {
      const ExprId ahead = binary(BinaryOp::add, get(first_), turn());
      const ExprId last = binary(BinaryOp::subtract, loop_.end, i(1));
      lane.push_back(put(active_, {}, select(less(ahead, loop_.end), i(1), i(0))));
      lane.push_back(put(of_scalar_.at(loop_.index), {}, binary(BinaryOp::minimum, ahead, last)));
    });
    return out;
  }

  /// What does not wait for functions, for some turns after the other; what all share, once.
  Block in_groups(const Block& b) {
    const Mask all{active_, {}, false};
    if (how_.together == 0) return block(b, all);
    const auto is_alone = [&](const Stmt& s) { return is_shared(s) || waits_for_functions(p_, s); };
    Block out;
    for (auto s = b.begin(); s != b.end();) {
      if (is_alone(*s)) {
        append(out, block({*s++}, all));
        continue;
      }
      const auto end = std::find_if(s, b.end(), is_alone);
      for (from_ = 0; from_ < how_.turns; from_ = to_) {
        to_ = from_ + how_.together;
        append(out, block({s, end}, all));
      }
      from_ = 0;
      to_ = how_.turns;
      s = end;
    }
    return out;
  }
  bool is_shared(const Stmt& s) const {
    return !is_own(s) && (std::holds_alternative<Let>(s.node) || std::holds_alternative<Local>(s.node));
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
  return std::ranges::all_of(varying.arrays, [&](BufferId b) { return constant_extents(p, b) <= kWidest; });
}

Block side_by_side(Program& program, const For& loop, const Varying& varying, const Arrangement& how,
                   std::vector<BufferId>& arrays) {
  return SideBySide(program, loop, varying, how).take(arrays);
}

}  // namespace lehr::loops
