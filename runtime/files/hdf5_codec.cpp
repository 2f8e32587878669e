// The plugin for HDF5: reads arrays by the HDF5 C library, from bytes in memory or from a file on disk.
//
// Groups are read in AnnData's encodings: sparse matrices, categories with codes, values with a mask. References from a
// file to other files are refused. Internally errors are exceptions (Failure), which the exported functions convert.
#include "runtime/files/hdf5_codec.h"

#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/files/hdf5_external.h"
#include "runtime/host.h"

namespace lehr {
namespace {

/// What is wrong with the part that is being read; thrown.
struct Failure {
  std::string text;
  std::vector<std::string> notes;
};

constexpr const char* kDamaged = "it is damaged, or compressed by a filter that the library of HDF5 has not";

/// Owns an HDF5 identifier and closes it. A negative identifier throws.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw Failure{kDamaged, {}};
  }
  Handle(const Handle&) = delete;
  ~Handle() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Throws if an HDF5 call failed.
void check(herr_t status) {
  if (status < 0) throw Failure{kDamaged, {}};
}

/// Returns the failure of numbers that are stored in another file.
Failure outside() { return {"its numbers are in another file, which is not read", {"copy them into this file"}}; }

/// Opens objects of a file by name, and refuses links to other files.
class Inside {
 public:
  Inside() : access_(H5Pcreate(H5P_LINK_ACCESS), H5Pclose) {
    const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) -> herr_t {
      return -1;
    };
    check(H5Pset_elink_cb(access_, refuse, nullptr));
  }
  /// Returns true if the group has a link of that name.
  bool has(hid_t group, const std::string& name) const { return H5Lexists(group, name.c_str(), access_) > 0; }
  /// Opens the object of that name; throws for a link to another file.
  hid_t open(hid_t group, const std::string& name) const {
    H5L_info_t about = {};
    if (H5Lget_info(group, name.c_str(), &about, access_) >= 0 && about.type == H5L_TYPE_EXTERNAL) throw outside();
    return H5Oopen(group, name.c_str(), access_);
  }

 private:
  Handle access_;
};

/// An open HDF5 file.
class File {
 public:
  /// Opens a file that is in memory as a whole.
  explicit File(std::string_view bytes) : access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), file_(open(bytes), H5Fclose) {}
  /// Opens a file on disk, to be read in pieces.
  explicit File(const std::string& path)
      : access_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), file_(opened(path.c_str()), H5Fclose) {}
  operator hid_t() const { return file_; }

 private:
  hid_t open(std::string_view bytes) const {
    if (bytes.empty()) throw Failure{"the file is empty", {}};
    constexpr std::size_t kIncrement = 1 << 16;
    check(H5Pset_fapl_core(access_, kIncrement, false));
    check(H5Pset_file_image(access_, const_cast<char*>(bytes.data()), bytes.size()));  // the library makes a copy
    return opened("memory");
  }
  hid_t opened(const char* name) const {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library prints nothing; failures are reported here
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, access_);
    if (file < 0) throw Failure{"not an HDF5 file, or one that was cut off", {}};
    return file;
  }

  Handle access_, file_;
};

/// Returns true if the group has a link of that name.
bool has(hid_t group, const std::string& name) { return Inside().has(group, name); }

/// Throws if this many bytes exceed the memory.
void check_memory(double bytes) {
  const auto memory = static_cast<double>(available_memory());
  if (bytes > memory)
    throw Failure{fmt::format("it needs {}, more than the memory of {}", format_bytes(bytes), format_bytes(memory)),
                  {}};
}

/// Returns the extents of a data space; {0} if it has no elements.
std::vector<std::int64_t> extents(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  std::vector<hsize_t> sizes(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  check(rank);
  constexpr auto kMost = static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max());
  if (std::any_of(sizes.begin(), sizes.begin() + rank, [](hsize_t n) { return n > kMost; }))
    throw Failure{kDamaged, {}};
  return {sizes.begin(), sizes.begin() + rank};
}

