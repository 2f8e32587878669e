// Writes the files of a fit beside their destinations, and renames them while a lock on the directory is held. Fits
// that write into the same directory at the same time do not mix their files.
#include "compiler/fit/write_fit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "runtime/files/new_file.h"
#include "runtime/output/fit_files.h"
#include "runtime/output/saved_fit.h"

namespace lehr {
namespace {

/// A file of the table that is written with the others.
struct WrittenFile {
  const char* name;                                                 // as in the table
  Result<bool> (*write)(const FitOutput& fit, const AddFile& add);  // its writer
};

constexpr WrittenFile kWrittenFiles[] = {
#define FIT_FILE(constant, name, presence, writer, description) {constant, writer},
#include "runtime/output/fit_files.def"
};

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

/// Writes a file under a temporary name beside its destination in `path`.
Result<AtomicFile> put_beside(const std::string& path, std::string_view bytes) {
  Result<AtomicFile> file = AtomicFile::begin(path, 0666, ExistingTarget::replaced);
  if (!file) return file;
  if (Result<bool> r = file->append(bytes); !r) return r.error();
  if (Result<bool> r = file->sync(); !r) return r.error();
  return file;
}

}  // namespace

std::string text_of(const nlohmann::json& summary) {
  return summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool FitOutput::failed() const { return summary.value("status", "") == name_of(Status::numerical_failure); }
bool FitOutput::sampled() const { return std::holds_alternative<GibbsReport>(run.report); }

Result<bool> write_fit(const std::string& directory, FitOutput fit) {
  std::vector<AtomicFile> files;
  const auto put = [&](const std::string& name, std::string_view bytes) -> Result<bool> {
    Result<AtomicFile> file = put_beside(directory + "/" + name, bytes);
    if (!file) return file.error();
    files.push_back(std::move(*file));
    return true;
  };
  nlohmann::json seals;
  for (const WrittenFile& f : kWrittenFiles) {
    std::size_t count = 0;
    const AddFile add = [&](std::string_view bytes) {
      const std::string name = numbered_name(f.name, ++count);
      seal(seals, name, file_digest(bytes));
      return put(name, bytes);
    };
    if (Result<bool> r = f.write(fit, add); !r) return r;
  }
  const Locked together(directory);
  const Result<FileDigest> trace = file_digest_of(directory + "/" + kTraceFile);
  if (!trace) return trace.error();
  seal(seals, kTraceFile, *trace);
  fit.summary.update(seals);
  // It is renamed last, as it confirms the other files.
  if (Result<bool> r = put(kFitFile, text_of(fit.summary)); !r) return r;
  for (AtomicFile& file : files)
    if (Result<bool> r = file.finish(); !r) return r;
  return true;
}

}  // namespace lehr
