# A source with the digest of a file: cmake -DIN=... -DOUT=... -P digest.cmake
file(SHA256 ${IN} digest)
file(WRITE ${OUT} "#include \"compiler/native/object_cache.h\"

namespace lehr::native {
std::string_view generator_digest() { return \"${digest}\"; }
}  // namespace lehr::native
")