/// Returns the number of elements of a shape; throws if they do not fit into memory at `bytes_each`.
std::size_t count_of(std::span<const std::int64_t> shape, std::size_t bytes_each) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  double count = 1;
  for (const std::int64_t n : shape)
    count *= static_cast<double>(n);
  check_memory(count * static_cast<double>(bytes_each));
  return static_cast<std::size_t>(count);
}

/// Reads all elements of a dataset or attribute. `read(type, memory)` fills memory with elements of a type.
template <class Read>
Hdf5Array read_elements(hid_t type, hid_t space, const Read& read) {
  Hdf5Array out;
  out.shape = extents(space);
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t count = count_of(out.shape, std::max(sizeof(double), H5Tget_size(type)));
  if (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM) {
    out.values.resize(count);
    if (count > 0) check(read(H5T_NATIVE_DOUBLE, out.values.data()));
  } else if (kind == H5T_STRING && H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(count, nullptr);
    if (count > 0) check(read(type, texts.data()));
    for (const char* text : texts)
      out.texts.push_back(text ? std::optional<std::string>(text) : std::nullopt);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
  } else if (kind == H5T_STRING) {
    const std::size_t width = H5Tget_size(type);
    std::string all(count * width, '\0');
    if (count > 0) check(read(type, all.data()));
    for (std::size_t k = 0; k < count; ++k)
      out.texts.emplace_back(all.substr(k * width, std::min(all.find('\0', k * width) - k * width, width)));
  } else {
    throw Failure{"its elements are neither numbers nor text", {}};
  }
  return out;
}

/// Reads a dataset of numbers or text.
Hdf5Array read_dataset(hid_t id) {
  if (is_external(id)) throw outside();  // must come first: even asking for extents may open the other file
  const Handle type(H5Dget_type(id), H5Tclose), space(H5Dget_space(id), H5Sclose);
  return read_elements(type, space,
                       [&](hid_t as, void* to) { return H5Dread(id, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to); });
}

/// Reads an attribute of an object; empty if it has none of that name.
Hdf5Array read_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Handle id(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(id), H5Tclose), space(H5Aget_space(id), H5Sclose);
  return read_elements(type, space, [&](hid_t as, void* to) { return H5Aread(id, as, to); });
}

/// Returns the text of an attribute; empty if there is none.
std::string attribute_text(hid_t object, const char* name) {
  const Hdf5Array a = read_attribute(object, name);
  return a.texts.empty() ? "" : a.texts.front().value_or("");
}

/// Reads the dataset of that name in a group; throws if there is none.
Hdf5Array member(hid_t group, const char* name) {
  if (!has(group, name)) throw Failure{fmt::format("it has no '{}'", name), {}};
  const Handle id(Inside().open(group, name), H5Oclose);
  if (H5Iget_type(id) != H5I_DATASET) throw Failure{fmt::format("its '{}' is no array", name), {}};
  return read_dataset(id);
}

/// Reads the numeric dataset of that name in a group.
std::vector<double> numeric_values(hid_t group, const char* name) {
  Hdf5Array out = member(group, name);
  if (!out.texts.empty()) throw Failure{fmt::format("its '{}' are no numbers", name), {}};
  return std::move(out.values);
}

/// Reads a group in the encoding of a sparse matrix.
Hdf5Array read_sparse(hid_t group, bool by_columns) {
  std::vector<double> shape = read_attribute(group, "shape").values;
  if (shape.empty()) shape = read_attribute(group, "h5sparse_shape").values;
  CompressedMatrix matrix{by_columns, std::move(shape), numeric_values(group, "indptr"),
                          numeric_values(group, "indices"), numeric_values(group, "data")};
  Hdf5Array out;
  out.sparse = std::move(matrix);
  return out;
}

