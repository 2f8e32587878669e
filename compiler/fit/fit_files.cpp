// Writes the files of a fit beside their destinations, and renames them while a lock on the directory is held. Fits
// that write into the same directory at the same time do not mix their files.
#include "compiler/fit/fit_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compiler/fit/method.h"
#include "runtime/files/npz.h"
#include "runtime/output/saved_fit.h"

namespace lehr {
namespace {

/// Records size and checksum of a file in fit.json.
void seal(nlohmann::json& summary, const std::string& name, const FileDigest& s) {
  summary["files"][name] = {{"size", s.size}, {"crc32", s.crc}};
}

/// Holds an exclusive lock on a directory during its lifetime, so that one complete set of files is renamed after
/// another.
class Locked {
 public:
  explicit Locked(const std::string& directory)
      : folder_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A file system without locks makes this fail, which does no harm.
    if (folder_ >= 0) ::flock(folder_, LOCK_EX);
  }
  Locked(const Locked&) = delete;
  ~Locked() {
    if (folder_ >= 0) ::close(folder_);
  }

 private:
  int folder_;
};

}  // namespace

std::string text_of(const nlohmann::json& summary) {
  return summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<bool> FitFiles::put_beside(const std::string& name, std::string_view bytes) {
  Result<AtomicFile> file = AtomicFile::begin(directory_ + "/" + name, 0666, ExistingTarget::replaced);
  if (!file) return file.error();
  if (Result<bool> r = file->append(bytes); !r) return r;
  if (Result<bool> r = file->sync(); !r) return r;
  files_.push_back(std::move(*file));
  return true;
}

Result<bool> FitFiles::add(nlohmann::json& summary, const std::string& name, std::string_view bytes) {
  seal(summary, name, file_digest(bytes));
  return put_beside(name, bytes);
}

Result<bool> FitFiles::finish(const std::vector<NamedArray>& posterior, const std::vector<NamedArray>& items,
                              nlohmann::json& summary) {
  // The arrays of a failed fit may contain NaN or infinity; such arrays are not written.
  std::vector<NamedArray> written;
  const bool failed = summary.value("status", "") == name_of(Status::numerical_failure);
  std::ranges::copy_if(posterior, std::back_inserter(written), [&](const NamedArray& a) {
    return !failed || std::ranges::all_of(a.values, [](double x) { return std::isfinite(x); });
  });
  const bool has_items = !failed && !items.empty();
  const Result<std::string> bytes = format_npz(written),
                            of_items = has_items ? format_npz(items) : Result<std::string>(std::string());
  if (!bytes) return bytes.error();
  if (!of_items) return of_items.error();
  if (Result<bool> r = add(summary, "posterior.npz", *bytes); !r) return r;
  if (Result<bool> r = has_items ? add(summary, "items.npz", *of_items) : true; !r) return r;
  const Locked together(directory_);
  const Result<FileDigest> trace = file_digest_of(directory_ + "/trace.csv");
  if (!trace) return trace.error();
  seal(summary, "trace.csv", *trace);
  // fit.json is renamed last: it confirms the other files.
  if (Result<bool> r = put_beside("fit.json", text_of(summary)); !r) return r;
  for (AtomicFile& file : files_)
    if (Result<bool> r = file.finish(); !r) return r;
  files_.clear();
  return true;
}

}  // namespace lehr
