# The files of a folder as a table: cmake -DFOLDER=... -DOUT=... -P starters.cmake
file(GLOB paths LIST_DIRECTORIES false ${FOLDER}/*)
set(rows "")
foreach(path IN LISTS paths)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND rows "    {\"${name}\", R\"~~~(${text})~~~\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"compiler/console/starters.h\"

namespace lehr::commands {
namespace {
constexpr StarterFile kFiles[] = {
${rows}};
}
std::span<const StarterFile> starter_files() { return kFiles; }
}  // namespace lehr::commands
")
