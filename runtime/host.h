// Properties of the computer: the memory that this process may use, and byte counts as text.
#pragma once
#include <cstdint>
#include <string>

namespace lehr {

/// Returns the number of bytes of memory that this process may use. This is the smallest of: physical memory, the
/// limits of its control group, and its limits on address space and data (RLIMIT_AS, RLIMIT_DATA).
std::uint64_t available_memory();

/// Formats a number of bytes with three significant digits and a decimal unit, for instance "3.4 GB" (1 GB is 1e9
/// bytes).
std::string format_bytes(double bytes);

}  // namespace lehr
