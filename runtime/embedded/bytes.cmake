# A file as an array of bytes: cmake -DIN=... -DOUT=... -P bytes.cmake
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "#include \"runtime/embedded/bitcode.h\"

namespace lehr::embedded {
namespace {
const unsigned char kBytes[] = {${bytes}};
}
std::span<const unsigned char> driver_bitcode() { return kBytes; }
}  // namespace lehr::embedded
")
