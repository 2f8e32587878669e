// Parses `--data` bindings, NAME=PATH:SELECTION, and reads what they select. The extension of the path chooses the
// reader from kDataFormats. Paths may contain colons, so the split is at the first colon before which the path has the
// extension of a format.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/groups.h"
#include "runtime/files/readers.h"
#include "runtime/files/rows.h"
#include "runtime/files/text.h"
#include "runtime/files/zip.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// A parsed binding NAME=PATH:SELECTION.
struct Binding {
  std::string name, path, selection;   // name and selection may be empty
  const DataFormat* format = nullptr;  // by the extension of the path
  bool compressed = false;             // the path ends in .gz
};

/// Makes an error about the text of a binding.
Error binding_error(const std::string& binding, std::string text, std::vector<std::string> notes = {data_forms()}) {
  return {ExitCode::usage, fmt::format("{} {}", option("data"), binding), std::move(text), std::move(notes)};
}

/// Returns true for a name: letters (of any script), digits and underscores, without a leading digit.
bool is_name(std::string_view text) {
  const auto letter = [](char c) { return c == '_' || (c & 0x80) || std::isalpha(static_cast<unsigned char>(c)); };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

constexpr std::string_view kStandardInput = "-";

/// Sets format and compression, and returns true, if the path has the extension of a format.
bool classify(std::string_view path, Binding& binding) {
  if (path == kStandardInput) path = "-.csv";
  std::string lower(path);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::string_view rest = lower;
  binding.compressed = rest.ends_with(".gz");
  if (binding.compressed) rest.remove_suffix(3);
  const auto found = std::find_if(std::begin(kDataFormats), std::end(kDataFormats), [&](const DataFormat& format) {
    return rest.ends_with(format.extension) && rest.size() > format.extension.size();
  });
  if (found == std::end(kDataFormats)) return false;
  binding.format = found;
  return true;
}

/// Parses the text of a binding.
Result<Binding> parse_binding(const std::string& text) {
  Binding binding;
  std::string_view rest = text;
  if (const std::size_t equals = rest.find('='); equals != std::string_view::npos) {
    const std::string_view name = rest.substr(0, equals);
    if (is_name(name)) {
      binding.name = name;
      rest.remove_prefix(equals + 1);
    } else if (name.find_first_of("./:") == std::string_view::npos) {
      return binding_error(text, fmt::format("'{}' is not a name", name));
    }
  }
  if (rest.empty()) return binding_error(text, "there is no file");
  binding.path = rest;
  if (classify(rest, binding)) return binding;
  for (std::size_t colon = rest.find(':'); colon != std::string_view::npos; colon = rest.find(':', colon + 1)) {
    if (!classify(rest.substr(0, colon), binding)) continue;
    binding.path = rest.substr(0, colon);
    binding.selection = rest.substr(colon + 1);
    if (binding.selection.empty()) return binding_error(text, "there is nothing after the `:`");
    return binding;
  }
  std::vector<std::string_view> extensions;
  for (const DataFormat& format : kDataFormats)
    extensions.push_back(format.extension);
  return binding_error(text,
                       fmt::format("the type of the file is unknown: its name must end in {} (each also with .gz)",
                                   join_with_or(extensions)));
}

/// Adds to the error of a missing file the most similar name in its directory.
Error missing_file(const std::string& path, Error error) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path wanted(path);
  if (fs::exists(wanted, ignored)) return error;
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    error.notes.push_back(fmt::format("there is no directory '{}'", folder.string()));
    return error;
  }
  std::vector<std::string> names;
  constexpr std::size_t kMostNames = 2000;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end && names.size() < kMostNames;
       entry.increment(ignored))
    names.push_back(entry->path().filename().string());
  const std::string suggestion = suggest(wanted.filename().string(), names);
  if (suggestion.starts_with("did you")) error.notes.push_back(suggestion);
  return error;
}

/// Returns the contents of standard input. It is read once, and several bindings may select from it.
const Result<std::string>& standard_input() {
  static const Result<std::string> bytes = read_file("/dev/stdin");
  return bytes;
}

