// Parses tables of fields separated by commas, semicolons or tabs (RFC 4180). Cells are views into the file, so memory
// stays small. A column becomes numbers if every cell that is present is a number, otherwise sorted levels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "runtime/files/groups.h"
#include "runtime/files/readers.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// The text of a field without the quotes around it, as a view into the file.
struct Cell {
  std::string_view text;
  bool escaped = false;  // `text` contains doubled quotes
  bool quoted = false;   // the field has quotes around it
};

/// A table split into cells.
struct Table {
  std::string path;
  std::string_view bytes;
  std::vector<Cell> header;
  std::vector<std::string> names;  // of the columns, from the header
  std::vector<Cell> cells;         // row-major, without the header
  bool decimal_commas = false;     // numbers have decimal commas
  std::size_t columns() const { return names.size(); }
  std::size_t rows() const { return cells.size() / names.size(); }
  const Cell& cell(std::size_t row, std::size_t column) const { return cells[row * names.size() + column]; }
  std::string location_of(const Cell& cell) const {
    return source_location(path, bytes, static_cast<std::size_t>(cell.text.data() - bytes.data()));
  }
};

/// Returns the text of a cell, with doubled quotes reduced to one.
std::string text_of(const Cell& cell) {
  std::string text(cell.text);
  if (cell.escaped)
    for (std::size_t i = text.find("\"\""); i != std::string::npos; i = text.find("\"\"", i + 1))
      text.erase(i, 1);
  return text;
}

/// Parses a number that has a comma in place of the decimal point.
std::optional<double> with_decimal_comma(std::string_view text) {
  std::string number(text);
  const std::size_t comma = number.find(',');
  if (comma == std::string::npos || text.find('.') != std::string_view::npos) return std::nullopt;
  number[comma] = '.';
  return parse_number(number);
}

/// Returns true for a quoted field like "007": a name, of which the zeros are a part.
bool has_leading_zeros(const Cell& cell) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return cell.quoted && cell.text.size() > 1 && cell.text[0] == '0' && std::ranges::all_of(cell.text, is_digit);
}

/// Returns the number in a cell, NaN if it is missing, nothing if it is text.
std::optional<double> number_in(const Table& table, const Cell& cell) {
  if (is_missing(cell.text)) return std::numeric_limits<double>::quiet_NaN();
  if (has_leading_zeros(cell)) return std::nullopt;
  const std::string_view text = trimmed(cell.text);
  const std::optional<double> number = parse_number(text);
  return number || !table.decimal_commas ? number : with_decimal_comma(text);
}

/// Sets `decimal_commas` if some number has one. An error if other numbers have decimal points.
std::optional<Error> find_decimal_commas(Table& table) {
  const Cell *comma = nullptr, *point = nullptr;
  for (const Cell& cell : table.cells) {
    const std::string_view text = trimmed(cell.text);
    if (!comma && with_decimal_comma(text)) comma = &cell;
    if (!point && text.find('.') != std::string_view::npos && parse_number(text)) point = &cell;
  }
  table.decimal_commas = comma != nullptr;
  if (!comma || !point) return std::nullopt;
  return data_error(table.location_of(*comma),
                    fmt::format("'{}' has a decimal comma, and '{}' at {} a point", printable(comma->text),
                                printable(point->text), table.location_of(*point)),
                    {"write all numbers of the table in one way"});
}

/// Returns the separator of a CSV file: the comma if the first line has one outside quotes, else the semicolon, else
/// the tab.
char separator_of(std::string_view bytes) {
  bytes = without_bom(bytes);
  bytes.remove_prefix(std::min(bytes.find_first_not_of("\r\n \t"), bytes.size()));
  const std::string_view line = bytes.substr(0, bytes.find_first_of("\r\n"));
  for (const char separator : {',', ';', '\t'}) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == separator && !quoted) return separator;
    }
  }
  return ',';
}

/// What is wrong inside a record, and where.
struct Fault {
  std::size_t offset;
  const char* text;
  const char* note;
};

