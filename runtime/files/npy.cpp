// NPY headers are a Python dictionary with three known keys; the data follow, as they lie in memory.
#include "runtime/files/npy.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/readers.h"
#include "runtime/files/text.h"
#include "runtime/files/zip.h"
#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 32;

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

/// What follows `'key':`, without the spaces; empty when there is none.
std::string_view after_key(std::string_view text, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{0}{1}{0}", quote, key);
    const std::size_t found = text.find(quoted);
    if (found == std::string_view::npos) continue;
    std::size_t at = text.find_first_not_of(' ', found + quoted.size());
    if (at == std::string_view::npos || text[at] != ':') return {};
    at = text.find_first_not_of(' ', at + 1);
    return at == std::string_view::npos ? std::string_view() : text.substr(at);
  }
  return {};
}

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  if (text.empty() || text[0] != '(') return std::nullopt;
  text.remove_prefix(1);
  for (;;) {
    const std::size_t start = text.find_first_not_of(" ,L");
    if (start == std::string_view::npos) return std::nullopt;
    text.remove_prefix(start);
    if (text[0] == ')') return shape;
    std::int64_t extent = 0;
    const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (failure != std::errc() || extent < 0 || shape.size() == kMostAxes) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
}

std::optional<Header> parse_header(std::string_view text) {
  Header header;
  const std::string_view descr = after_key(text, "descr"), order = after_key(text, "fortran_order");
  const auto shape = parse_shape(after_key(text, "shape"));
  if (descr.empty() || !shape) return std::nullopt;
  const bool quoted = descr[0] == '\'' || descr[0] == '"';
  const std::size_t end = quoted ? descr.find(descr[0], 1) : descr.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  header.descr = quoted ? descr.substr(1, end - 1) : descr.substr(0, end + 1);
  if (!order.starts_with("True") && !order.starts_with("False")) return std::nullopt;
  header.fortran = order.starts_with("True");
  header.shape = *shape;
  return header;
}

/// The number of elements, or nothing when it does not fit.
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

double half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double size = std::ldexp(fraction, -24);
  if (exponent == 31)
    size = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent > 0) size = std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

template <class T>
T load(const char* from, bool swapped) {
  char bytes[sizeof(T)];
  if (swapped)
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes[i] = from[sizeof(T) - 1 - i];
  else std::memcpy(bytes, from, sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
void load_all(std::vector<double>& values, const char* from, bool swapped) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(load<T>(from + i * sizeof(T), swapped));
}

/// Fills `values`; false when the type is not one that has numbers.
bool load_values(std::vector<double>& values, const char* from, char kind, std::size_t size, bool swapped) {
  switch (kind) {
    case 'b':
      if (size == 1)
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = from[i] != 0;
      return size == 1;
    case 'i':
      if (size == 1) return load_all<std::int8_t>(values, from, swapped), true;
      if (size == 2) return load_all<std::int16_t>(values, from, swapped), true;
      if (size == 4) return load_all<std::int32_t>(values, from, swapped), true;
      if (size == 8) return load_all<std::int64_t>(values, from, swapped), true;
      return false;
    case 'u':
      if (size == 1) return load_all<std::uint8_t>(values, from, swapped), true;
      if (size == 2) return load_all<std::uint16_t>(values, from, swapped), true;
      if (size == 4) return load_all<std::uint32_t>(values, from, swapped), true;
      if (size == 8) return load_all<std::uint64_t>(values, from, swapped), true;
      return false;
    case 'f':
      if (size == 4) return load_all<float>(values, from, swapped), true;
      if (size == 8) return load_all<double>(values, from, swapped), true;
      if (size == 2)
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = half(load<std::uint16_t>(from + 2 * i, swapped));
      return size == 2;
    default:
      return false;
  }
}

/// From first axis fastest to last axis fastest.
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

/// Where the numbers of an NPY file stand and what they are, from its header.
struct Layout {
  Header header;
  std::size_t begin = 0, size = 0;  // of the numbers, and of one of them
  std::uint64_t count = 0;
  char kind = 'f', sign = '|';
};

/// From the first bytes of a file of `all` bytes.
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
  Layout out{*header, start + length, 0, 0, 'f', '|'};

  // `descr` is an order sign, a kind and a size: "<f8", "|b1", ">i4".
  const std::string& descr = header->descr;
  out.sign = descr.empty() ? '?' : descr[0];
  const bool has_sign = out.sign == '<' || out.sign == '>' || out.sign == '|' || out.sign == '=';
  const std::string_view type = std::string_view(descr).substr(has_sign ? 1 : 0);
  out.size = type.size() == 2 && type[1] >= '1' && type[1] <= '8' ? static_cast<std::size_t>(type[1] - '0') : 0;
  std::vector<double> probe;
  if (out.size == 0 || !load_values(probe, bytes.data(), type[0], out.size, false))
    return data_error(path, fmt::format("dtype '{}' is not numeric", printable(descr)),
                      {"bool, integers and floats of 2, 4 and 8 bytes are read; convert with `array.astype(float)`"});
  out.kind = type[0];
  const std::optional<std::uint64_t> count = count_of(header->shape);
  const std::uint64_t body = all - out.begin;
  if (!count || *count > body / out.size)
    return data_error(path, fmt::format("shape ({}) of '{}' needs more than the {} bytes there are",
                                        fmt::join(header->shape, ", "), descr, body));
  out.count = *count;
  if (const double needed = 8 * static_cast<double>(*count); needed > static_cast<double>(memory_of_machine()))
    return data_error(path,
                      fmt::format("shape ({}) needs {}, more than the memory of {}", fmt::join(header->shape, ", "),
                                  as_bytes(needed), as_bytes(static_cast<double>(memory_of_machine()))));
  return out;
}

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
  NamedArray array;
  array.shape = layout->header.shape;
  array.integer = layout->kind != 'f';
  array.values.resize(layout->count);
  const bool big = std::endian::native == std::endian::big;
  load_values(array.values, bytes.data() + layout->begin, layout->kind, layout->size,
              layout->sign == (big ? '<' : '>'));
  if (layout->header.fortran && array.shape.size() > 1) array.values = row_major(array.values, array.shape);
  return array;
}

