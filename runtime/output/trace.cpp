// Writes the trace of a fit as CSV.
#include "runtime/output/trace.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/new_file.h"
#include "runtime/output/fit_files.h"

namespace lehr {
namespace {

/// Rows closer in time than this are written together.
constexpr double kSecondsBetweenWrites = 0.001;
/// The most bytes of rows that are not written yet.
constexpr std::size_t kMostPending = 4096;

/// Returns the rows of an earlier trace up to iteration `keep_until`; none if its header differs.
std::string earlier_rows(const std::string& path, const std::string& header, std::int64_t keep_until) {
  std::error_code ignored;
  if (keep_until < 0 || !std::filesystem::exists(path, ignored)) return {};
  const Result<std::string> old = read_file(path);
  if (!old || !old->starts_with(header)) return {};
  std::string retained;
  std::string_view rest = std::string_view(*old).substr(header.size());
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view row = rest.substr(0, end + 1);
    std::int64_t iteration = 0;
    const auto [stop, failure] = std::from_chars(row.data(), row.data() + row.size(), iteration);
    if (failure == std::errc() && iteration <= keep_until) retained += row;
    rest.remove_prefix(end + 1);
  }
  return retained;
}

/// Appends the fewest digits that give `x` back exactly.
void put(std::string& row, double x) {
  std::array<char, 32> digits;  // a sign, 17 digits, a point and an exponent of five characters are 24
  row.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr);
}

}  // namespace

Result<Trace> Trace::open(const std::string& directory, const std::vector<std::string>& extra_columns,
                          std::int64_t keep_until) {
  if (directory.empty()) return Trace();
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) return Error{ExitCode::usage, directory, "cannot make the directory: " + failure.message(), {}};
  Trace trace;
  trace.path_ = (std::filesystem::path(directory) / kTraceFile).string();
  trace.extra_columns_ = extra_columns.size();
  std::string header = "iteration,seconds,elbo,temperature";
  for (const std::string& column : extra_columns)
    header += "," + column;
  header += "\n";
  // The file stays open from before it has its name: of several runs into one directory, each writes its own.
  Result<AtomicFile> beginning = AtomicFile::begin(trace.path_, 0666, ExistingTarget::replaced);
  if (!beginning) return beginning.error();
  if (const Result<bool> r = beginning->append(header + earlier_rows(trace.path_, header, keep_until)); !r)
    return r.error();
  const Result<int> file = beginning->publish();
  if (!file) return file.error();
  trace.file_.reset(::fdopen(*file, "a"));
  if (!trace.file_) {
    const int reason = errno;
    ::close(*file);
    return Error{ExitCode::usage, trace.path_, fmt::format("cannot write: {}", std::strerror(reason)), {}};
  }
  std::setvbuf(trace.file_.get(), nullptr, _IONBF, 0);  // unbuffered, so that a killed run leaves whole rows
  return trace;
}

Result<bool> Trace::append(std::int64_t iteration, double seconds, double elbo, double temperature,
                           std::span<const double> extra) {
  if (!file_) return true;
  if (extra.size() != extra_columns_)
    return Error{
        ExitCode::internal, path_, fmt::format("{} values for {} further columns", extra.size(), extra_columns_), {}};
  pending_ += std::to_string(iteration);
  for (const double value : {seconds, elbo, temperature})
    put(pending_ += ',', value);
  for (const double value : extra) {
    pending_ += ',';
    if (!std::isnan(value)) put(pending_, value);
  }
  pending_ += '\n';
  if (std::abs(seconds - written_at_) < kSecondsBetweenWrites && pending_.size() < kMostPending) return true;
  written_at_ = seconds;
  return write();
}

Result<bool> Trace::write() {
  if (!file_) return true;
  if (std::fwrite(pending_.data(), 1, pending_.size(), file_.get()) != pending_.size() || std::fflush(file_.get()) != 0)
    return Error{ExitCode::internal, path_, fmt::format("cannot write: {}", std::strerror(errno)), {}};
  pending_.clear();
  return true;
}

}  // namespace lehr
