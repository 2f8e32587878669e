// A tokenizer for text files of lines of words (Matrix Market, SVMlight). Errors name line and column of a word.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/files/text.h"

namespace lehr {

/// Reads a text file of data line by line and word by word; words are separated by spaces and tabs.
class LineTokenizer {
 public:
  /// Makes a tokenizer positioned before the first line of the file's bytes. Both arguments must outlive it; `path` is
  /// for messages.
  LineTokenizer(std::string_view bytes, const std::string& path)
      : bytes_(without_bom(bytes)), rest_(bytes_), path_(path) {}

  /// Moves to the next line; returns false at the end of the file. The line ends before the first character `comment`;
  /// by default there are no comments.
  bool next_line(char comment = '\n') {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    line_ = line_.substr(0, line_.find(comment));
    return true;
  }
  /// Moves to the next line that has a word; returns false if there is none.
  bool next_nonempty_line(char comment) {
    while (next_line(comment))
      if (!done()) return true;
    return false;
  }

  /// Returns true if no word of the current line is left.
  bool done() const { return trimmed(line_).empty(); }
  /// Returns the next word of the line; empty at its end.
  std::string_view next() {
    line_.remove_prefix(std::min(line_.find_first_not_of(" \t"), line_.size()));
    word_ = line_.substr(0, line_.find_first_of(" \t"));
    line_.remove_prefix(word_.size());
    return word_;
  }
  /// Reads the next word as a whole number from `least` to `most`; nothing if it is not one.
  std::optional<std::int64_t> next_index(std::int64_t least, std::int64_t most) { return index(next(), least, most); }

  /// Parses the whole word as an integer from `least` to `most`; returns nothing if it is not one.
  static std::optional<std::int64_t> index(std::string_view word, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const char* const stop = word.data() + word.size();
    const auto [end, failure] = std::from_chars(word.data(), stop, value);
    if (failure != std::errc() || end != stop || value < least || value > most) return std::nullopt;
    return value;
  }

  /// Makes an error of ExitCode::data about the word that was read last, with its line and column.
  Error fail(std::string text, std::vector<std::string> notes = {}) const {
    return data_error(source_location(path_, bytes_, static_cast<std::size_t>(word_.data() - bytes_.data())),
                      std::move(text), std::move(notes));
  }

 private:
  /// The file, the lines not read yet, the rest of the line, and the last word.
  std::string_view bytes_, rest_, line_ = bytes_.substr(0, 0), word_ = line_;
  const std::string& path_;  // path of the file, for messages
};

}  // namespace lehr
