// Converts views of the caller's memory to the arrays that bind() accepts. Views are checked first, so that no read
// leaves the caller's memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "compiler/library/impl.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Extents or strides.
using Shape = std::vector<std::int64_t>;

/// Returns the number of values in a view.
std::size_t length(const DataView& v) {
  return std::visit([](auto values) { return values.size(); }, v.values);
}

/// Returns the strides of a row-major array.
Shape row_major(const Shape& shape) {
  Shape out(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;)
    out[k - 1] = out[k] * shape[k];
  return out;
}

/// Returns the number of elements; nothing if an extent is negative or the product is too large.
std::optional<std::size_t> count(const Shape& shape) {
  constexpr std::size_t kMost = std::size_t{1} << 48;
  std::size_t out = 1;
  for (const std::int64_t n : shape) {
    if (n < 0 || (n > 0 && out > kMost / static_cast<std::size_t>(n))) return std::nullopt;
    out *= static_cast<std::size_t>(n);
  }
  return out;
}

/// Returns why shape, strides or offsets do not fit the values; empty if they do.
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

/// Returns which text value is not UTF-8; empty if all are.
std::string wrong_text(const DataView& v) {
  const auto* text = std::get_if<DataView::Text>(&v.values);
  for (std::size_t k = 0; text && k < text->size(); ++k)
    if ((*text)[k] && find_invalid_utf8((*text)[k])) return fmt::format("value {} is not UTF-8", k);
  return "";
}

/// Copies strided values to a row-major array of another type.
template <class To, class From>
std::vector<To> packed(std::span<const From> from, const Shape& shape, const Shape& strides) {
  if (strides.empty() || strides == row_major(shape)) return std::vector<To>(from.begin(), from.end());
  std::vector<To> out;
  out.reserve(*count(shape));
  Shape at(shape.size(), 0);
  std::int64_t position = 0;
  while (out.size() < *count(shape)) {
    out.push_back(static_cast<To>(from[static_cast<std::size_t>(position)]));
    for (std::size_t k = shape.size(); k-- > 0;) {
      position += strides[k];
      if (++at[k] < shape[k]) break;
      position -= strides[k] * shape[k];
      at[k] = 0;
    }
  }
  return out;
}

/// Returns the values as doubles; empty for text.
std::vector<double> as_doubles(const DataView& v) {
  return std::visit(
      [&]<class T>(std::span<T> from) {
        if constexpr (std::is_arithmetic_v<T>) return packed<double>(from, v.shape, v.strides);
        else return std::vector<double>();
      },
      v.values);
}

/// Converts text to levels, as the readers of files do.
void put_levels(const DataView::Text& from, const DataView& v, DataArray& to) {
  std::vector<std::optional<std::string>> texts;
  for (const char* text : packed<const char*>(from, v.shape, v.strides))
    texts.push_back(text && !is_missing(text) ? std::optional<std::string>(text) : std::nullopt);
  set_levels(to, texts);
}

/// Converts a valid view.
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
  if (const auto* text = std::get_if<DataView::Text>(&v.values)) put_levels(*text, v, out);
  else out.values = as_doubles(v);
  set_flags(out);
  return out;
}

/// Makes an error about a view.
Error wrong(const DataView& v, const std::string& why) {
  return {ExitCode::data, v.name, "the view does not describe an array: " + why, {}};
}

}  // namespace

Result<Dataset> dataset_of(std::span<const DataView> views) {
  Dataset out;
  for (const DataView& v : views) {
    if (const std::string why = fault(v); !why.empty()) return wrong(v, why);
    if (const std::string why = wrong_text(v); !why.empty()) return Error{ExitCode::data, v.name, why, {}};
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
    if (std::holds_alternative<DataView::Text>(v.values)) return wrong(v, "factors are numbers, and this is text");
    out.push_back({v.name, v.shape, as_doubles(v), false});
  }
  return out;
}

}  // namespace lehr