/// Reads a group of categories: `codes` are positions in `categories`, and -1 for a missing value.
Hdf5Array read_categories(hid_t group) {
  Hdf5Array out = member(group, "codes");
  if (!out.texts.empty()) throw Failure{"its 'codes' are no numbers", {}};
  const Hdf5Array names = member(group, "categories");
  const std::size_t count = std::max(names.texts.size(), names.values.size());
  const std::vector<double> codes = std::exchange(out.values, {});
  for (const double code : codes) {
    const bool missing = code == -1;
    if (!missing && !(code >= 0 && code < static_cast<double>(count) && code == std::trunc(code)))
      throw Failure{fmt::format("the code {:.10g} has no category", code),
                    {"codes are whole numbers from 0, and -1 where a value is missing"}};
    const auto k = missing ? 0 : static_cast<std::size_t>(code);
    if (!names.values.empty())
      out.values.push_back(missing ? std::numeric_limits<double>::quiet_NaN() : names.values[k]);
    else out.texts.push_back(missing ? std::nullopt : names.texts[k]);
  }
  return out;
}

/// Reads a group of `values` with a `mask` that is nonzero where a value is missing.
Hdf5Array read_masked(hid_t group) {
  Hdf5Array out = member(group, "values");
  const std::vector<double> mask = numeric_values(group, "mask");
  if (mask.size() != std::max(out.values.size(), out.texts.size()))
    throw Failure{"its 'mask' and its 'values' do not belong together", {}};
  for (std::size_t k = 0; k < mask.size(); ++k) {
    if (mask[k] == 0) continue;
    if (k < out.values.size()) out.values[k] = std::numeric_limits<double>::quiet_NaN();
    if (k < out.texts.size()) out.texts[k].reset();
  }
  return out;
}

/// Reads a dataset, or a group in one of the encodings; nothing for other objects.
std::optional<Hdf5Array> read_object(hid_t id) {
  if (H5Iget_type(id) == H5I_DATASET) return read_dataset(id);
  if (H5Iget_type(id) != H5I_GROUP) return std::nullopt;
  std::string kind = attribute_text(id, "encoding-type");
  if (kind.empty()) kind = attribute_text(id, "h5sparse_format");
  if (kind.starts_with("csr") || kind.starts_with("csc")) return read_sparse(id, kind.starts_with("csc"));
  if (kind == "categorical") return read_categories(id);
  if (has(id, "values") && has(id, "mask")) return read_masked(id);
  return std::nullopt;
}

/// Returns the names of a group's links, sorted.
std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> out;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &out));
  return out;
}

/// Returns true if the file has an object at this path. Each link on the way is tested, since the library fails if one
/// is missing.
bool exists(hid_t file, const std::string& part) {
  if (part.find_first_not_of('/') == std::string::npos) return !part.empty();
  for (std::size_t slash = part.find('/', 1); slash != std::string::npos; slash = part.find('/', slash + 1))
    if (part.find_first_not_of('/') < slash && !has(file, part.substr(0, slash))) return false;
  return has(file, part);
}

/// Returns the failure of a missing part, with a list of what its folder contains.
Failure missing(hid_t file, const std::string& part) {
  const std::size_t slash = part.rfind('/');
  std::string folder = slash == std::string::npos ? "/" : part.substr(0, slash);
  if (!exists(file, folder) && folder != "/") folder = "/";
  const Handle group(folder == "/" ? H5Gopen2(file, "/", H5P_DEFAULT) : Inside().open(file, folder), H5Oclose);
  return {"it is not in the file", {fmt::format("in {} there are: {}", folder, fmt::join(names_in(group), ", "))}};
}

/// Implements Hdf5Codec::read.
Result<std::map<std::string, Hdf5Array>> read(std::string_view bytes, const std::string& path,
                                              const std::vector<std::string>& parts) {
  std::string now;
  try {
    const File file(bytes);
    std::map<std::string, Hdf5Array> out;
    for (const std::string& part : parts.empty() ? names_in(file) : parts) {
      now = part;
      if (!exists(file, part)) throw missing(file, part);
      const Handle id(Inside().open(file, part), H5Oclose);
      std::optional<Hdf5Array> array = read_object(id);
      if (array) out[part] = std::move(*array);
      else if (!parts.empty()) throw Failure{"it is no array", {"name one inside of it: `x=file.h5:group/array`"}};
    }
    return out;
  } catch (const Failure& f) {
    return Error{ExitCode::data, now.empty() ? path : fmt::format("{}:{}", path, now), f.text, f.notes};
  }
}

