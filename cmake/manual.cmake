# The manual page and what completes commands in shells, written by lehr itself from the definition of its options.
include(GNUInstallDirs)
set(manual ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual})
add_custom_command(OUTPUT ${manual}/lehr.1 ${manual}/lehr ${manual}/_lehr ${manual}/lehr.fish
  COMMAND lehr help --man > lehr.1
  COMMAND lehr completion bash > lehr
  COMMAND lehr completion zsh > _lehr
  COMMAND lehr completion fish > lehr.fish
  DEPENDS lehr WORKING_DIRECTORY ${manual} COMMENT "Writing the manual page")
add_custom_target(manual ALL DEPENDS ${manual}/lehr.1)
install(FILES ${manual}/lehr.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES ${manual}/lehr DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
install(FILES ${manual}/_lehr DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT runtime)
install(FILES ${manual}/lehr.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)

# All that is installed, which is what the documentation uses: the command, the libraries and the archive of the search.
add_custom_target(installed)
add_dependencies(installed lehr liblehr lehr_search lehr_generator lehr_netcdf lehr_hdf5 manual)
if(TARGET lehr_mpi)
  add_dependencies(installed lehr_mpi)
endif()