/// Appends the fields of the record at offset `at` to `cells`, and moves `at` past its line break.
std::optional<Fault> read_record(std::string_view bytes, char separator, std::size_t& at, std::vector<Cell>& cells) {
  const auto is_blank = [&](std::size_t i) {
    return i < bytes.size() && bytes[i] != separator && (bytes[i] == ' ' || bytes[i] == '\t');
  };
  const char ends[] = {separator, '\r', '\n', '\0'};
  for (;;) {
    std::size_t start = at;
    while (is_blank(start))
      ++start;
    if (start < bytes.size() && bytes[start] == '"') {
      Cell cell;
      std::size_t end = start + 1;
      for (;; ++end) {
        end = bytes.find('"', end);
        if (end == std::string_view::npos)
          return Fault{start, "this quote is never closed", "a quote inside a quoted field is written twice"};
        if (end + 1 >= bytes.size() || bytes[end + 1] != '"') break;
        cell.escaped = true;
        ++end;
      }
      cell.text = bytes.substr(start + 1, end - start - 1);
      cell.quoted = true;
      cells.push_back(cell);
      at = end + 1;
      while (is_blank(at))
        ++at;
      if (at < bytes.size() && bytes[at] != separator && bytes[at] != '\n' && bytes[at] != '\r')
        return Fault{at, "text after the closing quote", "a quote inside a quoted field is written twice"};
    } else {
      at = std::min(bytes.find_first_of(ends, start), bytes.size());
      cells.push_back({trimmed(bytes.substr(start, at - start)), false});
      if (cells.back().text.empty()) cells.back().text = bytes.substr(start, 0);
    }
    if (at >= bytes.size()) return std::nullopt;
    if (bytes[at] == separator) {
      ++at;
      continue;
    }
    if (bytes[at] == '\r') ++at;
    if (at < bytes.size() && bytes[at] == '\n') ++at;
    return std::nullopt;
  }
}

/// Splits a file into its header and its cells. Rows must have as many fields as the header.
Result<Table> read_table(std::string_view bytes, const std::string& path, char separator) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    return data_error(path, "the file is UTF-16", {"save it as UTF-8"});
  Table table{path, without_bom(bytes), {}, {}, {}};
  bytes = table.bytes;
  while (!bytes.empty() && bytes.find_last_of("\r\n") == bytes.size() - 1)
    bytes.remove_suffix(1);
  table.bytes = bytes;
  std::size_t at = bytes.find_first_not_of("\r\n \t");
  if (at == std::string_view::npos) return data_error(path, "the file is empty", {"the first line names the columns"});
  while (at > 0 && bytes[at - 1] != '\n' && bytes[at - 1] != '\r')
    --at;

  const auto fail = [&](const Fault& fault) {
    return data_error(source_location(path, bytes, fault.offset), fault.text, {fault.note});
  };
  std::vector<Cell> header;
  if (const auto fault = read_record(bytes, separator, at, header)) return fail(*fault);
  std::unordered_set<std::string> seen;
  for (const Cell& cell : header) {
    table.names.push_back(text_of(cell));
    if (!cell.text.empty() && !seen.insert(table.names.back()).second)
      return data_error(table.location_of(cell),
                        fmt::format("two columns are named '{}'", printable(table.names.back())));
  }
  if (header.size() == 1 && separator == '\t')
    for (const char candidate : {';', ','})
      if (header[0].text.find(candidate) != std::string_view::npos)
        return data_error(table.location_of(header[0]),
                          fmt::format("the columns are separated by {}", candidate == ';' ? "';'" : "commas"),
                          {"a .tsv file has its fields separated by tabs: a .csv file may have any of the three"});

  const std::size_t columns = header.size();
  while (at < bytes.size()) {
    const std::size_t start = at, before = table.cells.size();
    if (const auto fault = read_record(bytes, separator, at, table.cells)) return fail(*fault);
    const std::size_t fields = table.cells.size() - before;
    // A blank line is skipped in a table of several columns, and is a missing value in a table of one.
    if (fields == 1 && columns > 1 && table.cells.back().text.empty()) {
      table.cells.pop_back();
    } else if (fields != columns) {
      return data_error(
          source_location(path, bytes, start),
          fmt::format("the row has {} {} and the header {}", fields, fields == 1 ? "field" : "fields", columns),
          {fmt::format("a field that contains a {} must be quoted", separator == ','   ? "comma"
                                                                    : separator == ';' ? "semicolon"
                                                                                       : "tab")});
    }
  }
  if (separator == ';')
    if (std::optional<Error> e = find_decimal_commas(table)) return *e;
  table.header = std::move(header);
  return table;
}

