// The plugin for NetCDF: formats and parses files of draws by the NetCDF C library, in memory. Internally errors are
// exceptions (Failure), which the exported functions convert.
#include "runtime/files/netcdf_codec.h"

#include <netcdf.h>
#include <netcdf_mem.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/files/hdf5_external.h"
#include "runtime/host.h"

namespace lehr {
namespace {

constexpr char kCoordinates[] = "coordinates";
constexpr int kCompression = 4;  // level of deflate for integers; other draws do not shrink

/// A status of the library; thrown.
struct Failure {
  int status;
};

/// Throws if a call failed.
void check(int status) {
  if (status != NC_NOERR) throw Failure{status};
}

/// Owns an open file and closes it unless it was closed before.
struct Open {
  int id = -1;
  ~Open() {
    if (id >= 0) nc_abort(id);
  }
};

/// Writes a text attribute of a group.
void write_text(int group, const std::string& name, const std::string& text) {
  check(nc_put_att_text(group, NC_GLOBAL, name.c_str(), text.size(), text.c_str()));
}

/// Writes a coordinate variable over its dimension.
void write_coordinate(int group, int dimension, const Coordinate& c) {
  const nc_type type = c.labels.empty() ? NC_INT64 : NC_STRING;
  int id = 0;
  check(nc_def_var(group, c.name.c_str(), type, 1, &dimension, &id));
  if (c.size() == 0) return;
  const std::size_t start = 0, count = c.size();  // explicit, since an unlimited dimension has no extent
  if (!c.labels.empty()) {
    std::vector<const char*> labels;
    for (const std::string& s : c.labels)
      labels.push_back(s.c_str());
    check(nc_put_vara_string(group, id, &start, &count, labels.data()));
  } else {
    check(nc_put_vara_double(group, id, &start, &count, c.values.data()));
  }
}

/// Writes an array, as 64-bit integers if its values are whole and finite.
void write_array(int group, const std::map<std::string, int>& dimensions, const LabelledArray& a) {
  std::vector<int> axes;
  for (const std::string& axis : a.axes)
    axes.push_back(dimensions.at(axis));
  const bool whole = a.integer && std::ranges::all_of(a.values, [](double x) { return std::isfinite(x); });
  int id = 0;
  check(
      nc_def_var(group, a.name.c_str(), whole ? NC_INT64 : NC_DOUBLE, static_cast<int>(axes.size()), axes.data(), &id));
  if (whole && !axes.empty()) check(nc_def_var_deflate(group, id, NC_SHUFFLE, 1, kCompression));
  if (!a.values.empty()) check(nc_put_var_double(group, id, a.values.data()));
}

/// Writes a group: dimensions, coordinates, arrays.
void write_group(int file, const ArrayGroup& g) {
  int group = 0;
  check(nc_def_grp(file, g.name.c_str(), &group));
  std::map<std::string, int> dimensions;
  for (const LabelledArray& a : g.arrays) {
    for (std::size_t k = 0; k < a.axes.size(); ++k) {
      if (dimensions.contains(a.axes[k])) continue;
      int& id = dimensions[a.axes[k]];
      check(nc_def_dim(group, a.axes[k].c_str(), static_cast<std::size_t>(a.shape[k]), &id));
    }
  }
  std::vector<std::string> others;
  for (const Coordinate& c : g.coordinates) {
    write_coordinate(group, dimensions.at(c.axis), c);
    if (c.name != c.axis) others.push_back(c.name);
  }
  if (!others.empty()) write_text(group, kCoordinates, fmt::format("{}", fmt::join(others, " ")));
  for (const LabelledArray& a : g.arrays)
    write_array(group, dimensions, a);
}

/// Returns the name that one of the library's inquiry functions reports.
std::string name_of(int group, int (*inquire)(int, int, char*), int id) {
  char name[NC_MAX_NAME + 1] = "";
  check(inquire(group, id, name));
  return name;
}

/// Reads a text attribute of a group.
std::string read_text(int group, const std::string& name) {
  std::size_t length = 0;
  check(nc_inq_attlen(group, NC_GLOBAL, name.c_str(), &length));
  std::string out(length, ' ');
  check(nc_get_att_text(group, NC_GLOBAL, name.c_str(), out.data()));
  return out;
}

/// Reads all text attributes of a group.
std::map<std::string, std::string> read_attributes(int group) {
  int count = 0;
  check(nc_inq_natts(group, &count));
  std::map<std::string, std::string> out;
  for (int k = 0; k < count; ++k) {
    char name[NC_MAX_NAME + 1] = "";
    nc_type type = NC_NAT;
    check(nc_inq_attname(group, NC_GLOBAL, k, name));
    check(nc_inq_atttype(group, NC_GLOBAL, name, &type));
    if (type == NC_CHAR) out[name] = read_text(group, name);
  }
  return out;
}

/// Splits text at spaces.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (const auto word : std::views::split(text, ' '))
    out.emplace_back(word.begin(), word.end());
  return out;
}

/// Reads a variable of strings.
std::vector<std::string> read_labels(int group, int variable, std::size_t count) {
  std::vector<char*> labels(count, nullptr);
  if (count > 0) check(nc_get_var_string(group, variable, labels.data()));
  std::vector<std::string> out;
  for (const char* s : labels)
    out.emplace_back(s == nullptr ? "" : s);
  if (count > 0) nc_free_string(count, labels.data());
  return out;
}

/// Reads a variable as coordinate or array of the group. `others` are the names in the attribute `coordinates`.
void read_variable(int group, int id, const std::vector<std::string>& others, ArrayGroup& to) {
  LabelledArray a;
  a.name = name_of(group, nc_inq_varname, id);
  nc_type type = NC_NAT;
  int rank = 0;
  check(nc_inq_vartype(group, id, &type));
  check(nc_inq_varndims(group, id, &rank));
  std::vector<int> axes(static_cast<std::size_t>(rank));
  check(nc_inq_vardimid(group, id, axes.data()));
  double elements = 1;
  for (const int axis : axes) {
    std::size_t extent = 0;
    check(nc_inq_dimlen(group, axis, &extent));
    a.axes.push_back(name_of(group, nc_inq_dimname, axis));
    a.shape.push_back(static_cast<std::int64_t>(extent));
    elements *= static_cast<double>(extent);
  }
  if (8 * elements > static_cast<double>(available_memory())) throw Failure{NC_ENOMEM};
  const auto size = static_cast<std::size_t>(elements);
  const bool coordinate = a.axes.size() == 1 && (a.axes[0] == a.name || std::ranges::count(others, a.name) > 0);
  if (coordinate && type == NC_STRING) {
    to.coordinates.push_back({a.name, a.axes[0], read_labels(group, id, size), {}});
    return;
  }
  a.integer = type == NC_INT64;
  a.values.resize(size);
  if (size > 0) check(nc_get_var_double(group, id, a.values.data()));
  if (coordinate) to.coordinates.push_back({a.name, a.axes[0], {}, std::move(a.values)});
  else to.arrays.push_back(std::move(a));
}

/// Reads a group.
ArrayGroup read_group(int group) {
  ArrayGroup out;
  char name[NC_MAX_NAME + 1] = "";
  check(nc_inq_grpname(group, name));
  out.name = name;
  const std::map<std::string, std::string> attributes = read_attributes(group);
  std::vector<std::string> others;
  if (const auto list = attributes.find(kCoordinates); list != attributes.end()) others = words_of(list->second);
  int count = 0;
  check(nc_inq_nvars(group, &count));
  for (int id = 0; id < count; ++id)
    read_variable(group, id, others, out);
  return out;
}

/// Implements NetcdfCodec::format.
Result<std::string> format(const LabelledArrays& arrays) {
  try {
    Open file;
    check(nc_create_mem("draws", NC_NETCDF4, 0, &file.id));
    for (const auto& [name, text] : arrays.attributes)
      write_text(file.id, name, text);
    for (const ArrayGroup& g : arrays.groups)
      write_group(file.id, g);
    NC_memio memory{};
    check(nc_close_memio(std::exchange(file.id, -1), &memory));
    std::string out(static_cast<const char*>(memory.memory), memory.size);
    std::free(memory.memory);
    return out;
  } catch (const Failure& f) {
    return Error{ExitCode::internal, "", fmt::format("NetCDF: {}", nc_strerror(f.status)), {}};
  }
}

/// Implements NetcdfCodec::parse.
Result<LabelledArrays> parse(std::string_view bytes, const std::string& path) {
  if (has_external_references(bytes.data(), bytes.size()))
    return Error{ExitCode::data, path, "not a file of draws: parts of it are in another file", {}};
  try {
    Open file;
    std::string copy(bytes);  // the library needs writable memory
    check(nc_open_mem(path.c_str(), NC_NOWRITE, copy.size(), copy.data(), &file.id));
    LabelledArrays out{read_attributes(file.id), {}};
    int count = 0;
    check(nc_inq_grps(file.id, &count, nullptr));
    std::vector<int> groups(static_cast<std::size_t>(count));
    check(nc_inq_grps(file.id, &count, groups.data()));
    for (const int g : groups)
      out.groups.push_back(read_group(g));
    return out;
  } catch (const Failure& f) {
    return Error{ExitCode::data, path, fmt::format("not a file of draws: {}", nc_strerror(f.status)), {}};
  }
}

}  // namespace
}  // namespace lehr

/// The table of functions that the plugin for NetCDF exports.
extern "C" const lehr::NetcdfCodec lehr_plugin{&lehr::format, &lehr::parse};
