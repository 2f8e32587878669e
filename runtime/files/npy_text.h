// Text in NumPy's arrays: of a fixed width, in characters of four bytes (dtype U) or in bytes (S).
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

struct TextType {
  bool wide = false;     // U
  std::size_t size = 0;  // of an element, in bytes
  bool swapped = false;  // wide characters have the other order of bytes
};

/// Of a dtype without its sign ("U5", "S12"); nothing for others.
std::optional<TextType> text_type(std::string_view dtype, bool swapped);

/// The elements that lie in `bytes`, as levels. What stands for no value in a table does so here. An error of
/// ExitCode::data where an element is not text.
Result<DataArray> text_data(std::string_view bytes, const TextType& type, const std::string& path);

}  // namespace lehr
