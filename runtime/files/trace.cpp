// The trace of a fit as CSV.
#include "runtime/files/trace.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "runtime/files/atomic_file.h"

namespace lehr {
namespace {

/// The rows of an earlier trace to keep; none when its header is another.
std::string earlier_rows(const std::string& path, const std::string& header, std::int64_t keep_until) {
  std::error_code ignored;
  if (keep_until < 0 || !std::filesystem::exists(path, ignored)) return {};
  const Result<std::string> old = read_file(path);
  if (!old || !old->starts_with(header)) return {};
  std::string kept;
  std::string_view rest = std::string_view(*old).substr(header.size());
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view row = rest.substr(0, end + 1);
    std::int64_t iteration = 0;
    const auto [stop, failure] = std::from_chars(row.data(), row.data() + row.size(), iteration);
    if (failure == std::errc() && iteration <= keep_until) kept += row;
    rest.remove_prefix(end + 1);
  }
  return kept;
}

}  // namespace

Result<Trace> Trace::open(const std::string& directory, const std::vector<std::string>& extra_columns,
                          std::int64_t keep_until) {
  if (directory.empty()) return Trace();
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) return Error{ExitCode::usage, directory, "cannot make the directory: " + failure.message(), {}};
  Trace trace;
  trace.path_ = (std::filesystem::path(directory) / "trace.csv").string();
  trace.extra_columns_ = extra_columns.size();
  std::string header = "iteration,seconds,elbo,temperature";
  for (const std::string& column : extra_columns)
    header += "," + column;
  header += "\n";
  const Result<bool> begun = write_file(trace.path_, header + earlier_rows(trace.path_, header, keep_until));
  if (!begun) return begun.error();
  trace.file_.reset(std::fopen(trace.path_.c_str(), "a"));
  if (!trace.file_)
    return Error{ExitCode::usage, trace.path_, fmt::format("cannot write: {}", std::strerror(errno)), {}};
  return trace;
}

Result<bool> Trace::append(std::int64_t iteration, double seconds, double elbo, double temperature,
                           std::span<const double> extra) {
  if (!file_) return true;
  if (extra.size() != extra_columns_)
    return Error{
        ExitCode::internal, path_, fmt::format("{} values for {} further columns", extra.size(), extra_columns_), {}};
  std::string row = fmt::format("{},{:.17g},{:.17g},{:.17g}", iteration, seconds, elbo, temperature);
  for (const double value : extra)
    row += std::isnan(value) ? std::string(",") : fmt::format(",{:.17g}", value);
  row += "\n";
  if (std::fwrite(row.data(), 1, row.size(), file_.get()) != row.size() || std::fflush(file_.get()) != 0)
    return Error{ExitCode::internal, path_, fmt::format("cannot write: {}", std::strerror(errno)), {}};
  return true;
}

}  // namespace lehr
