// Views of the caller's memory as the arrays that binding takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/library/impl.h"

namespace lehr {
namespace {

using Shape = std::vector<std::int64_t>;

std::size_t length(const DataView& v) {
  return std::visit([](auto values) { return values.size(); }, v.values);
}

Shape row_major(const Shape& shape) {
  Shape out(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;)
    out[k - 1] = out[k] * shape[k];
  return out;
}

/// Nothing where the product is too large to be that of an array, or an extent is negative.
std::optional<std::size_t> count(const Shape& shape) {
  constexpr std::size_t kMost = std::size_t{1} << 48;
  std::size_t out = 1;
  for (const std::int64_t n : shape) {
    if (n < 0 || (n > 0 && out > kMost / static_cast<std::size_t>(n))) return std::nullopt;
    out *= static_cast<std::size_t>(n);
  }
  return out;
}

/// Why the numbers of a view do not describe an array; empty when they do.
std::string fault(const DataView& v) {
  const auto size = static_cast<std::int64_t>(length(v));
  if (!v.row_offsets.empty()) {
    if (!v.shape.empty() || !v.strides.empty()) return "a ragged view has neither shape nor strides";
    if (v.row_offsets.front() != 0 || v.row_offsets.back() != size)
      return fmt::format("row offsets begin with 0 and end with the number of values, {}", size);
    if (!std::is_sorted(v.row_offsets.begin(), v.row_offsets.end())) return "row offsets do not fall";
    return "";
  }
  const std::optional<std::size_t> n = count(v.shape);
  if (!n) return fmt::format("({}) is no shape", fmt::join(v.shape, ", "));
  if (v.strides.empty()) {
    return *n == length(v)
               ? ""
               : fmt::format("shape ({}) is that of {} values, and there are {}", fmt::join(v.shape, ", "), *n, size);
  }
  if (v.strides.size() != v.shape.size()) return "there is one stride for each axis";
  std::int64_t last = 0;
  for (std::size_t k = 0; k < v.shape.size() && *n > 0; ++k) {
    const std::int64_t steps = v.shape[k] - 1;
    if (v.strides[k] < 0) return "strides are not negative";
    if (steps > 0 && v.strides[k] > (size - 1 - last) / steps)
      return fmt::format("strides ({}) lead outside the {} values", fmt::join(v.strides, ", "), size);
    last += steps * v.strides[k];
  }
  return *n > 0 && size == 0 ? "there are no values" : "";
}

template <class T>
std::vector<double> gather(std::span<const T> from, const Shape& shape, const Shape& strides) {
  std::vector<double> out;
  out.reserve(*count(shape));
  Shape at(shape.size(), 0);
  std::int64_t position = 0;
  while (out.size() < *count(shape)) {
    out.push_back(static_cast<double>(from[static_cast<std::size_t>(position)]));
    for (std::size_t k = shape.size(); k-- > 0;) {
      position += strides[k];
      if (++at[k] < shape[k]) break;
      position -= strides[k] * shape[k];
      at[k] = 0;
    }
  }
  return out;
}

std::vector<double> packed(const DataView& v) {
  return std::visit(
      [&](auto from) {
        if (v.strides.empty() || v.strides == row_major(v.shape)) return std::vector<double>(from.begin(), from.end());
        return gather(from, v.shape, v.strides);
      },
      v.values);
}

DataArray array_of(const DataView& v) {
  DataArray out;
  out.name = v.name;
  out.shape = v.shape;
  out.row_offsets = v.row_offsets;
  out.source = "a view";
  if (!v.row_offsets.empty()) {
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < v.row_offsets.size(); ++i)
      longest = std::max(longest, v.row_offsets[i] - v.row_offsets[i - 1]);
    out.shape = {static_cast<std::int64_t>(v.row_offsets.size()) - 1, longest};
  }
  out.values = packed(v);
  out.has_missing = std::any_of(out.values.begin(), out.values.end(), [](double x) { return std::isnan(x); });
  out.integral =
      std::all_of(out.values.begin(), out.values.end(), [](double x) { return std::isnan(x) || x == std::floor(x); });
  return out;
}

Error wrong(const DataView& v, const std::string& why) {
  return {ExitCode::data, v.name, "the view does not describe an array: " + why, {}};
}

}  // namespace

Result<Dataset> dataset_of(std::span<const DataView> views) {
  Dataset out;
  for (const DataView& v : views) {
    if (const std::string why = fault(v); !why.empty()) return wrong(v, why);
    if (!out.try_emplace(v.name, array_of(v)).second)
      return Error{ExitCode::data, v.name, "two views have this name", {}};
  }
  return out;
}

Result<std::vector<NamedArray>> arrays_of(std::span<const DataView> views) {
  std::vector<NamedArray> out;
  for (const DataView& v : views) {
    if (const std::string why = fault(v); !why.empty()) return wrong(v, why);
    if (!v.row_offsets.empty()) return wrong(v, "factors are not ragged: their rows are joined end to end");
    out.push_back({v.name, v.shape, packed(v), false});
  }
  return out;
}

}  // namespace lehr
