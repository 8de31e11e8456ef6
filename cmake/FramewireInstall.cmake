# cmake --install: the program, the libraries with their headers for users, and a package that find_package(framewire) finds.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY FRAMEWIRE_LIBRARIES)
install(TARGETS framewire RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${libraries} EXPORT framewire-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT framewire-targets NAMESPACE framewire:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/framewire)
configure_package_config_file(cmake/framewire-config.cmake.in framewire-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/framewire)
write_basic_package_version_file(framewire-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/framewire-config.cmake ${PROJECT_BINARY_DIR}/framewire-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/framewire)