/// Implements Hdf5Rows on a dataset of an open file.
class RowsOfDataset : public Hdf5Rows {
 public:
  RowsOfDataset(const std::string& path, const std::string& part)
      : location_(fmt::format("{}:{}", path, part)), file_(path), id_(open(part), H5Oclose) {
    const Handle type(H5Dget_type(id_), H5Tclose), space(H5Dget_space(id_), H5Sclose);
    shape_ = extents(space);
    const H5T_class_t kind = H5Tget_class(type);
    if (shape_.empty() || (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM)) throw Failure{kNoRows, {}};
  }

  const std::vector<std::int64_t>& shape() const override { return shape_; }
  std::optional<Error> read(std::int64_t begin, std::int64_t end, std::vector<double>& to) const override try {
    std::vector<hsize_t> from(shape_.size(), 0), count(shape_.begin(), shape_.end());
    from[0] = static_cast<hsize_t>(begin);
    count[0] = static_cast<hsize_t>(end - begin);
    const std::size_t length = count_of(std::vector<std::int64_t>(count.begin(), count.end()), sizeof(double));
    if (length == 0) return std::nullopt;
    const Handle space(H5Dget_space(id_), H5Sclose);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr));
    to.resize(to.size() + length);
    check(H5Dread(id_, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to.data() + (to.size() - length)));
    return std::nullopt;
  } catch (const Failure& f) {
    return Error{ExitCode::data, location_, f.text, f.notes};
  }

 private:
  static constexpr const char* kNoRows = "it cannot be read in pieces: it is no array of numbers";

  /// Opens the dataset; throws if the part is missing, is no dataset, or is stored in another file.
  hid_t open(const std::string& part) const {
    if (!exists(file_, part)) throw missing(file_, part);
    const hid_t object = Inside().open(file_, part);
    const bool wrong = H5Iget_type(object) != H5I_DATASET;
    if (!wrong && !is_external(object)) return object;
    if (object >= 0) H5Oclose(object);
    throw wrong ? Failure{kNoRows, {}} : outside();
  }

  std::string location_;
  File file_;
  Handle id_;
  std::vector<std::int64_t> shape_;
};

/// Implements Hdf5Codec::rows.
Result<std::shared_ptr<const Hdf5Rows>> rows(const std::string& path, const std::string& part) try {
  return std::shared_ptr<const Hdf5Rows>(std::make_shared<RowsOfDataset>(path, part));
} catch (const Failure& f) {
  return Error{ExitCode::data, fmt::format("{}:{}", path, part), f.text, f.notes};
}

/// Implements Hdf5Codec::index.
Result<std::vector<std::string>> read_index(std::string_view bytes, const std::string& path, const std::string& table) {
  try {
    const File file(bytes);
    if (!has(file, table)) return std::vector<std::string>();
    const Handle group(Inside().open(file, table), H5Oclose);
    std::string name = attribute_text(group, "_index");
    if (H5Iget_type(group) != H5I_GROUP || name.empty() || !has(group, name)) return std::vector<std::string>();
    std::vector<std::string> out;
    for (std::optional<std::string>& text : member(group, name.c_str()).texts)
      out.push_back(std::move(text).value_or(""));
    return out;
  } catch (const Failure& f) {
    return Error{ExitCode::data, fmt::format("{}:{}", path, table), f.text, f.notes};
  }
}

}  // namespace
}  // namespace lehr

/// The table of functions that the plugin for HDF5 exports.
extern "C" const lehr::Hdf5Codec lehr_plugin = {&lehr::read, &lehr::read_index, &lehr::rows};
