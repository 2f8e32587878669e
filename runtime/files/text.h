// Helpers of the readers of text files: numbers, missing values, locations for messages, suggestions of names.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// Returns `text` without spaces and tabs at its ends.
std::string_view trimmed(std::string_view text);

/// Parses the whole of `text` as a decimal number or an infinity (`-1.5e3`, `+2`, `Inf`, `-infinity`); never NaN. A
/// number beyond the range of double becomes the nearest infinity or zero. Returns nothing for other text.
std::optional<double> parse_number(std::string_view text);

/// Returns true if a field of a table means a missing value: it is empty, `NA`, or `NaN` in any case.
bool is_missing(std::string_view text);

/// Returns true for text that often marks a missing value in other programs (`N/A`, `NULL`, `-`). The readers read it
/// as text, and their messages ask whether it stands for a missing value.
bool looks_missing(std::string_view text);

/// Formats the location of the byte at `offset` in a file for messages, `path:line:column`, both from 1. Columns count
/// UTF-8 characters.
std::string source_location(const std::string& path, std::string_view bytes, std::size_t offset);

/// Returns the bytes without a UTF-8 byte order mark.
std::string_view without_bom(std::string_view bytes);

/// Makes an error of ExitCode::data: `where` is the file or place, `text` what is wrong, `notes` what to do.
Error data_error(std::string where, std::string text, std::vector<std::string> notes = {});

/// Checks that `part`, a view into `bytes`, is UTF-8. Returns an error with line, byte and remedy if it is not.
std::optional<Error> encoding_error(const std::string& path, std::string_view bytes, std::string_view part);

/// Returns a hint for messages about a name that does not exist, `wanted`. It is "did you mean 'x'?" with the nearest
/// of `names` if its edit distance is at most a third of the length of `wanted`, or 1. Otherwise it lists the first
/// dozen names, or says that there are none.
std::string suggest(std::string_view wanted, const std::vector<std::string>& names);

/// Joins alternatives for a message: "a, b or c".
std::string join_with_or(const std::vector<std::string_view>& names);

/// Stores text in an array of data: `array.levels` becomes the sorted distinct strings, and `array.values` the position
/// of each element among them. An element of `texts` that is nothing is missing: NaN.
void set_levels(DataArray& array, const std::vector<std::optional<std::string>>& texts);

/// Sets DataArray::integral and has_missing of an array from its values, which a reader has filled in. Infinities are
/// no whole numbers.
void set_flags(DataArray& array);

}  // namespace lehr