/// Returns the text of a cell, nothing if it is missing. An error if it is not UTF-8.
Result<std::optional<std::string>> text_in(const Table& table, const Cell& cell) {
  if (is_missing(cell.text)) return std::optional<std::string>();
  if (std::optional<Error> e = encoding_error(table.path, table.bytes, cell.text)) return *e;
  return std::optional<std::string>(text_of(cell));
}

/// Converts one column to an array, of numbers or of levels; of levels also if its numbers are `as_text`.
Result<DataArray> read_column(const Table& table, std::size_t column, bool as_text) {
  DataArray array;
  array.name = table.names[column];
  array.shape = {static_cast<std::int64_t>(table.rows())};
  array.source = fmt::format("{}, column '{}'", table.path, printable(array.name));
  array.values.reserve(table.rows());
  const Cell* text = nullptr;
  bool some_number = false;
  for (std::size_t row = 0; row < table.rows() && !(text && some_number); ++row) {
    const Cell& cell = table.cell(row, column);
    if (const std::optional<double> number = number_in(table, cell)) {
      some_number = some_number || !std::isnan(*number);
      array.values.push_back(*number);
    } else if (!text) {
      text = &cell;
    }
  }
  if (text || (as_text && some_number)) {
    std::vector<std::optional<std::string>> texts(table.rows());
    for (std::size_t row = 0; row < table.rows(); ++row) {
      Result<std::optional<std::string>> in = text_in(table, table.cell(row, column));
      if (!in) return in.error();
      texts[row] = std::move(*in);
    }
    set_levels(array, texts);
    if (text && some_number)
      array.source += fmt::format(" (numbers, but '{}' at {})", printable(text_of(*text)), table.location_of(*text));
  }
  set_flags(array);
  return array;
}

/// Returns true if the first line consists of numbers, so that the names of the columns are probably missing.
bool has_numeric_header(const Table& table) {
  return std::all_of(table.names.begin(), table.names.end(),
                     [](const std::string& name) { return parse_number(trimmed(name)) || is_missing(name); }) &&
         std::any_of(table.names.begin(), table.names.end(), [](const std::string& name) { return !name.empty(); });
}

/// Returns the positions of the wanted columns, or of all with a name (R writes row names under an empty one).
Result<std::vector<std::size_t>> select(const Table& table, const std::vector<std::string>& wanted) {
  std::vector<std::size_t> picked;
  if (wanted.empty()) {
    if (has_numeric_header(table))
      return data_error(table.path + ":1:1", "the first line holds numbers instead of the names of the columns",
                        {"add a line of names, or list the columns after the file: `x=file.csv:a,b`"});
    for (std::size_t j = 0; j < table.columns(); ++j)
      if (!table.names[j].empty()) picked.push_back(j);
    if (picked.empty()) return data_error(table.path + ":1:1", "no column has a name");
    return picked;
  }
  for (const std::string& name : wanted) {
    const auto column = std::find(table.names.begin(), table.names.end(), name);
    if (column == table.names.end() || name.empty())
      return data_error(table.path, fmt::format("there is no column '{}'", name), {suggest(name, table.names)});
    picked.push_back(static_cast<std::size_t>(column - table.names.begin()));
  }
  return picked;
}

