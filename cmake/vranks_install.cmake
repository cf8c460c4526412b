# SPDX-FileCopyrightText: 2026 The vranks authors
# SPDX-License-Identifier: Apache-2.0
#
# `cmake --install` and what find_package(vranks) finds there: vranks::vranks.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/vranks)
install(TARGETS vranks vranks_ranks vranks_kernels vranks_collectives vranks_simulator
        EXPORT vranks_targets ARCHIVE FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vranks
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vranks)
if(VRANKS_BUILD_CLI)
  install(TARGETS vranks_cli RUNTIME)
endif()
install(EXPORT vranks_targets NAMESPACE vranks:: DESTINATION ${package_folder})
configure_package_config_file(cmake/vranksConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/vranksConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/vranksConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/vranksConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/vranksConfigVersion.cmake DESTINATION ${package_folder})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
