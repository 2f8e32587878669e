# What `cmake --install` puts where. Two components: what runs, and what is needed to build programs with it.
include(CMakePackageConfigHelpers)
set(runtime COMPONENT runtime)
set(development COMPONENT development)
set(lehr_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Lehr)
set(lehr_share_dir ${CMAKE_INSTALL_DATADIR}/lehr)

# What is installed finds its plugins by where it is itself, here and there. For an RPATH that is taken out on the way, CMake
# ends the one of the build tree with an empty element, which is the current directory.
set(lehr_installed lehr liblehr lehr_generator lehr_netcdf lehr_hdf5)
if(TARGET lehr_mpi)
  list(APPEND lehr_installed lehr_mpi)
endif()
set_target_properties(${lehr_installed} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "")
set_target_properties(lehr PROPERTIES EXPORT_NAME compiler)
install(TARGETS lehr EXPORT LehrTargets RUNTIME ${runtime})
install(TARGETS liblehr EXPORT LehrTargets LIBRARY ${runtime} NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS lehr_generator lehr_netcdf lehr_hdf5 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${runtime})
if(TARGET lehr_mpi)  # no part of the packages, which would need an MPI
  install(TARGETS lehr_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
  install(FILES ${CMAKE_BINARY_DIR}/lehr-mpi DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()
install(TARGETS lehr_search ARCHIVE ${development})
install(FILES runtime/archive/search.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lehr ${development})
install(FILES compiler/library/lehr.h compiler/library/lehr_c.h compiler/library/predict.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lehr ${development})
install(FILES compiler/options/fit_options.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lehr/compiler/options ${development})
install(FILES runtime/result.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lehr/runtime ${development})

install(EXPORT LehrTargets NAMESPACE Lehr:: DESTINATION ${lehr_cmake_dir} ${development})
configure_package_config_file(cmake/LehrConfig.cmake.in LehrConfig.cmake INSTALL_DESTINATION ${lehr_cmake_dir}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(LehrConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/LehrConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/LehrConfigVersion.cmake
              cmake/LehrModel.cmake
        DESTINATION ${lehr_cmake_dir} ${development})

# The path from the file to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH lehr_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" lehr_prefix_from_pc "${lehr_prefix_from_pc}")
configure_file(cmake/lehr.pc.in lehr.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lehr.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${development})

install(DIRECTORY models DESTINATION ${lehr_share_dir} ${runtime})
install(DIRECTORY docs DESTINATION ${lehr_share_dir} ${runtime})
install(FILES README.md DESTINATION ${lehr_share_dir} ${runtime})
install(DIRECTORY examples DESTINATION ${lehr_share_dir} ${development})
