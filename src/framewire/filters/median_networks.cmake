# The median's sorting networks are lists of thousands of steps, written as source by a program at build time.
add_executable(framewire_median_networks
    ${CMAKE_CURRENT_LIST_DIR}/print_networks.cpp ${CMAKE_CURRENT_LIST_DIR}/tile_network.cpp)
target_include_directories(framewire_median_networks PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(framewire_median_networks PRIVATE framewire::options)

set(FRAMEWIRE_MEDIAN_NETWORKS_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/generated)
set(FRAMEWIRE_MEDIAN_NETWORKS ${FRAMEWIRE_MEDIAN_NETWORKS_FOLDER}/median_networks.inc)
file(MAKE_DIRECTORY ${FRAMEWIRE_MEDIAN_NETWORKS_FOLDER})
add_custom_command(
    OUTPUT ${FRAMEWIRE_MEDIAN_NETWORKS}
    COMMAND framewire_median_networks ${FRAMEWIRE_MEDIAN_NETWORKS}
    DEPENDS framewire_median_networks
    COMMENT "Writing the median's networks"
    VERBATIM)
# A separate target: in the library's target, the sources would have to wait for the libraries that it links.
add_custom_target(framewire_median_networks_written DEPENDS ${FRAMEWIRE_MEDIAN_NETWORKS})

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # These passes find nothing to optimise in long straight-line code, and it is not worth searching far for values
    # that are already loaded. Together they take nearly half of the compile time.
    set(options -fno-tree-dse -fno-tree-loop-im -fno-tree-pta --param=sccvn-max-alias-queries-per-access=20)
    if(FRAMEWIRE_SANITIZE MATCHES address)
        # If the stack is checked, the thousands of temporaries of a network take minutes to compile. Loads and stores
        # are still checked.
        list(APPEND options
            --param=asan-stack=0 -fno-sanitize-address-use-after-scope -fno-sanitize=null,alignment)
    endif()
    set_source_files_properties(median_networks.cpp PROPERTIES COMPILE_OPTIONS "${options}")
endif()

if(FRAMEWIRE_GPUS STREQUAL "CHECK")
    # Without optimisation, each network takes minutes to compile; none of the code depends on the architecture.
    set_source_files_properties(median_networks.cu PROPERTIES COMPILE_OPTIONS -fdevice-syntax-only)
endif()
