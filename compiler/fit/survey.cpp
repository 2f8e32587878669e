// Merges the surveys of consecutive ranges of items, and keeps the index of rows small.
//
// The index has the number of elements before every k-th item, k a power of two. When it becomes too long, k doubles
// and every other entry goes. Two indices are merged at the larger k; entries of the second are shifted by the elements
// of the first.
#include "compiler/fit/survey.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/files/zip.h"
#include "runtime/threshold.h"

namespace lehr {
namespace {

/// The maximum length of the index of each nested plate.
constexpr Threshold<std::size_t> kMaxIndexEntries("survey.most_places", 65536);

/// Merges what was found of arrays in files.
void add(std::map<std::string, SurveyedArray>& to, const std::map<std::string, SurveyedArray>& more) {
  for (const auto& [name, array] : more) {
    SurveyedArray& a = to[name];
    a.largest = std::max(a.largest, array.largest);
    a.levels.insert(array.levels.begin(), array.levels.end());
    a.has_numeric = a.has_numeric || array.has_numeric;
  }
}

/// Merges what was found of bound arrays.
void add(std::vector<CheckedArray>& to, const std::vector<CheckedArray>& more) {
  for (std::size_t k = 0; k < to.size(); ++k) {
    to[k].moments.add(more[k].moments);
    to[k].has_missing = to[k].has_missing || more[k].has_missing;
    to[k].has_barren = to[k].has_barren || more[k].has_barren;
    to[k].is_d_connected = to[k].is_d_connected || more[k].is_d_connected;
    if (!more[k].d_connected.empty()) to[k].add_d_connected(more[k].d_connected);
  }
}

}  // namespace

void CheckedArray::add_d_connected(const std::vector<double>& mask) {
  d_connected.resize(std::max(d_connected.size(), mask.size()), 0.0);
  for (std::size_t i = 0; i < mask.size(); ++i)
    d_connected[i] = std::max(d_connected[i], mask[i]);
}

void DataSurvey::coarsen_index(std::int64_t new_stride) {
  // The first entry belongs to the first multiple of `stride` in this range.
  const std::int64_t first = (begin + stride - 1) / stride * stride;
  for (std::vector<std::int64_t>& r : item_offsets) {
    std::vector<std::int64_t> retained;
    for (std::size_t i = 0; i < r.size(); ++i)
      if ((first + static_cast<std::int64_t>(i) * stride) % new_stride == 0) retained.push_back(r[i]);
    r = std::move(retained);
  }
  stride = new_stride;
}

void DataSurvey::thin() {
  while (std::ranges::any_of(item_offsets,
                             [](const auto& r) { return r.size() > thresholds_of_environment()[kMaxIndexEntries]; }))
    coarsen_index(2 * stride);
}

void DataSurvey::add(const DataSurvey& next) {
  DataSurvey more = next;
  const std::int64_t now = std::max(stride, more.stride);
  coarsen_index(now);
  more.coarsen_index(now);
  lehr::add(arrays, more.arrays);
  lehr::add(givens, more.givens);
  lehr::add(observed, more.observed);
  for (std::size_t k = 0; k < item_offsets.size(); ++k) {
    for (const std::int64_t before : more.item_offsets[k])
      item_offsets[k].push_back(elements[k] + before);
    elements[k] += more.elements[k];
    longest[k] = std::max(longest[k], more.longest[k]);
  }
  thin();
  digest = fmt::format("{:08x}", checksum(digest + more.digest));
  value_count += more.value_count;
}

}  // namespace lehr