/// Reads a file or standard input, and decompresses it.
Result<std::string> read_bytes(const std::string& path, bool compressed) {
  Result<std::string> bytes = path == kStandardInput ? standard_input() : read_file(path);
  if (!bytes) return missing_file(path, bytes.error());
  if (!compressed) return bytes;
  if (bytes->empty()) return data_error(path, "the file is empty");
  return gunzip(*bytes, path);
}

/// Selects from named arrays what `file`, `x=file` or `x=file:member` asks for.
Result<Dataset> pick(Dataset all, const Binding& binding, const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, array] : all)
    names.push_back(name);
  std::string wanted = binding.selection;
  if (wanted.empty() && binding.name.empty()) {
    if (all.contains(""))
      return binding_error(text, "the file holds one array without a name", {"name it: `x=" + text + "`"});
    return all;
  }
  if (wanted.empty()) {
    if (all.size() != 1)
      return binding_error(text, fmt::format("the file holds {} arrays", all.size()),
                           {suggest("", names), fmt::format("take one with `{}:member`", text)});
    wanted = names.front();
  }
  auto node = all.extract(wanted);
  if (node.empty())
    return data_error(binding.path, fmt::format("there is no array '{}'", wanted), {suggest(wanted, names)});
  Dataset one;
  DataArray& array = one[binding.name.empty() ? wanted : binding.name] = std::move(node.mapped());
  array.name = one.begin()->first;
  return one;
}

/// Parses the bytes of a file by the binding's format and applies its selection. `text` is the binding, for messages.
/// Arrays of a table in `as_text` are of text.
Result<Dataset> parse_bytes(const std::string& bytes, const Binding& binding, const std::string& text,
                            const std::set<std::string>& as_text = {}) {
  const auto& [extension, forms, read] = *binding.format;
  if (const ReadTable* table = std::get_if<ReadTable>(&read)) {
    const std::vector<std::string> columns =
        binding.selection.empty() ? std::vector<std::string>() : split_fields(binding.selection);
    if (!binding.selection.empty() && columns.empty()) return binding_error(text, "the list of columns is malformed");
    return (*table)(bytes, binding.path, binding.name, columns, as_text);
  }
  if (const ReadPart* part = std::get_if<ReadPart>(&read))
    return (*part)(bytes, binding.path, binding.name, binding.selection);
  if (const ReadArrays* arrays = std::get_if<ReadArrays>(&read)) {
    Result<Dataset> all = (*arrays)(bytes, binding.path);
    return all ? pick(std::move(*all), binding, text) : all;
  }
  if (!binding.selection.empty()) return binding_error(text, fmt::format("a {} file has no parts", extension));
  if (binding.name.empty()) return binding_error(text, "the array needs a name", {"name it: `x=" + text + "`"});
  Result<DataArray> array = std::get<ReadArray>(read)(bytes, binding.path);
  if (!array) return array.error();
  array->name = binding.name;
  return Dataset{{binding.name, std::move(*array)}};
}

/// Replaces the line number behind `path:` in a text, if there is one, by what `moved` makes of it.
template <class Moved>
std::string with_line(std::string text, const std::string& path, const Moved& moved) {
  const std::size_t prefix = text.find(path + ":");
  if (prefix == std::string::npos) return text;
  const std::size_t at = prefix + path.size() + 1;
  std::int64_t line = 0;
  const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), line);
  if (failure == std::errc())
    text.replace(at, static_cast<std::size_t>(end - text.data()) - at, fmt::format("{}", moved(line)));
  return text;
}

/// Adds `lines` to the line number behind `path:` in a text, if there is one.
std::string moved_by(std::string text, const std::string& path, std::int64_t lines) {
  return with_line(std::move(text), path, [&](std::int64_t line) { return line + lines; });
}

/// Adds arrays of a binding to those of the bindings before.
std::optional<Error> add_arrays(Dataset& all, Dataset part, const std::string& text) {
  for (auto& [name, array] : part) {
    const auto earlier = all.find(name);
    if (earlier == all.end()) {
      all.emplace(name, std::move(array));
      continue;
    }
    if (earlier->second.named_by_binding || array.named_by_binding)
      return duplicate_name_error(fmt::format("{} {}", option("data"), text), earlier->second, array);
    earlier->second.duplicates.push_back(std::move(array));
  }
  return std::nullopt;
}

/// Marks the arrays of a binding with a name as named by it.
Dataset marked(Dataset arrays, const Binding& binding) {
  for (auto& [name, array] : arrays)
    array.named_by_binding = !binding.name.empty();
  return arrays;
}

}  // namespace

