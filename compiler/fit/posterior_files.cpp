// Writes the arrays of the best run: its factors, corrected standard deviations, and what it found about its items.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "compiler/fit/write_fit.h"
#include "runtime/files/npz.h"

namespace lehr {

Result<bool> write_posterior(const FitOutput& fit, const AddFile& add) {
  // Of a failed fit, arrays with NaN or infinity are left out.
  std::vector<NamedArray> written;
  std::ranges::copy_if(fit.run.posterior, std::back_inserter(written), [&](const NamedArray& a) {
    return !fit.failed() || std::ranges::all_of(a.values, [](double x) { return std::isfinite(x); });
  });
  const Result<std::string> bytes = format_npz(written);
  if (!bytes) return bytes.error();
  return add(*bytes);
}

Result<bool> write_sds(const FitOutput& fit, const AddFile& add) {
  if (fit.failed() || fit.run.sds.empty()) return true;
  const Result<std::string> bytes = format_npz(fit.run.sds);
  if (!bytes) return bytes.error();
  return add(*bytes);
}

Result<bool> write_items(const FitOutput& fit, const AddFile& add) {
  if (fit.failed() || fit.run.items.empty()) return true;
  const Result<std::string> bytes = format_npz(fit.run.items);
  if (!bytes) return bytes.error();
  return add(*bytes);
}

}  // namespace lehr