/// Makes the error about a cell that should be a number.
Error not_a_number(const Table& table, const Cell& cell, const std::string& column, const char* otherwise) {
  return data_error(table.location_of(cell),
                    fmt::format("'{}' is not a number, in column '{}'", printable(text_of(cell)), printable(column)),
                    {fmt::format("{}a missing value is an empty field, NA or NaN; {}",
                                 looks_missing(text_of(cell)) ? "if it stands for a missing value: " : "", otherwise)});
}

/// Returns true if the columns contain text and no number.
bool all_text(const Table& table, const std::vector<std::size_t>& columns) {
  bool some = false;
  for (const std::size_t j : columns) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const std::optional<double> number = number_in(table, table.cell(row, j));
      if (number && !std::isnan(*number)) return false;
      some = some || !number;
    }
  }
  return some;
}

/// Joins several columns along the last axis of one array. They are all numbers, or all text with common levels; text
/// too if it is `as_text`.
Result<DataArray> join_columns(const Table& table, const std::vector<std::size_t>& columns, bool as_text) {
  DataArray array;
  const std::size_t width = columns.size();
  array.shape = {static_cast<std::int64_t>(table.rows()), static_cast<std::int64_t>(width)};
  for (const std::size_t j : columns)
    array.axis_labels.push_back(table.names[j]);
  if (as_text || all_text(table, columns)) {
    std::vector<std::optional<std::string>> texts;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      for (const std::size_t j : columns) {
        Result<std::optional<std::string>> in = text_in(table, table.cell(row, j));
        if (!in) return in.error();
        texts.push_back(std::move(*in));
      }
    }
    set_levels(array, texts);
    set_flags(array);
    return array;
  }
  array.values.resize(table.rows() * width);
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const Cell& cell = table.cell(row, columns[j]);
      const std::optional<double> number = number_in(table, cell);
      if (!number)
        return not_a_number(table, cell, array.axis_labels[j], "columns of text are bound without columns of numbers");
      array.values[row * width + j] = *number;
    }
  }
  set_flags(array);
  return array;
}

/// Returns the columns that hold numbers only. A column with text in which at least half of the rows are numbers is an
/// error: leaving it out silently could hide a mistake.
Result<std::vector<std::size_t>> numeric_only(const Table& table, const std::vector<std::size_t>& columns) {
  std::vector<std::size_t> numeric;
  for (const std::size_t j : columns) {
    std::size_t numeric_cells = 0;
    const Cell* text = nullptr;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const Cell& cell = table.cell(row, j);
      const std::optional<double> number = number_in(table, cell);
      if (number && !std::isnan(*number)) ++numeric_cells;
      if (!number && !text) text = &cell;
    }
    if (text && 2 * numeric_cells >= table.rows())
      return not_a_number(table, *text, table.names[j], "columns to be read are listed: `x=file.csv:a,b`");
    if (!text) numeric.push_back(j);
  }
  return numeric;
}

/// Parses a table as parse_csv() documents, with this separator.
Result<Dataset> parse_table(std::string_view bytes, const std::string& path, const std::string& name,
                            const std::vector<std::string>& wanted, const std::set<std::string>& as_text,
                            char separator) {
  const Result<Table> table = read_table(bytes, path, separator);
  if (!table) return table.error();
  Result<std::vector<std::size_t>> columns = select(*table, wanted);
  if (!columns) return columns.error();

  for (const std::size_t j : *columns) {
    if (std::optional<Error> e = encoding_error(path, table->bytes, table->header[j].text)) return *e;
  }

  Dataset dataset;
  if (name.empty()) {
    for (const std::size_t j : *columns) {
      Result<DataArray> array = read_column(*table, j, as_text.contains(table->names[j]));
      if (!array) return array.error();
      dataset[table->names[j]] = std::move(*array);
    }
    return dataset;
  }
  if (wanted.empty() && columns->size() > 1) {
    columns = numeric_only(*table, *columns);
    if (!columns) return columns.error();
    if (columns->empty())
      return data_error(path, "no column holds numbers", {"bind a text column alone: `" + name + "=file.csv:column`"});
  }
  const bool one = columns->size() == 1;
  Result<DataArray> array = one ? read_column(*table, columns->front(), as_text.contains(name))
                                : join_columns(*table, *columns, as_text.contains(name));
  if (!array) return array.error();
  array->name = name;
  if (one && array->levels.empty()) array->axis_labels = {table->names[columns->front()]};
  if (!one)
    array->source =
        path + (wanted.empty() ? ", its numeric columns" : fmt::format(", columns {}", fmt::join(wanted, ", ")));
  dataset[name] = std::move(*array);
  return dataset;
}

}  // namespace