Result<std::vector<RowBinding>> RowBinding::open(const std::string& text) {
  const Result<Binding> binding = parse_binding(text);
  if (!binding) return binding.error();
  std::vector<RowBinding> out;
  const auto add = [&](Result<std::unique_ptr<RowFile>> file, std::string excerpt) -> std::optional<Error> {
    if (!file) return missing_file(binding->path, file.error());
    RowBinding one;
    one.path_ = binding->path;
    one.text_ = std::move(excerpt);
    one.file_ = std::move(*file);
    out.push_back(std::move(one));
    return std::nullopt;
  };
  const std::string_view extension = binding->format->extension;
  const bool table = std::holds_alternative<ReadTable>(binding->format->read);
  std::optional<Error> e;
  if (binding->compressed || binding->path == kStandardInput) return out;
  if (table || extension == ".ldac") {
    e = add(open_lines(binding->path, table), text);
  } else if (extension == ".npy") {
    e = add(open_array(binding->path), text);
  } else if ((extension == ".h5" || extension == ".hdf5") && !binding->selection.empty()) {
    const std::string& part = binding->selection;
    const std::string name = binding->name.empty() ? part.substr(part.rfind('/') + 1) : binding->name;
    e = add(open_hdf5(binding->path, part), name + "=excerpt.npy");
  } else if (extension == ".npz") {
    Result<std::vector<std::string>> members = list_members(binding->path);
    if (!members) return missing_file(binding->path, members.error());
    if (!binding->selection.empty()) members = std::vector<std::string>{binding->selection};
    if (!binding->name.empty() && members->size() != 1)
      return binding_error(text, fmt::format("the file holds {} arrays", members->size()),
                           {fmt::format("take one with `{}:member`", text)});
    for (const std::string& member : *members) {
      const std::string& name = binding->name.empty() ? member : binding->name;
      if (!e && is_name(name)) e = add(open_member(binding->path, member), name + "=excerpt.npy");
    }
  }
  return e ? Result<std::vector<RowBinding>>(*e) : out;
}

Result<Dataset> RowBinding::read(std::span<const RowRange> runs, const std::set<std::string>& as_text) const {
  Result<std::string> bytes = file_->excerpt(runs);
  if (!bytes) return bytes.error();
  Result<Binding> binding = parse_binding(text_);
  if (!binding) return binding.error();
  binding->path = path_;
  Result<Dataset> out = parse_bytes(*bytes, *binding, text_, as_text);
  const std::int64_t lines = runs.size() == 1 ? file_->skipped_lines(runs[0].begin) : 0;
  if (!out) {
    Error e = out.error();
    e.where = moved_by(e.where, path_, lines);
    return e;
  }
  for (auto& [name, array] : *out) {
    array.source = moved_by(array.source, path_, lines);
    array.named_by_binding = !binding->name.empty();
    if (array.shape.empty() || array.shape[0] != count_rows(runs))
      return data_error(path_, "the rows of the file cannot be told apart: some lines are empty",
                        {"write NA for a missing value, and no empty lines"});
  }
  return out;
}

bool reads_standard_input(const std::string& text) {
  const Result<Binding> binding = parse_binding(text);
  return binding && binding->path == kStandardInput;
}

std::string data_forms() {
  std::string out;
  for (const DataFormat& format : kDataFormats)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", format.forms);
  return out + ", each also with .gz";
}

Result<Dataset> read_binding(const std::string& text) {
  const Result<Binding> binding = parse_binding(text);
  if (!binding) return binding.error();
  try {
    const Result<std::string> bytes = read_bytes(binding->path, binding->compressed);
    if (!bytes) return bytes.error();
    Result<Dataset> arrays = parse_bytes(*bytes, *binding, text);
    if (!arrays) return arrays;
    return marked(std::move(*arrays), *binding);
  } catch (const std::bad_alloc&) {
    return data_error(binding->path, "the file does not fit into memory");
  } catch (const std::length_error&) {
    return data_error(binding->path, "the file does not fit into memory");
  }
}

