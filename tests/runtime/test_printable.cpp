// Escaping of texts for the terminal, and the recognition of well-formed UTF-8.
#include <catch2/catch.hpp>

#include "runtime/result.h"
#include "runtime/terminal/printable.h"

using namespace lehr;

TEST_CASE("well-formed UTF-8") {
  for (const char* text : {"", "plain", "caf\u00e9", "\u6771\u4eac", "\U0001F600", "\uffff"})
    CHECK_FALSE(find_invalid_utf8(text));
  CHECK(find_invalid_utf8("ab\xe9") == 2u);
  CHECK(find_invalid_utf8("\xc3") == 0u);      // the second byte is missing
  CHECK(find_invalid_utf8("\xc0\xaf") == 0u);  // an overlong encoding
  CHECK(find_invalid_utf8("\xe0\x9f\xbf") == 0u);
  CHECK(find_invalid_utf8("\xed\xa0\x80") == 0u);      // a surrogate
  CHECK(find_invalid_utf8("\xf4\x90\x80\x80") == 0u);  // beyond U+10FFFF
}

TEST_CASE("nothing in a text reaches the terminal but the text") {
  CHECK(printable("caf\u00e9 \u2802") == "caf\u00e9 \u2802");
  CHECK(printable("\x1b[31mred\n\x7f") == "\\x1b[31mred\\x0a\\x7f");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");  // the same control in eight bits
  CHECK(printable("\u202egnp") == "\\u202egnp");
  CHECK(printable("caf\xe9") == "caf\\xe9");
  CHECK(printable("\u00e9\u00e9\u00e9", 2) == "\u00e9\u00e9...");
  CHECK(printable_lines("a\tb\n\r") == "a\tb\n\\x0d");
  CHECK(render({ExitCode::data, "f\x1b.csv", "two\nlines", {"\x07"}}) ==
        "f\\x1b.csv: error: two\nlines\n  note: \\x07");
}
