# lehr_add_model(TARGET MODEL [SET NAME=VALUE...] [SIZES PLATE=SIZE...] [MISSING NAME...] [CPU NAME] [MACHINE TRIPLE]
#                [NO_LOCALS])
#
# A static library TARGET with the inference of the model file MODEL, built by `lehr build` when the model or the compiler
# has changed. What is linked with it includes "TARGET.h" (C) or "TARGET.hpp" (C++). The options are those of `lehr build`;
# MACHINE is its --target.
function(lehr_add_model target model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "NO_LOCALS" "CPU;MACHINE" "SET;SIZES;MISSING")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lehr_add_model(${target}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "lehr_add_model(${target}): nothing follows ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  if(NOT EXISTS ${model})
    message(FATAL_ERROR "lehr_add_model(${target}): there is no ${model}")
  endif()
  set(options)
  foreach(kind SET SIZES MISSING)
    foreach(value IN LISTS arg_${kind})
      string(TOLOWER --${kind} option)
      list(APPEND options ${option} ${value})
    endforeach()
  endforeach()
  if(arg_CPU)
    list(APPEND options --cpu ${arg_CPU})
  endif()
  if(arg_MACHINE)
    list(APPEND options --target ${arg_MACHINE})
  endif()
  if(arg_NO_LOCALS)
    list(APPEND options --no-locals)
  endif()

  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}.lehr)
  set(prefix ${directory}/${target})
  file(CONFIGURE OUTPUT ${prefix}.options CONTENT "${options}\n")  # written when it changes: not every generator looks
  add_custom_command(OUTPUT ${prefix}.o ${prefix}.h ${prefix}.hpp
    COMMAND Lehr::compiler build ${model} -o ${prefix} ${options}
    DEPENDS ${model} ${prefix}.options $<TARGET_FILE:Lehr::compiler>
    COMMENT "lehr build ${target}" VERBATIM)
  set_source_files_properties(${prefix}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${target} STATIC ${prefix}.o ${prefix}.h ${prefix}.hpp)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  list(FIND languages C c)
  if(c EQUAL -1)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  endif()
  target_include_directories(${target} INTERFACE ${directory})
  target_link_libraries(${target} INTERFACE m)
endfunction()
