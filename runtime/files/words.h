// Files of lines of words, with the place of each for messages.
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

class Words {
 public:
  Words(std::string_view bytes, const std::string& path) : bytes_(without_bom(bytes)), rest_(bytes_), path_(path) {}

  /// To the next line, of which nothing is read from `comment` on; false at the end.
  bool advance(char comment = '\n') {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    line_ = line_.substr(0, line_.find(comment));
    return true;
  }
  /// The same, past lines without words.
  bool advance_to_words(char comment) {
    while (advance(comment))
      if (!done()) return true;
    return false;
  }

  bool done() const { return trimmed(line_).empty(); }
  /// The next word of the line; empty at its end.
  std::string_view next() {
    line_.remove_prefix(std::min(line_.find_first_not_of(" \t"), line_.size()));
    word_ = line_.substr(0, line_.find_first_of(" \t"));
    line_.remove_prefix(word_.size());
    return word_;
  }
  std::optional<std::int64_t> next_index(std::int64_t least, std::int64_t most) { return index(next(), least, most); }

  /// All of `word`, a whole number from `least` to `most`.
  static std::optional<std::int64_t> index(std::string_view word, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const char* const stop = word.data() + word.size();
    const auto [end, failure] = std::from_chars(word.data(), stop, value);
    if (failure != std::errc() || end != stop || value < least || value > most) return std::nullopt;
    return value;
  }

  /// About the word that was read last.
  Error fail(std::string text, std::vector<std::string> notes = {}) const {
    return data_error(place(path_, bytes_, static_cast<std::size_t>(word_.data() - bytes_.data())), std::move(text),
                      std::move(notes));
  }

 private:
  std::string_view bytes_, rest_, line_ = bytes_.substr(0, 0), word_ = line_;
  const std::string& path_;
};

}  // namespace lehr
