// Running and comparing programs, with the interpreter as it is: one call after another, in one thread.
#include "compiler/analysis/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "compiler/analysis/effects.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/interpret.h"

namespace lehr::loops {
namespace {

/// Returns true if some function of the program reads or writes the array.
bool is_mentioned(const Program& p, BufferId b) {
  return std::ranges::any_of(p.functions, [&](const Function& f) {
    return std::ranges::any_of(f.body, [&](const Stmt& s) { return mentions(p, s, b); });
  });
}

/// Returns true if the numbers are the same up to the tolerance; two NaN are the same.
bool are_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  if (a.size() != b.size()) return false;
  double largest = 0;
  for (const double x : b)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return std::ranges::equal(a, b, [&](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * largest;
  });
}

/// Runs the parallel regions of the function, and returns the first status that is not 0.
std::int32_t run_regions(const Program& p, const Call& call, Arrays& arrays, std::vector<lehr_buffer>& table) {
  const auto refill = [&](BufferId b, double value) {
    arrays[b.index()].assign(elements_of(p, b, call.sizes), value);
    table[b.index()] = arrays[b.index()].data();
  };
  for (const ParallelRegion& region : p.functions[call.function].regions) {
    const auto* extent = std::get_if<Extent>(&p[region.trip_count].node);
    std::int64_t iteration =
        extent ? extent_of(p[extent->size], call.sizes) : std::get<ConstI>(p[region.trip_count].node).value;
    if (region.sums.valid()) refill(region.sums, 0);
    while (iteration-- > 0) {
      for (const BufferId b : scratch_of(p, region))
        refill(b, std::numeric_limits<double>::quiet_NaN());
      const std::int64_t range[] = {iteration, iteration + 1};
      if (const std::int32_t status = interpret(p, region.function, table.data(), call.sizes.data(), range, nullptr))
        return status;
    }
  }
  return 0;
}

}  // namespace

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), 8 * a.size()) == 0);
}

std::int64_t extent_of(const Size& s, const std::vector<std::int64_t>& sizes) {
  return s.constant >= 0 ? s.constant : sizes[static_cast<std::size_t>(s.slot)];
}

std::size_t elements_of(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes) {
  std::size_t n = 1;
  for (const SizeId s : p[b].axes)
    n *= static_cast<std::size_t>(extent_of(p[s], sizes));
  return n;
}

namespace {

/// Calls `visit(position in memory, position among the values)` for each of `count` values of an array.
template <class Visit>
void each_value(const Program& p, BufferId b, std::size_t count, const Visit& visit) {
  const auto used = static_cast<std::size_t>(p[b].used_length);
  const auto row = used > 0 ? static_cast<std::size_t>(p[p[b].axes.back()].constant) : 1;
  for (std::size_t k = 0; k < count; ++k)
    visit(used > 0 ? k / used * row + k % used : k, k);
}

}  // namespace

std::size_t values_in(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes) {
  const std::size_t all = elements_of(p, b, sizes);
  if (p[b].used_length == 0) return all;
  return all / static_cast<std::size_t>(p[p[b].axes.back()].constant) * static_cast<std::size_t>(p[b].used_length);
}

std::vector<double> memory_of(const Program& p, BufferId b, const std::vector<std::int64_t>& sizes,
                              const std::vector<double>& values) {
  std::vector<double> out(elements_of(p, b, sizes), 0.0);
  auto* const singles = reinterpret_cast<char*>(out.data());
  each_value(p, b, values.size(), [&](std::size_t at, std::size_t k) {
    const auto single = static_cast<float>(values[k]);
    if (p[b].element == Type::f32) std::memcpy(singles + sizeof(float) * at, &single, sizeof(float));
    else out[at] = values[k];
  });
  return out;
}

std::vector<double> values_of(const Program& p, BufferId b, const std::vector<double>& memory) {
  const auto rows = p[b].used_length > 0 ? memory.size() / static_cast<std::size_t>(p[p[b].axes.back()].constant) : 0;
  std::vector<double> out(rows > 0 ? rows * static_cast<std::size_t>(p[b].used_length) : memory.size());
  const auto* const singles = reinterpret_cast<const char*>(memory.data());
  each_value(p, b, out.size(), [&](std::size_t at, std::size_t k) {
    float single = 0;
    if (p[b].element == Type::f32) std::memcpy(&single, singles + sizeof(float) * at, sizeof(float));
    out[k] = p[b].element == Type::f32 ? static_cast<double>(single) : memory[at];
  });
  return out;
}

std::int32_t execute(const Program& p, const Call& call, Arrays& arrays) {
  arrays.resize(p.buffers.size());
  std::vector<lehr_buffer> table;
  for (std::vector<double>& a : arrays)
    table.push_back(a.data());
  if (const std::int32_t status = run_regions(p, call, arrays, table)) return status;
  return interpret(p, call.function, table.data(), call.sizes.data(), call.integers.data(), call.reals.data());
}

std::vector<std::string> differences(const Program& before, const Arrays& a, const Program& after, const Arrays& b,
                                     double tolerance) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < before.buffers.size(); ++k) {
    const Buffer& buffer = before.buffers[k];
    if (buffer.role == Role::scratch) continue;
    if (buffer.role == Role::expectation && !is_mentioned(after, BufferId(k))) continue;
    const bool is_real = buffer.element != Type::i64 && tolerance > 0;
    const std::vector<double> was = values_of(before, BufferId(k), a[k]), is = values_of(after, BufferId(k), b[k]);
    if (!(is_real ? are_close(was, is, tolerance) : same_bits(was, is)))
      out.push_back(fmt::format("{} differs", buffer.name));
  }
  return out;
}

}  // namespace lehr::loops
