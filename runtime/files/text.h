// What the readers of text files share: numbers, missing values, places in a file, suggestions of names.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/dataset.h"
#include "runtime/result.h"

namespace lehr {

/// `text` without spaces and tabs at either end.
std::string_view trimmed(std::string_view text);

/// A decimal number or an infinity (`-1.5e3`, `+2`, `Inf`, `-infinity`), the whole of `text`; never NaN.
/// A number beyond the range of double is the nearest infinity or zero.
std::optional<double> parse_number(std::string_view text);

/// Whether a field of a table stands for "no value": empty, `NA`, or `NaN` in any case.
bool is_missing(std::string_view text);

/// Whether it may be meant so, though it is text: `N/A`, `NULL`, `-` and the like.
bool looks_missing(std::string_view text);

/// `path:line:column` of a byte, both from 1; the column counts characters of UTF-8.
std::string place(const std::string& path, std::string_view bytes, std::size_t offset);

/// The bytes without a UTF-8 byte order mark.
std::string_view without_bom(std::string_view bytes);

/// An error of ExitCode::data.
Error data_error(std::string where, std::string text, std::vector<std::string> notes = {});

/// Where a part of `bytes` is not UTF-8: an error with line, byte and cure.
std::optional<Error> encoding_error(const std::string& path, std::string_view bytes, std::string_view part);

/// "did you mean 'x'?" when one of `names` is within a third of the length of `wanted` in edits, otherwise
/// the list of names (the first dozen).
std::string suggest(std::string_view wanted, const std::vector<std::string>& names);

/// "a, b or c".
std::string alternatives(const std::vector<std::string_view>& names);

/// Splits a text column into its sorted distinct strings and each value's position among them (missing: NaN);
/// `texts[i]` is nullopt where missing.
void set_levels(DataArray& array, const std::vector<std::optional<std::string>>& texts);

/// Fills `integral` and `has_missing` from the values.
void set_flags(DataArray& array);

}  // namespace lehr
