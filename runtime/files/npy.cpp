// Parses and formats NPY files and NPZ archives. An NPY header is a Python dictionary with three keys; it is
// rewritten as JSON and parsed as such. The elements follow it as they lie in memory.
#include "runtime/files/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include "runtime/files/atomic_file.h"
#include "runtime/files/npy_text.h"
#include "runtime/files/readers.h"
#include "runtime/files/text.h"
#include "runtime/files/zip.h"
#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr const char* kShape = "shape";  // key of a header

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 32;

/// The contents of a header.
struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

/// Rewrites a header from Python's syntax to JSON: tuples as lists, no comma before a closing bracket.
std::string as_json(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool closes = c == ')' || c == ']' || c == '}';
    while (closes && (out.ends_with(' ') || out.ends_with(',')))
      out.pop_back();
    const bool is_long = c == 'L' && !out.empty() && out.back() >= '0' && out.back() <= '9';  // Python 2 writes 3L
    if (!is_long) out += c == '\'' ? '"' : c == '(' ? '[' : c == ')' ? ']' : c == 'T' ? 't' : c == 'F' ? 'f' : c;
  }
  return out;
}

/// Parses the dictionary of a header; nothing if it is malformed.
std::optional<Header> parse_header(std::string_view text) {
  try {
    const nlohmann::json read = nlohmann::json::parse(as_json(text)), &descr = read.at("descr");
    Header out{descr.is_string() ? descr.get<std::string>() : descr.dump(), read.at("fortran_order").get<bool>(), {}};
    for (const nlohmann::json& extent : read.at(kShape)) {
      out.shape.push_back(extent.get<std::int64_t>());
      if (!extent.is_number_integer() || out.shape.back() < 0 || out.shape.size() > kMostAxes) return std::nullopt;
    }
    return out;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

/// Returns the product of the shape; nothing if it overflows.
std::optional<std::uint64_t> count_of(const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape)
    if (extent == 0) return 0;
  for (const std::int64_t extent : shape) {
    if (count > std::numeric_limits<std::uint64_t>::max() / static_cast<std::uint64_t>(extent)) return std::nullopt;
    count *= static_cast<std::uint64_t>(extent);
  }
  return count;
}

/// A Boolean of NumPy.
struct Truth {
  unsigned char byte;
  operator double() const { return byte != 0; }
};

/// Fills `values` from numbers of type T, whose bytes are in reverse order if `swapped`.
template <class T>
void load(std::vector<double>& values, const char* from, bool swapped) {
  for (double& value : values) {
    std::array<char, sizeof(T)> bytes;
    std::copy_n(from, sizeof(T), bytes.begin());
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    value = static_cast<double>(std::bit_cast<T>(bytes));
    from += sizeof(T);
  }
}

/// A numeric dtype: its kind and size as in `descr`, and the function that loads it.
struct Type {
  std::string_view name;
  void (*load)(std::vector<double>& values, const char* from, bool swapped);
};

constexpr Type kTypes[] = {
    {"b1", load<Truth>},         {"i1", load<std::int8_t>},  {"i2", load<std::int16_t>},  {"i4", load<std::int32_t>},
    {"i8", load<std::int64_t>},  {"u1", load<std::uint8_t>}, {"u2", load<std::uint16_t>}, {"u4", load<std::uint32_t>},
    {"u8", load<std::uint64_t>}, {"f2", load<Eigen::half>},  {"f4", load<float>},         {"f8", load<double>},
};

/// Reorders elements from Fortran order (first axis fastest) to C order (last axis fastest).
std::vector<double> row_major(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  std::vector<double> out(values.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::vector<std::size_t> stride(shape.size(), 1);
  for (std::size_t axis = 1; axis < shape.size(); ++axis)
    stride[axis] = stride[axis - 1] * static_cast<std::size_t>(shape[axis - 1]);
  std::size_t from = 0;
  for (double& value : out) {
    value = values[from];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return out;
}

/// Where the elements of an NPY file lie and what they are.
struct Layout {
  Header header;
  std::size_t begin = 0, size = 0;  // offset of the first element; bytes of one
  std::uint64_t count = 0;
  const Type* type = nullptr;
  bool swapped = false;
  std::optional<TextType> text = {};  // set for text, in place of `type`
};

/// Parses the header at the start of a file of `all` bytes, and checks that the elements fit into the file.
Result<Layout> read_layout(std::string_view bytes, std::uint64_t all, const std::string& path) {
  if (all == 0) return data_error(path, "the file is empty");
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) return data_error(path, "not an NPY file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) return data_error(path, fmt::format("NPY version {} is unknown", version));
  const std::size_t start = version == 1 ? 10 : 12;
  const std::size_t length =
      version == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - start < length) return data_error(path, "the header is cut off");
  const std::optional<Header> header = parse_header(bytes.substr(start, length));
  if (!header) return data_error(path, "the header is damaged");
  Layout out{*header, start + length};

  // `descr` is a byte-order sign, a kind and a size: "<f8", "|b1", ">i4".
  const std::string_view descr = header->descr;
  const bool has_sign = descr.find_first_of("<>|=") == 0;
  out.swapped = descr.starts_with(std::endian::native == std::endian::big ? '<' : '>');
  out.type = std::find_if(std::begin(kTypes), std::end(kTypes),
                          [&](const Type& type) { return type.name == descr.substr(has_sign ? 1 : 0); });
  out.text = text_type(descr.substr(has_sign ? 1 : 0), out.swapped);
  if (out.type == std::end(kTypes) && !out.text)
    return data_error(path, fmt::format("dtype '{}' is neither numeric nor text", printable(descr)),
                      {"bool, integers and floats of 2, 4 and 8 bytes are read; convert with `array.astype(float)`, "
                       "objects that are text with `array.astype(str)`"});
  out.size = out.text ? out.text->size : static_cast<std::size_t>(out.type->name[1] - '0');
  const std::optional<std::uint64_t> count = count_of(header->shape);
  const std::uint64_t body = all - out.begin;
  if (!count || *count > body / out.size)
    return data_error(path, fmt::format("shape ({}) of '{}' needs more than the {} bytes there are",
                                        fmt::join(header->shape, ", "), descr, body));
  out.count = *count;
  return out;
}

/// Returns an error if the elements, as doubles, exceed the memory.
std::optional<Error> too_large(const Layout& layout, const std::string& path) {
  const double needed = 8 * static_cast<double>(layout.count), available = static_cast<double>(available_memory());
  if (needed <= available) return std::nullopt;
  return data_error(path,
                    fmt::format("shape ({}) needs {}, more than the memory of {}", fmt::join(layout.header.shape, ", "),
                                format_bytes(needed), format_bytes(available)));
}

/// Formats a header of version 1.0, padded to a multiple of 64 bytes.
std::string header_of(std::string_view descr, const std::vector<std::int64_t>& extents) {
  std::string shape;
  for (const std::int64_t extent : extents)
    shape += fmt::format("{}, ", extent);
  if (extents.size() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr,
                                   extents.size() == 1 ? shape.substr(0, shape.size() - 1) : shape);
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  header.append(kAlignment - 1 - (kPrefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

/// Converts an array to data.
DataArray as_data(NamedArray array, std::string source) {
  DataArray data;
  data.name = std::move(array.name);
  data.shape = std::move(array.shape);
  data.values = std::move(array.values);
  data.source = std::move(source);
  set_flags(data);
  return data;
}

}  // namespace

Result<NamedArray> parse_npy(std::string_view bytes, const std::string& path) {
  const Result<Layout> layout = read_layout(bytes, bytes.size(), path);
  if (!layout) return layout.error();
  if (std::optional<Error> e = too_large(*layout, path)) return *e;
  if (layout->text) return data_error(path, "the array is text, and must be numbers");
  NamedArray array;
  array.shape = layout->header.shape;
  array.integer = layout->type->name[0] != 'f';
  array.values.resize(layout->count);
  layout->type->load(array.values, bytes.data() + layout->begin, layout->swapped);
  if (layout->header.fortran && array.shape.size() > 1) array.values = row_major(array.values, array.shape);
  return array;
}

Result<NpyRowLayout> npy_row_layout(std::string_view begin, std::uint64_t size, const std::string& path) {
  const Result<Layout> layout = read_layout(begin, size, path);
  if (!layout) return layout.error();
  const std::vector<std::int64_t>& shape = layout->header.shape;
  if (shape.empty()) return data_error(path, "a single number has no rows");
  if (layout->header.fortran && shape.size() > 1)
    return data_error(path, "the array is in Fortran order: its rows do not lie together",
                      {"write it with `numpy.save(path, numpy.ascontiguousarray(array))`"});
  const auto rows = static_cast<std::uint64_t>(shape[0]);
  return NpyRowLayout{layout->begin, rows == 0 ? 0 : layout->count / rows * layout->size, layout->header.descr, shape};
}

std::string NpyRowLayout::header(std::int64_t rows) const {
  std::vector<std::int64_t> extents = shape;
  extents[0] = rows;
  return header_of(descr, extents);
}

std::string format_npy(const NamedArray& array) {
  std::string out = header_of(array.integer ? "<i8" : "<f8", array.shape);
  const std::size_t start = out.size();
  out.resize(start + 8 * array.values.size());
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const std::uint64_t bits = array.integer ? static_cast<std::uint64_t>(std::llround(array.values[i]))
                                             : std::bit_cast<std::uint64_t>(array.values[i]);
    for (std::size_t b = 0; b < 8; ++b)
      out[start + 8 * i + b] = static_cast<char>(bits >> (8 * b));
  }
  return out;
}

Result<DataArray> npy_data(std::string_view bytes, const std::string& path) {
  const Result<Layout> layout = read_layout(bytes, bytes.size(), path);
  if (!layout || !layout->text) {
    Result<NamedArray> array = parse_npy(bytes, path);
    if (!array) return array.error();
    return as_data(std::move(*array), path);
  }
  Result<DataArray> array = text_data(bytes.substr(layout->begin, layout->count * layout->size), *layout->text, path);
  if (!array) return array;
  array->shape = layout->header.shape;
  if (layout->header.fortran && array->shape.size() > 1) array->values = row_major(array->values, array->shape);
  return array;
}

Error duplicate_member_error(const std::string& path, const std::string& name) {
  return data_error(path, fmt::format("there are two arrays of the name '{}'", printable(name)));
}

namespace {

/// Parses all arrays of an archive by `parse`. Headers, names and total size are checked before a member is extracted.
template <class Array>
Result<std::vector<Array>> parse_members(std::string_view bytes, const std::string& path,
                                         Result<Array> (*parse)(std::string_view, const std::string&)) {
  if (bytes.empty()) return data_error(path, "the file is empty");
  constexpr std::string_view kEnding = ".npy";
  const auto named = [&](std::string_view name) {
    return fmt::format("{}:{}", path, printable(name.substr(0, name.size() - kEnding.size())));
  };
  double needed = 0;
  std::set<std::string, std::less<>> names;
  const auto filter = [&](std::string_view name, std::uint64_t size, std::string_view begin) -> Result<bool> {
    if (!name.ends_with(kEnding)) return false;
    if (find_invalid_utf8(name)) return data_error(named(name), "the name of the member is not UTF-8");
    if (!names.emplace(name).second)
      return duplicate_member_error(path, std::string(name.substr(0, name.size() - kEnding.size())));
    const Result<Layout> layout = read_layout(begin, size, named(name));
    if (!layout) return layout.error();
    if (std::optional<Error> e = too_large(*layout, named(name))) return *e;
    if (const std::uint64_t used = layout->begin + layout->count * layout->size; used != size)
      return data_error(named(name), fmt::format("the member has {} bytes and its shape ({}) accounts for {}", size,
                                                 fmt::join(layout->header.shape, ", "), used));
    needed += 8 * static_cast<double>(layout->count) + static_cast<double>(size);
    if (needed > static_cast<double>(available_memory()))
      return data_error(path, fmt::format("the arrays need {}, more than the memory of {}", format_bytes(needed),
                                          format_bytes(static_cast<double>(available_memory()))));
    return true;
  };
  Result<std::vector<ZipMember>> members = read_zip(bytes, path, filter);
  if (!members) return members.error();
  std::vector<Array> arrays;
  for (ZipMember& member : *members) {
    Result<Array> array = parse(member.bytes, named(member.name));
    if (!array) return array.error();
    array->name = member.name.substr(0, member.name.size() - kEnding.size());
    arrays.push_back(std::move(*array));
    member.bytes = std::string();
  }
  return arrays;
}

}  // namespace

Result<std::vector<NamedArray>> parse_npz(std::string_view bytes, const std::string& path) {
  return parse_members(bytes, path, &parse_npy);
}

Result<Dataset> npz_data(std::string_view bytes, const std::string& path) {
  Result<std::vector<DataArray>> members = parse_members(bytes, path, &npy_data);
  if (!members) return members.error();
  if (members->empty()) return data_error(path, "the archive holds no arrays");
  Dataset dataset;
  for (DataArray& member : *members) {
    const std::string name = member.name;
    member.source = fmt::format("{}, '{}'", path, printable(name));
    dataset[name] = std::move(member);
  }
  return dataset;
}

Result<std::vector<NamedArray>> read_npz(const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return bytes.error();
  return parse_npz(*bytes, path);
}

Result<std::string> format_npz(const std::vector<NamedArray>& members) {
  std::vector<ZipMember> files;
  for (const NamedArray& member : members) {
    if (count_of(member.shape) != member.values.size())
      return Error{ExitCode::internal,
                   member.name,
                   fmt::format("{} values for shape ({})", member.values.size(), fmt::join(member.shape, ", ")),
                   {}};
    files.push_back({member.name + ".npy", format_npy(member)});
  }
  return write_zip(files);
}

Result<bool> write_npz(const std::string& path, const std::vector<NamedArray>& members) {
  const Result<std::string> bytes = format_npz(members);
  if (!bytes) return bytes.error();
  return write_file(path, *bytes);
}

}  // namespace lehr
