// What this machine has.
#pragma once
#include <cstdint>
#include <string>

namespace lehr {

/// Bytes of memory that this process may come to have: those of the machine, or of its control group or
/// address space where these are limited to less.
std::uint64_t memory_of_machine();

/// "3.4 GB".
std::string as_bytes(double bytes);

}  // namespace lehr
