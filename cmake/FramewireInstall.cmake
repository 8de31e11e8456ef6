# Defines what `cmake --install` installs: the program with its manual page and completions, the libraries with their
# public headers, and packages for find_package(framewire) and pkg-config.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY FRAMEWIRE_LIBRARIES)
install(TARGETS framewire RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET framewire-bench)
    install(PROGRAMS $<TARGET_FILE:framewire-bench> DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)  # if it was built
endif()
install(TARGETS ${libraries} EXPORT framewire-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT framewire-targets NAMESPACE framewire:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/framewire)
configure_package_config_file(cmake/framewire-config.cmake.in framewire-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/framewire)
write_basic_package_version_file(framewire-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/framewire-config.cmake ${PROJECT_BINARY_DIR}/framewire-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/framewire)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(NOT CMAKE_CROSSCOMPILING)
    set(pages ${PROJECT_BINARY_DIR}/pages)  # the program writes them during the build
    install(FILES ${pages}/framewire.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${pages}/framewire DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${pages}/_framewire DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${pages}/framewire.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# framewire.pc lists all libraries, dependents first, which is the order that a static linker needs. For static libraries it
# also lists what they are linked with; shared libraries know their dependencies.
set(pc_libraries "")
foreach(library IN LISTS libraries)
    list(PREPEND pc_libraries -l${library})
endforeach()
set(pc_requires fmt)
set(pc_extra "")
set(pc_cuda 0)
if(FRAMEWIRE_HAS_CUDA)
    set(pc_cuda 1)
endif()
if(NOT BUILD_SHARED_LIBS)
    list(APPEND pc_requires tbb openssl expat libpng libtiff-4 libturbojpeg libhwy freetype2 fontconfig libswscale libavutil yaml-cpp)
    if(FRAMEWIRE_FFMPEG)
        list(APPEND pc_requires libavformat libavcodec)
    endif()
    if(FRAMEWIRE_RTSP)
        list(APPEND pc_requires gstreamer-rtsp-server-1.0 gstreamer-rtsp-1.0 gstreamer-app-1.0 gstreamer-sdp-1.0
            gstreamer-video-1.0 gstreamer-webrtc-1.0)
    endif()
    list(APPEND pc_extra -pthread)
    if(FRAMEWIRE_HAS_CUDA)
        list(APPEND pc_extra -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt)
    endif()
endif()
list(JOIN pc_libraries " " pc_libraries)
list(JOIN pc_requires ", " pc_requires)
list(JOIN pc_extra " " pc_extra)
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/framewire.pc.in framewire.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/framewire.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The C interface, which needs nothing else of the above: the component `c`.
install(TARGETS framewire_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c OPTIONAL  # if it was built
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT c)
configure_file(cmake/framewire-c.pc.in framewire-c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/framewire-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
