// Philox4x64-10: random bits that are a function of a key and a counter. Salmon, Moraes, Dror & Shaw, Parallel random
// numbers: as easy as 1, 2, 3 (2011); the published test vectors are in tests/runtime.
#pragma once
#include <array>
#include <cstdint>

namespace lehr {

using PhiloxKey = std::array<std::uint64_t, 2>;
using PhiloxCounter = std::array<std::uint64_t, 4>;

constexpr PhiloxCounter philox(PhiloxKey key, PhiloxCounter c) {
  __extension__ using Wide = unsigned __int128;
  const auto high = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
  };
  constexpr std::uint64_t kFirst = 0xD2E7470EE14C6C93, kSecond = 0xCA5A826395121157;
  for (int round = 0; round < 10; ++round) {
    c = {high(kSecond, c[2]) ^ c[1] ^ key[0], kSecond * c[2], high(kFirst, c[0]) ^ c[3] ^ key[1], kFirst * c[0]};
    key[0] += 0x9E3779B97F4A7C15;
    key[1] += 0xBB67AE8584CAA73B;
  }
  return c;
}

}  // namespace lehr
