# Headers of libraries that most sources include are parsed once for all of them: a quarter of the time of a build.
# Sources still include what they use: where precompiled headers are switched off (CMAKE_DISABLE_PRECOMPILE_HEADERS: with
# ccache, which cannot look into them) nothing else changes.
set(lehr_headers_of_std
    <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(lehr_headers_of_all ${lehr_headers_of_std} <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)
set(lehr_headers_of_quick ${lehr_headers_of_all} <CLI/CLI.hpp>)

# g++ 12 forgets that these are no sources of ours, and sees copies out of bounds in std::string that are none.
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  target_compile_options(lehr_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# Code that a command passes once is compiled for the time of the build.
set(lehr_quick_level $<IF:$<CONFIG:Debug>,-O0,-O1>)

# Libraries share one file a level: g++ compiles a source at the level of its precompiled header, whatever the command says.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "")
foreach(kind all quick)
  add_library(lehr_headers_${kind} OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
  target_link_libraries(lehr_headers_${kind} PRIVATE lehr_flags fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
  target_precompile_headers(lehr_headers_${kind} PRIVATE ${lehr_headers_of_${kind}})
endforeach()
target_compile_options(lehr_headers_quick PRIVATE ${lehr_quick_level})

# The presets compile several sources of a library as one (LEHR_UNITY): half of the time of a source is its headers.
# Compiled alone are libraries of one source, and sources that a program may leave out because it has others of its own:
# runtime/result.cpp in the library, other_targets.cpp in the wheel.
set(LEHR_UNITY_BATCH 22 CACHE STRING "Sources that LEHR_UNITY compiles as one")
set(lehr_targets_apart lehr_driver_bitcode lehr_headers_all lehr_headers_quick lehr_library)
set(lehr_sources_apart result.cpp other_targets.cpp)
if(LEHR_UNITY)
  target_compile_options(lehr_flags INTERFACE -Wno-shadow -Wno-subobject-linkage)
endif()

function(lehr_unite_sources target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    if(name IN_LIST lehr_sources_apart)
      get_filename_component(source ${source} ABSOLUTE BASE_DIR ${folder})
      set_source_files_properties(${source} DIRECTORY ${folder} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  # Passes change often, and a change in one of them should compile soon.
  set(batch ${LEHR_UNITY_BATCH})
  if(target STREQUAL lehr_passes AND batch GREATER 10)
    set(batch 10)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

function(lehr_share_headers folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(options MATCHES "-O1" AND NOT type STREQUAL SHARED_LIBRARY)
      target_precompile_headers(${target} REUSE_FROM lehr_headers_quick)
    elseif(type MATCHES "STATIC_LIBRARY|MODULE_LIBRARY" AND NOT options MATCHES "-O3")
      target_precompile_headers(${target} REUSE_FROM lehr_headers_all)
    endif()
    if(LEHR_UNITY AND NOT type MATCHES "SHARED_LIBRARY|INTERFACE_LIBRARY|UTILITY" AND NOT target IN_LIST lehr_targets_apart)
      lehr_unite_sources(${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    lehr_share_headers(${subfolder})
  endforeach()
endfunction()

# For all targets of a folder that are added later.
macro(lehr_compile_quickly)
  add_compile_options(${lehr_quick_level})
endmacro()
