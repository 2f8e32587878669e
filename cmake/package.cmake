# Debian packages, by `cpack` in the build tree: lehr, the compiler and its library; lehr-dev, what programs are built with.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Lehr maintainers <maintainers@lehr.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME lehr)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Lehr derives mean-field variational inference for models of a small language,
generates native code for it, and fits the models to data.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "lehr-dev, gcc")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME lehr-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "lehr (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++, cmake")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Header, CMake package and pkg-config file for programs that compile and fit models
with the library of Lehr, or are linked with models that it has built.")
include(CPack)