std::string format_npy(const NamedArray& array) {
  std::string shape;
  for (const std::int64_t extent : array.shape)
    shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.integer ? "<i8" : "<f8",
                  array.shape.size() == 1 ? shape.substr(0, shape.size() - 1) : shape);
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  header.append(kAlignment - 1 - (kPrefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
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

Result<std::vector<NamedArray>> parse_npz(std::string_view bytes, const std::string& path) {
  if (bytes.empty()) return data_error(path, "the file is empty");
  constexpr std::string_view kEnding = ".npy";
  const auto named = [&](std::string_view name) {
    return fmt::format("{}:{}", path, printable(name.substr(0, name.size() - kEnding.size())));
  };
  double needed = 0;
  const auto filter = [&](std::string_view name, std::uint64_t size, std::string_view begin) -> Result<bool> {
    if (!name.ends_with(kEnding)) return false;
    if (not_utf8(name)) return data_error(named(name), "the name of the member is not UTF-8");
    const Result<Layout> layout = read_layout(begin, size, named(name));
    if (!layout) return layout.error();
    if (const std::uint64_t used = layout->begin + layout->count * layout->size; used != size)
      return data_error(named(name), fmt::format("the member has {} bytes and its shape ({}) accounts for {}", size,
                                                 fmt::join(layout->header.shape, ", "), used));
    needed += 8 * static_cast<double>(layout->count) + static_cast<double>(size);
    if (needed > static_cast<double>(memory_of_machine()))
      return data_error(path, fmt::format("the arrays need {}, more than the memory of {}", as_bytes(needed),
                                          as_bytes(static_cast<double>(memory_of_machine()))));
    return true;
  };
  Result<std::vector<ZipMember>> members = read_zip(bytes, path, filter);
  if (!members) return members.error();
  std::vector<NamedArray> arrays;
  for (ZipMember& member : *members) {
    Result<NamedArray> array = parse_npy(member.bytes, named(member.name));
    if (!array) return array.error();
    array->name = member.name.substr(0, member.name.size() - kEnding.size());
    arrays.push_back(std::move(*array));
    member.bytes = std::string();
  }
  return arrays;
}

Result<DataArray> npy_data(std::string_view bytes, const std::string& path) {
  Result<NamedArray> array = parse_npy(bytes, path);
  if (!array) return array.error();
  return as_data(std::move(*array), path);
}

Result<Dataset> npz_data(std::string_view bytes, const std::string& path) {
  Result<std::vector<NamedArray>> members = parse_npz(bytes, path);
  if (!members) return members.error();
  if (members->empty()) return data_error(path, "the archive holds no arrays");
  Dataset dataset;
  for (NamedArray& member : *members) {
    const std::string name = member.name;
    dataset[name] = as_data(std::move(member), fmt::format("{}, '{}'", path, printable(name)));
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
