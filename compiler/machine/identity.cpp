// The fingerprint as an FNV-1a hash.
#include "compiler/machine/identity.h"

#include "compiler/loops/print_loops.h"

namespace lehr {
namespace {

/// Must be increased whenever the layout of a state or a saved state changes.
constexpr std::uint64_t kLayoutVersion = 2;

/// Continues an FNV-1a hash (Fowler, Noll & Vo) with bytes.
std::uint64_t hashed(std::uint64_t so_far, const void* from, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(from);
  for (std::size_t k = 0; k < bytes; ++k)
    so_far = (so_far ^ p[k]) * 0x100000001b3;
  return so_far;
}

/// Continues the hash with the elements of a vector, which must have no padding.
template <class T>
std::uint64_t hashed(std::uint64_t so_far, const std::vector<T>& all) {
  return hashed(so_far, all.data(), all.size() * sizeof(T));
}

}  // namespace

std::uint64_t identity(const Tables& t, const std::vector<double>& constants, const loops::Program& p,
                       const model::Model& m) {
  std::uint64_t h = hashed(0xcbf29ce484222325, &kLayoutVersion, sizeof kLayoutVersion);
  const std::string text = m.name + loops::print(p);
  h = hashed(h, text.data(), text.size());
  h = hashed(h, constants);
  h = hashed(h, t.sizes);
  h = hashed(h, t.axes);
  h = hashed(h, t.buffers);
  h = hashed(h, t.arrays);
  h = hashed(h, t.steps);
  return hashed(h, t.priors);
}

}  // namespace lehr
