// The pass `pad-rows`: padding of the rows of tables to whole cache lines.
// A row of 100 doubles takes twelve and a half lines of 64 bytes, so that in every second row vectors would straddle
// two lines. With 104 elements to a row every row begins where a line begins.
//
// Padding of the rows of tables.
// Only arrays that the code fills qualify: no stored data and no array that callers lay out. A Fill with another number
// than 0 would write into the padding, so arrays with one are left out.
#include "compiler/passes/passes.h"

#include <set>

#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/loops/facts.h"

namespace lehr::loops {
namespace {

/// Returns the arrays that functions store to, element by element or with zeros.
SmallIdSet<BufferId> filled_by_code(const Program& p) {
  Effects all;
  std::set<BufferId> filled_with_nonzero;
  for (const Function& f : p.functions) {
    all.add(effects_of(p, f.body));
    filled_with_nonzero.merge(filled_nonzero(p, f.body));
  }
  erase_if(all.stores, [&](BufferId b) { return filled_with_nonzero.contains(b); });
  return all.stores;
}

/// Returns a size of at least `size` elements that makes whole cache lines of `in_line` elements each; it is added to
/// the program if it is new.
SizeId whole_lines(Program& p, SizeId size, std::int64_t in_line) {
  const Size before = p[size];
  const std::int64_t extent = (before.constant + in_line - 1) / in_line * in_line;
  if (extent == before.constant) return size;
  for (std::size_t k = 0; k < p.sizes.size(); ++k) {
    if (p.sizes[k].constant == extent && p.sizes[k].name == before.name + " padded") return SizeId(k);
  }
  p.sizes.push_back({before.name + " padded", extent});
  return SizeId(p.sizes.size() - 1);
}

}  // namespace

/// Returns the program with padded tables. A table is padded if the code fills it element by element or with zeros. It
/// must have at least two axes, and rows of a constant length of at least one cache line. The elements behind a row
/// stay 0, and Buffer::used_length has the length of a row without them.
Program pad_rows(Program p) {
  for (const BufferId id : filled_by_code(p)) {
    const Buffer table = p[id];
    if (table.role != Role::table || !is_real(table.element) || table.axes.size() < 2) continue;
    const std::int64_t in_line = kCacheLine / bytes_of(table.element), extent = p[table.axes.back()].constant;
    if (extent < in_line) continue;
    p.buffers[id.index()].used_length = extent;
    p.buffers[id.index()].axes.back() = whole_lines(p, table.axes.back(), in_line);
  }
  return p;
}

}  // namespace lehr::loops
