#include "compiler/fitting/fit_files.h"

#include "runtime/files/atomic_file.h"
#include "runtime/files/npz.h"
#include "runtime/files/saved_fit.h"

namespace lehr {
namespace {

void seal(nlohmann::json& summary, const std::string& name, const FileSeal& s) {
  summary["files"][name] = {{"size", s.size}, {"crc32", s.crc}};
}

}  // namespace

std::string text_of(const nlohmann::json& summary) {
  return summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<bool> write_sealed(const std::string& directory, nlohmann::json& summary, const std::string& name,
                          const std::string& bytes) {
  seal(summary, name, seal_of(bytes));
  return write_file(directory + "/" + name, bytes);
}

Result<bool> write_results(const std::string& directory, const std::vector<NamedArray>& posterior,
                           nlohmann::json& summary) {
  const Result<std::string> bytes = format_npz(posterior);
  const Result<FileSeal> trace = seal_of_file(directory + "/trace.csv");
  if (!bytes) return bytes.error();
  if (!trace) return trace.error();
  seal(summary, "trace.csv", *trace);
  if (Result<bool> r = write_sealed(directory, summary, "posterior.npz", *bytes); !r) return r;
  return write_file(directory + "/fit.json", text_of(summary));
}

}  // namespace lehr
