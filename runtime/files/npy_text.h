// Text arrays of NumPy: strings of fixed width, of 4-byte characters (dtype U) or of bytes (dtype S).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// The dtype of a NumPy text array: its kind of characters and the width of an element.
struct TextType {
  bool wide = false;     // true for U (UTF-32), false for S (bytes)
  std::size_t size = 0;  // bytes of an element
  bool swapped = false;  // true if wide characters have the opposite byte order of this machine
};

/// Parses the dtype of a text array without its byte-order sign ("U5", "S12"). `swapped` states that characters have
/// the opposite byte order of this machine. Returns nothing for other dtypes.
std::optional<TextType> text_type(std::string_view dtype, bool swapped);

/// Decodes the elements of a NumPy text array, stored in `bytes`, into data of text (levels). Its shape is left to the
/// caller. An empty string, NA and NaN are missing. An element that is not Unicode is an error of ExitCode::data.
Result<DataArray> text_data(std::string_view bytes, const TextType& type, const std::string& path);

}  // namespace lehr
