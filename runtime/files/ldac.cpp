// Parses LDA-C corpora, and lists of labels.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "runtime/files/readers.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Largest term id and count; larger ids would make plates of absurd size.
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

/// A position in the bytes of a file.
struct Cursor {
  std::string_view bytes;
  std::size_t at = 0;

  bool done() const { return at >= bytes.size(); }
  bool at_line_end() const { return done() || bytes[at] == '\n' || bytes[at] == '\r'; }
  void skip_blanks() {
    while (!done() && (bytes[at] == ' ' || bytes[at] == '\t'))
      ++at;
  }
  /// Reads a run of digits and returns its value up to kLargest; -1 if there is none, or if it is larger.
  std::int64_t number() {
    std::int64_t value = 0;
    const char* begin = bytes.data() + at;
    const auto [stop, failure] = std::from_chars(begin, bytes.data() + bytes.size(), value);
    if (failure != std::errc() || value < 0 || value > kLargest || *begin == '-') return -1;
    at += static_cast<std::size_t>(stop - begin);
    return value;
  }
};

}  // namespace

Result<DataArray> parse_ldac(std::string_view bytes, const std::string& path) {
  Cursor in{without_bom(bytes)};
  while (!in.bytes.empty() && in.bytes.find_last_of("\n\r \t") == in.bytes.size() - 1)
    in.bytes.remove_suffix(1);
  if (in.done())
    return data_error(path, "the file is empty", {"LDA-C has a line a document: `M term:count term:count ...`"});

  DataArray array;
  array.source = path;
  array.row_offsets.push_back(0);
  std::int64_t longest = 0;
  while (!in.done()) {
    in.skip_blanks();
    const std::size_t line = in.at;
    if (in.at_line_end())
      return data_error(source_location(path, in.bytes, in.at), "blank line in an LDA-C file",
                        {"a document without words is the line `0`"});
    const std::int64_t announced = in.number();
    if (announced < 0)
      return data_error(source_location(path, in.bytes, in.at), "expected the number of distinct terms of the document",
                        {"LDA-C has a line a document: `M term:count term:count ...`"});
    std::int64_t pairs = 0;
    for (;;) {
      const std::size_t before = in.at;
      in.skip_blanks();
      if (in.at_line_end()) break;
      const std::size_t start = in.at;
      if (start == before)
        return data_error(source_location(path, in.bytes, start), "expected a space before the next `term:count`");
      const std::int64_t term = in.number();
      if (term < 0)
        return data_error(source_location(path, in.bytes, start),
                          fmt::format("expected a term id, an integer from 0 to {}", kLargest));
      if (in.done() || in.bytes[in.at] != ':')
        return data_error(source_location(path, in.bytes, in.at), "expected `:` between term and count");
      const std::size_t count_start = ++in.at;
      const std::int64_t count = in.number();
      if (count <= 0)
        return data_error(source_location(path, in.bytes, count_start),
                          fmt::format("expected a count, an integer from 1 to {}", kLargest));
      array.values.push_back(static_cast<double>(term));
      array.multiplicity.push_back(static_cast<double>(count));
      ++pairs;
    }
    if (pairs != announced)
      return data_error(source_location(path, in.bytes, line),
                        fmt::format("the line announces {} terms and has {}", announced, pairs),
                        {"the first number of a line is the number of `term:count` pairs after it"});
    longest = std::max(longest, pairs);
    array.row_offsets.push_back(static_cast<std::int64_t>(array.values.size()));
    if (!in.done() && in.bytes[in.at] == '\r') ++in.at;
    if (!in.done() && in.bytes[in.at] == '\n') ++in.at;
  }
  array.shape = {static_cast<std::int64_t>(array.row_offsets.size()) - 1, longest};
  set_flags(array);
  return array;
}

Result<std::vector<std::string>> parse_labels(std::string_view bytes, const std::string& path) {
  bytes = without_bom(bytes);
  std::vector<std::string> labels;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::optional<Error> e = encoding_error(path, bytes, line)) return *e;
    labels.emplace_back(line);
  }
  while (!labels.empty() && trimmed(labels.back()).empty())
    labels.pop_back();
  if (labels.empty()) return data_error(path, "the file holds no labels", {"a labels file has one label a line"});
  std::unordered_map<std::string_view, std::size_t> line_of;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto [first, is_new] = line_of.emplace(labels[i], i + 1);
    if (!is_new)
      return data_error(fmt::format("{}:{}", path, i + 1),
                        fmt::format("the label '{}' is that of line {}", printable(labels[i]), first->second),
                        {"every element of a plate has a label of its own"});
  }
  return labels;
}

}  // namespace lehr
