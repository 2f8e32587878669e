#include "runtime/engine/item_factors.h"

#include <algorithm>

namespace lehr {
namespace {

constexpr std::size_t kAligned =
    8;  // numbers in 64 bytes, which generated code expects buffers to be aligned to

}  // namespace

ItemFactors::ItemFactors(const Memory& memory, const std::vector<std::int64_t>& sizes, ItemSource source,
                         std::int64_t window)
    : memory_(memory),
      sizes_(sizes),
      source_(std::move(source)),
      window_(window),
      no_items_(sizes),
      begins_(source_.arrays.size()),
      store_(std::vector<std::size_t>(source_.arrays.size(), 0)),
      room_(source_.arrays.size()) {
  for (const ItemSize& s : source_.sizes)
    no_items_[s.slot] = 0;
}

std::size_t ItemFactors::at(const Offsets& offsets, std::int64_t item) const {
  auto i = static_cast<std::size_t>(item);
  for (std::size_t buffer : offsets)
    i = static_cast<std::size_t>(memory_.integers(buffer)[i]);
  return i;
}

void ItemFactors::place(std::span<const ItemRange> runs) {
  runs_.assign(runs.begin(), runs.end());
  for (std::size_t a = 0; a < source_.arrays.size(); ++a) {
    const ItemArray& array = source_.arrays[a];
    begins_[a].clear();
    std::size_t end = 0;
    for (const ItemRange& run : runs) {
      const std::size_t first = row(array, run.begin) * array.width, past = row(array, run.end) * array.width;
      // Where the whole array would begin must be aligned.
      if (window_ > 0) end += (first % kAligned + kAligned - end % kAligned) % kAligned;
      begins_[a].push_back(window_ > 0 ? end : first);
      end += past - first;
    }
    if (window_ == 0 || end <= room_[a]) continue;
    room_[a] = end + end / 2;
    store_.resize(a, room_[a]);
  }
}

std::span<double> ItemFactors::factors(std::size_t run, const ItemArray& array) const {
  const auto a = static_cast<std::size_t>(&array - source_.arrays.data());
  const std::size_t length = (row(array, runs_[run].end) - row(array, runs_[run].begin)) * array.width;
  return (window_ > 0 ? store_.reals(a) : memory_.reals(array.buffer)).subspan(begins_[a][run], length);
}

lehr_buffer const* ItemFactors::table(std::size_t run) {
  if (window_ == 0) return memory_.table();
  table_.assign(memory_.table(), memory_.table() + memory_.buffers());
  for (const ItemArray& array : source_.arrays) {
    // The beginning of the whole array lies outside of the window, so the address is not formed as a pointer.
    const auto here = reinterpret_cast<std::uintptr_t>(factors(run, array).data());
    table_[array.buffer] =
        reinterpret_cast<lehr_buffer>(here - 8 * row(array, runs_[run].begin) * array.width);
  }
  return table_.data();
}

bool ItemFactors::repair(std::size_t run) {
  std::vector<lehr_buffer> table(memory_.table(), memory_.table() + memory_.buffers());
  std::vector<std::int64_t> sizes = no_items_;
  for (const ItemArray& array : source_.arrays)
    table[array.buffer] = factors(run, array).data();
  for (const ItemSize& s : source_.sizes)
    sizes[s.slot] =
        static_cast<std::int64_t>(at(s.offsets, runs_[run].end) - at(s.offsets, runs_[run].begin));
  return source_.repair(table.data(), sizes.data());
}

std::int32_t ItemFactors::expectations(std::size_t run) {
  const std::int64_t range[] = {runs_[run].begin, runs_[run].end};
  return source_.expectations(table(run), sizes_.data(), range, nullptr);
}

std::int32_t ItemFactors::form(std::size_t run) {
  const std::int64_t range[] = {runs_[run].begin, runs_[run].end};
  if (const std::int32_t status = source_.fresh(table(run), sizes_.data(), range, nullptr)) return status;
  return repair(run) || source_.always_expectations ? expectations(run) : 0;
}

}  // namespace lehr
