// Properties of the computer: the memory that this process may use, and byte counts as text.
#pragma once
#include <cstdint>
#include <string>

namespace lehr {

/// Returns the number of bytes of memory that this process may use, to refuse arrays that do not fit. This is the
/// smallest of: physical memory, the limits of the control groups that the process is in (a container has one), and the
/// limits of the process on address space and data (RLIMIT_AS, RLIMIT_DATA). Memory that is in use counts as available.
std::uint64_t available_memory();

/// Formats a number of bytes with three significant digits and a decimal unit, for instance "3.4 GB" (1 GB is 1e9
/// bytes).
std::string format_bytes(double bytes);

}  // namespace lehr
