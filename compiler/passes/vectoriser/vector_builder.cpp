// Arrays by iteration, and statements repeated for iterations (vectorised.h).
#include "compiler/passes/vectoriser/vector_builder.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/analysis/rewrite.h"

namespace lehr::loops {

VectorBuilder::VectorBuilder(Program& program, const VectorForm& how) : ExprMaker(program), how_(how), to_(how.width) {
  p_.sizes.push_back({"group", how.width, -1});
  group_size_ = SizeId(p_.sizes.size() - 1);
  first_ = scalar("first");
}

BufferId VectorBuilder::array(const std::string& stem, std::vector<SizeId> axes, Type type) {
  axes.insert(unrolled() ? axes.begin() : axes.end(), group_size_);
  p_.buffers.push_back({fmt::format("group.{}.{}", stem, p_.buffers.size()), type, Role::scratch, std::move(axes)});
  const BufferId out(p_.buffers.size() - 1);
  p_.buffers.back().exact = how_.transposes_rows;
  const std::int64_t elements = constant_extents(p_, out);
  if (has_constant_extents(p_, p_[out]) && on_stack_elements_ + elements <= p_.thresholds[kOnStack]) {
    on_stack_elements_ += elements;
    on_stack_.push_back(out);
  }
  return out;
}

BufferId VectorBuilder::array_as_given(std::string name, std::vector<SizeId> axes, Type type) {
  p_.buffers.push_back({std::move(name), type, Role::scratch, std::move(axes)});
  on_stack_.emplace_back(p_.buffers.size() - 1);
  return on_stack_.back();
}

void VectorBuilder::for_each_iteration(Block& out, const EachIteration& each, bool independent) {
  if (!unrolled()) return in_loop(out, each, independent);
  for (iteration_ = from_; iteration_ < to_; ++iteration_)
    each(out);
}

void VectorBuilder::in_loop(Block& out, const EachIteration& each, bool independent) {
  in_loop_ = true;
  lane_index_ = scalar("lane");
  Block body;
  each(body);
  in_loop_ = false;
  if (!body.empty()) out.push_back(Stmt{For{lane_index_, i(from_), i(to_), std::move(body), independent, 1}});
}

std::int64_t VectorBuilder::iteration_key() const {
  // Keys of loops over lanes follow after the numbers of unrolled iterations.
  return is_number() ? iteration_ : how_.width + static_cast<std::int64_t>(lane_index_.index());
}

std::vector<ExprId> VectorBuilder::with_iteration(BufferId b, std::vector<ExprId> at) {
  at.insert(p_[b].axes.front() == group_size_ ? at.begin() : at.end(), iteration());
  return at;
}

}  // namespace lehr::loops