Error duplicate_name_error(std::string where, const DataArray& first, const DataArray& then) {
  return {ExitCode::data,
          std::move(where),
          fmt::format("'{}' is given twice", printable(then.name)),
          {fmt::format("first by {}", first.source), fmt::format("then by {}", then.source),
           "choose what to read from a file: `x=file.csv:a,b`, `x=file.npz:member`"}};
}

Result<Dataset> read_bindings(const std::vector<std::string>& bindings) {
  Dataset all;
  for (const std::string& text : bindings) {
    Result<Dataset> part = read_binding(text);
    if (!part) return part.error();
    if (std::optional<Error> e = add_arrays(all, std::move(*part), text)) return *e;
  }
  return all;
}

/// The bindings, each with its file split into groups or read as a whole.
struct GroupedBindings::Impl {
  /// A binding of a table with the column, or of another file.
  struct Part {
    std::string text;  // the binding
    Binding binding;
    std::map<std::string, LineGroup> groups = {};  // by value; empty: a file without the column
    Dataset whole = {};                            // the arrays of such a file
  };
  std::vector<Part> parts;
  std::vector<std::string> groups;  // all values, in their order
};

Result<GroupedBindings> GroupedBindings::open(const std::vector<std::string>& bindings, const std::string& column) {
  auto out = std::make_shared<Impl>();
  std::set<std::string> seen;
  std::vector<std::string> names;  // of the columns of all tables
  for (const std::string& text : bindings) {
    Result<Binding> binding = parse_binding(text);
    if (!binding) return binding.error();
    Impl::Part part{text, *binding};
    const auto* const table = std::get_if<ReadTable>(&binding->format->read);
    std::optional<std::vector<LineGroup>> groups;
    if (table) {
      const Result<std::string> bytes = read_bytes(binding->path, binding->compressed);
      if (!bytes) return bytes.error();
      Result<std::optional<std::vector<LineGroup>>> split =
          split_table(*bytes, binding->path, *table == &parse_tsv, column);
      if (!split) return split.error();
      groups = std::move(*split);
    }
    if (!groups) {
      Result<Dataset> whole = read_binding(text);
      if (!whole) return whole.error();
      for (const auto& [name, array] : *whole)
        if (table) names.push_back(name);
      part.whole = std::move(*whole);
    } else {
      for (LineGroup& g : *groups) {
        if (seen.insert(g.value).second) out->groups.push_back(g.value);
        std::string value = g.value;
        part.groups.emplace(std::move(value), std::move(g));
      }
    }
    out->parts.push_back(std::move(part));
  }
  if (out->groups.empty()) {
    const std::string has = seen.empty() && names.empty() ? "no table is among the data" : suggest(column, names);
    return data_error(option("each"), fmt::format("no table has lines with a column '{}'", printable(column)), {has});
  }
  return GroupedBindings(std::move(out));
}

const std::vector<std::string>& GroupedBindings::groups() const { return impl_->groups; }

Result<Dataset> GroupedBindings::read(std::size_t group) const {
  Dataset all;
  for (const Impl::Part& part : impl_->parts) {
    if (part.groups.empty()) {
      if (std::optional<Error> e = add_arrays(all, part.whole, part.text)) return *e;
      continue;
    }
    const auto lines = part.groups.find(impl_->groups[group]);
    if (lines == part.groups.end())
      return data_error(part.binding.path, fmt::format("no line is of '{}'", printable(impl_->groups[group])));
    const auto moved = [&](std::string text) {
      return with_line(std::move(text), part.binding.path, [&](std::int64_t line) {
        const auto k = static_cast<std::size_t>(line - 1);
        return k < lines->second.lines.size() ? lines->second.lines[k] : line;
      });
    };
    Result<Dataset> arrays = parse_bytes(lines->second.bytes, part.binding, part.text);
    if (!arrays) {
      Error e = arrays.error();
      e.where = moved(e.where);
      return e;
    }
    for (auto& [name, array] : *arrays)
      array.source = moved(array.source);
    if (std::optional<Error> e = add_arrays(all, marked(std::move(*arrays), part.binding), part.text)) return *e;
  }
  return all;
}

Result<std::vector<std::string>> read_labels(const std::string& path) {
  const Result<std::string> bytes = read_bytes(path, path.ends_with(".gz"));
  if (!bytes) return bytes.error();
  return parse_labels(*bytes, path);
}

}  // namespace lehr