std::vector<std::string> split_fields(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t at = 0;
  std::vector<std::string> fields;
  if (read_record(line, ',', at, cells)) return fields;
  for (const Cell& cell : cells)
    fields.push_back(text_of(cell));
  return fields;
}

Result<Dataset> parse_csv(std::string_view bytes, const std::string& path, const std::string& name,
                          const std::vector<std::string>& columns, const std::set<std::string>& as_text) {
  return parse_table(bytes, path, name, columns, as_text, separator_of(bytes));
}

Result<Dataset> parse_tsv(std::string_view bytes, const std::string& path, const std::string& name,
                          const std::vector<std::string>& columns, const std::set<std::string>& as_text) {
  return parse_table(bytes, path, name, columns, as_text, '\t');
}

Result<std::optional<std::vector<LineGroup>>> split_table(std::string_view bytes, const std::string& path, bool tabs,
                                                          const std::string& column) {
  using Groups = std::vector<LineGroup>;
  const char separator = tabs ? '\t' : separator_of(bytes);
  const Result<Table> table = read_table(bytes, path, separator);
  if (!table) return table.error();
  const auto named = std::ranges::find(table->names, column);
  if (named == table->names.end() || column.empty()) return std::optional<Groups>();
  const auto k = static_cast<std::size_t>(named - table->names.begin());
  bytes = table->bytes;
  // The header begins with its first cell's line, as in read_table().
  std::size_t at = static_cast<std::size_t>(table->header[0].text.data() - bytes.data());
  while (at > 0 && bytes[at - 1] != '\n' && bytes[at - 1] != '\r')
    --at;
  std::int64_t line = 1 + std::ranges::count(bytes.substr(0, at), '\n');
  std::vector<Cell> cells;
  Groups out;
  std::unordered_map<std::string, std::size_t> position;  // by value
  std::string header;
  std::vector<std::int64_t> header_lines;
  while (at < bytes.size()) {
    const std::size_t start = at;
    cells.clear();
    read_record(bytes, separator, at, cells);
    std::string record(bytes.substr(start, at - start));
    if (!record.ends_with('\n') && !record.ends_with('\r')) record += '\n';
    const auto lines = std::max<std::int64_t>(1, std::ranges::count(record, '\n'));
    const std::int64_t first = std::exchange(line, line + lines);
    const auto add = [&](std::string& to, std::vector<std::int64_t>& numbers) {
      to += record;
      for (std::int64_t n = first; n < line; ++n)
        numbers.push_back(n);
    };
    if (header.empty()) {
      add(header, header_lines);
      continue;
    }
    if (cells.size() != table->columns()) continue;  // a blank line
    const Cell& cell = cells[k];
    if (is_missing(cell.text))
      return data_error(table->location_of(cell), fmt::format("the line has no value of '{}'", printable(column)),
                        {"leave the line out, or name the group that it belongs to"});
    if (std::optional<Error> e = encoding_error(path, bytes, cell.text)) return *e;
    const auto [found, is_new] = position.try_emplace(text_of(cell), out.size());
    if (is_new) out.push_back({found->first, header, header_lines});
    add(out[found->second].bytes, out[found->second].lines);
  }
  return std::optional<Groups>(std::move(out));
}

}  // namespace lehr
