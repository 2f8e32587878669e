// Philox4x64-10, a counter-based random number generator: its bits are a pure function of a key and a counter, so any
// draw can be computed without the ones before it. Source: Salmon, Moraes, Dror & Shaw, Parallel random numbers: as
// easy as 1, 2, 3 (2011); tests/runtime checks the published test vectors.
#pragma once
#include <array>
#include <cstdint>

namespace lehr {

/// The key of a family of random streams: here the seed and the number of the chain.
using PhiloxKey = std::array<std::uint64_t, 2>;
/// The input of one draw under a key, and also the form of its output: 256 bits.
using PhiloxCounter = std::array<std::uint64_t, 4>;

/// Returns the 256 random bits that belong to counter `c` under `key`: ten rounds of multiplications and exclusive ors.
constexpr PhiloxCounter philox(PhiloxKey key, PhiloxCounter c) {
  __extension__ using Wide = unsigned __int128;
  const auto high = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
  };
  constexpr std::uint64_t kFirst = 0xD2E7470EE14C6C93, kSecond = 0xCA5A826395121157;
  for (int round = 0; round < 10; ++round) {
    c = {high(kSecond, c[2]) ^ c[1] ^ key[0], kSecond * c[2], high(kFirst, c[0]) ^ c[3] ^ key[1], kFirst * c[0]};
    // The key schedule adds the golden ratio and the square root of 3, minus 1, as 64-bit fractions.
    key[0] += 0x9E3779B97F4A7C15;
    key[1] += 0xBB67AE8584CAA73B;
  }
  return c;
}

}  // namespace lehr
