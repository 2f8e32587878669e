# Headers of libraries that most sources include are parsed once for all of them: a quarter of the time of a build.
# Sources still include what they use: where precompiled headers are switched off (CMAKE_DISABLE_PRECOMPILE_HEADERS: with
# ccache, which cannot look into them) nothing else changes.
set(lehr_headers_of_std
    <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(lehr_headers_of_all ${lehr_headers_of_std} <fmt/format.h> <fmt/ranges.h>)

# g++ 12 forgets that these are no sources of ours, and sees copies out of bounds in std::string that are none.
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  target_compile_options(lehr_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# Libraries share one file.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "")
add_library(lehr_headers OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
target_link_libraries(lehr_headers PRIVATE lehr_flags fmt::fmt)
target_precompile_headers(lehr_headers PRIVATE ${lehr_headers_of_all})

function(lehr_share_headers folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      target_precompile_headers(${target} REUSE_FROM lehr_headers)
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    lehr_share_headers(${subfolder})
  endforeach()
endfunction()

# Code that a command passes once is compiled for the time of the build: for all targets of a folder that are added later.
macro(lehr_compile_quickly)
  add_compile_options($<IF:$<CONFIG:Debug>,-O0,-O1>)
endmacro()
