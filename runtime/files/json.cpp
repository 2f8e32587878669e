// Parses data in Stan's JSON. The parser (nlohmann's SAX interface) reports events and builds no tree. Values go
// straight into arrays, and the depth of nesting is a counter; so memory is linear in the input.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/files/readers.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr std::size_t kMostNestedArrays = 8;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// An input iterator over the bytes that records how far the parser has read, for locations in messages.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  ByteIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  ByteIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  ByteIterator operator++(int) {
    ByteIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const ByteIterator& other) const { return at_ == other.at_; }
  bool operator!=(const ByteIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// Receives the parser's events and builds the arrays.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path), furthest_(bytes.data()) {}

  const char** furthest() { return &furthest_; }
  Dataset& dataset() { return dataset_; }
  const std::optional<Error>& error() const { return error_; }

  bool null() override { return leaf(kMissing); }
  bool boolean(bool value) override { return leaf(value); }
  bool number_integer(number_integer_t value) override { return leaf(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return leaf(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return leaf(value); }
  bool binary(binary_t&) override { return fail("binary values are not data"); }

  bool string(string_t& text) override {
    if (is_missing(text)) return leaf(kMissing);
    if (const auto number = parse_number(text); number && std::isinf(*number)) return leaf(*number);
    texts_.resize(values_.size());
    texts_.emplace_back(text);
    return leaf(0);
  }

  bool start_object(std::size_t) override {
    if (in_object_ || depth_ > 0) return fail("objects inside objects are not data");
    if (finished_) return fail("a second value after the first");
    in_object_ = true;
    return true;
  }
  bool key(string_t& name) override {
    name_ = name;
    return dataset_.contains(name) ? fail(fmt::format("'{}' occurs twice", printable(name))) : true;
  }
  bool end_object() override { return true; }

  bool start_array(std::size_t) override {
    if (depth_ > 0 && !child(Kind::array)) return false;
    if (depth_ == kMostNestedArrays) return fail(fmt::format("more than {} axes", kMostNestedArrays));
    if (depth_ == 0) axes_ = 0;
    levels_[depth_].length = 0;
    ++depth_;
    axes_ = std::max(axes_, depth_);
    return true;
  }

  bool end_array() override {
    Level& level = levels_[--depth_];
    if (level.seen && level.length != level.first) {
      if (uneven_line_.empty()) uneven_line_ = here();
      level.uneven = true;
    }
    if (!level.seen) level.first = level.length;
    level.seen = true;
    level.longest = std::max(level.longest, level.length);
    if (depth_ == 1) row_offsets_.push_back(static_cast<std::int64_t>(values_.size()));
    return depth_ == 0 ? finish() : true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& reason) override {
    // The text is "[json.exception.parse_error.101] parse error at line 1, column 5: REASON"; only REASON is shown.
    std::string_view text = reason.what();
    if (const std::size_t end = text.find("] "); end != std::string_view::npos) text.remove_prefix(end + 2);
    if (const std::size_t end = text.find(": "); text.starts_with("parse error") && end != std::string_view::npos)
      text.remove_prefix(end + 2);
    error_ = data_error(source_location(path_, bytes_, position > 0 ? position - 1 : 0), printable(text, 200));
    return false;
  }

 private:
  /// What the elements at one depth are.
  enum class Kind { unknown, value, array };

  /// One depth of nesting of the current array: the kind of its elements, and the lengths of the lists at that depth.
  struct Level {
    Kind kind = Kind::unknown;
    bool seen = false, uneven = false;                // a list was completed; lists differ in length
    std::int64_t length = 0, first = 0, longest = 0;  // of the current list, the first, the longest
  };

  /// Returns the location of what was read last. Numbers end at the byte after them, hence one byte back.
  std::string here() const {
    const auto read = static_cast<std::size_t>(furthest_ - bytes_.data());
    return source_location(path_, bytes_, read > 0 ? read - 1 : 0);
  }

  /// Records an error at the current location, and returns false, which stops the parser.
  bool fail(std::string text, std::vector<std::string> notes = {}) {
    error_ = data_error(here(), name_.empty() ? std::move(text) : fmt::format("in '{}': {}", printable(name_), text),
                        std::move(notes));
    return false;
  }

  /// Counts an element of the current list. An error if numbers and lists are mixed.
  bool child(Kind kind) {
    Level& level = levels_[depth_ - 1];
    if (level.kind != Kind::unknown && level.kind != kind) return fail("a number beside an array");
    level.kind = kind;
    ++level.length;
    return true;
  }

  /// Appends a number to the current array, or completes a scalar.
  bool leaf(double value) {
    if (depth_ > 0 && !child(Kind::value)) return false;
    values_.push_back(value);
    return depth_ == 0 ? finish() : true;
  }

  /// Completes the current array and stores it under its name.
  bool finish() {
    DataArray array;
    array.name = name_;
    array.source = name_.empty() ? path_ : fmt::format("{}, '{}'", path_, printable(name_));
    for (std::size_t axis = 0; axis < axes_; ++axis)
      array.shape.push_back(levels_[axis].longest);
    const bool uneven = std::any_of(levels_.begin(), levels_.end(), [](const Level& level) { return level.uneven; });
    if (uneven) {
      if (axes_ != 2) {
        error_ = data_error(uneven_line_,
                            fmt::format("in '{}': this array is not as long as the ones before it", printable(name_)),
                            {"rows of different lengths are read at two levels of nesting only",
                             "bind the values of all rows end to end, and the lengths of the rows under the names of "
                             "the nested plates"});
        return false;
      }
      array.row_offsets = row_offsets_;
    }
    if (!texts_.empty()) {
      texts_.resize(values_.size());
      for (std::size_t i = 0; i < values_.size(); ++i)
        if (!texts_[i] && !std::isnan(values_[i])) return fail("text beside numbers", {"quote all of them, or none"});
      set_levels(array, texts_);
    } else {
      array.values = std::move(values_);
    }
    set_flags(array);
    dataset_[name_] = std::move(array);
    values_.clear();
    texts_.clear();
    levels_.fill(Level{});
    row_offsets_.assign(1, 0);
    uneven_line_.clear();
    axes_ = 0;
    finished_ = true;
    return true;
  }

  std::string_view bytes_;
  const std::string& path_;
  const char* furthest_;
  Dataset dataset_;
  std::optional<Error> error_;
  bool in_object_ = false, finished_ = false;

  std::string name_;
  std::size_t depth_ = 0, axes_ = 0;
  std::array<Level, kMostNestedArrays> levels_;
  std::vector<double> values_;
  std::vector<std::optional<std::string>> texts_;  // strings by position, up to the last string; empty without strings
  std::vector<std::int64_t> row_offsets_{0};
  std::string uneven_line_;
};

/// Replaces Python's bare NaN and Infinity by JSON. Line numbers are preserved.
std::string standard_json(std::string_view bytes) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (quoted && bytes[i] == '\\' && i + 1 < bytes.size()) {
      out += bytes.substr(i++, 2);
      continue;
    }
    if (bytes[i] == '"') quoted = !quoted;
    std::string_view word;
    if (!quoted)
      for (const std::string_view candidate : {"NaN", "-Infinity", "Infinity"})
        if (bytes.substr(i).starts_with(candidate)) {
          word = candidate;
          break;
        }
    if (word.empty()) {
      out += bytes[i];
    } else {
      out += word == "NaN" ? "null" : fmt::format("\"{}\"", word);
      i += word.size() - 1;
    }
  }
  return out;
}

}  // namespace

Result<Dataset> parse_json(std::string_view bytes, const std::string& path) {
  bytes = without_bom(bytes);
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) return data_error(path, "the file is empty");
  std::string standard;
  if (bytes.find("NaN") != std::string_view::npos || bytes.find("Infinity") != std::string_view::npos) {
    standard = standard_json(bytes);
    bytes = standard;
  }
  Builder builder(bytes, path);
  const bool ok = nlohmann::json::sax_parse(ByteIterator(bytes.data(), builder.furthest()),
                                            ByteIterator(bytes.data() + bytes.size(), builder.furthest()), &builder);
  if (!ok) return builder.error() ? *builder.error() : data_error(path, "not JSON");
  return std::move(builder.dataset());
}

}  // namespace lehr
