// The window of item factors. A run's rows keep the alignment modulo 64 bytes that they have in the whole buffer.
// Generated code then vectorises them in the same way and gives the same bits.
#include "runtime/parallel/item_window.h"

#include "runtime/machine/items.h"

namespace lehr {

ItemWindow::ItemWindow(const machine::Machine& m, std::int64_t items)
    : machine_(m),
      hook_{this, items,
            [](void* context, const machine::ItemRange* runs, std::size_t count) {
              static_cast<ItemWindow*>(context)->assign({runs, count});
            },
            [](void* context, std::size_t run, std::int64_t buffer) {
              const auto& window = *static_cast<ItemWindow*>(context);
              const auto b = static_cast<std::size_t>(buffer);
              return window.store_.reals(b).data() + (*window.begins_[b])[run];
            }},
      begins_(static_cast<std::size_t>(m.model->buffer_count)),
      store_(std::vector<std::size_t>(begins_.size(), 0)),
      capacity_(begins_.size()) {
  for (std::size_t b = 0; b < begins_.size(); ++b) {
    if (machine::is_of_items(m, static_cast<std::int64_t>(b))) begins_[b].emplace();
  }
}

void ItemWindow::assign(std::span<const machine::ItemRange> runs) {
  for (std::size_t b = 0; b < begins_.size(); ++b) {
    if (!begins_[b]) continue;
    begins_[b]->clear();
    const auto buffer = static_cast<std::int64_t>(b);
    const machine::Extent rows = machine_.model->axes[machine_.model->buffers[buffer].first_axis];
    const std::size_t width = machine::row_width(machine_, buffer);
    std::size_t end = 0;
    for (const machine::ItemRange& run : runs) {
      const auto first = static_cast<std::size_t>(machine::row_of(machine_, rows, run.begin)) * width,
                 past = static_cast<std::size_t>(machine::row_of(machine_, rows, run.end)) * width;
      // The address at which the whole array would begin must be aligned, so a gap may be necessary.
      end += (first % kAligned + kAligned - end % kAligned) % kAligned;
      begins_[b]->push_back(end);
      end += past - first;
    }
    if (end <= capacity_[b]) continue;
    capacity_[b] = end + end / 2;
    store_.resize(b, capacity_[b]);
  }
}

}  // namespace lehr
