# Common settings of all targets: one warning level, one language level, sanitizers in one place.
include(GNUInstallDirs)

# Each static library contains CUDA's runtime, of which the linker keeps one copy; shared libraries need a shared runtime.
set(FRAMEWIRE_CUDA_RUNTIME Static)
set(FRAMEWIRE_CUDART CUDA::cudart_static)
if(BUILD_SHARED_LIBS)
    set(FRAMEWIRE_CUDA_RUNTIME Shared)
    set(FRAMEWIRE_CUDART CUDA::cudart)
    # Installed programs find their libraries even if the prefix is moved.
    file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/${from_program} ${CUDAToolkit_LIBRARY_DIR})
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

add_library(framewire_options INTERFACE)
add_library(framewire::options ALIAS framewire_options)
target_compile_features(framewire_options INTERFACE cxx_std_20)
target_compile_options(framewire_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;-Wnon-virtual-dtor>
    # The standard is set by a flag, because CMake 3.25 does not know that nvcc 12 and later support C++20.
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall;-Xcudafe;--diag_suppress=177;-lineinfo>)
if(CMAKE_UNITY_BUILD)
    # Joined sources are included, so GCC treats the contents of their unnamed namespaces like those of a header.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    # Joined sources need up to a gigabyte anyway. GCC's garbage collection of the first 600 MB takes up to a tenth of
    # its time.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=600000>)
endif()
# With -O3, GCC 12 warns about strings and vectors that are built in the usual ways (its bugs 105329 and 105562).
target_compile_options(framewire_options INTERFACE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-restrict;-Wno-stringop-overflow>)
# ccache identifies sources by their paths in the project (CMakePresets.json). Debug information must use the same
# paths, or a clone in another folder would have no cache hits.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)
endif()
# LLVM's linker takes a quarter of the default one's time. `release` keeps the default.
# A cross compiler of GCC does not find it.
find_program(FRAMEWIRE_LLD ld.lld)
if(FRAMEWIRE_LLD AND NOT CMAKE_CROSSCOMPILING)
    target_link_options(framewire_options INTERFACE $<$<CONFIG:Dev>:-fuse-ld=lld>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Baseline of the SIMD sources' dispatch at run time (core/simd.hpp): any x86-64 since 2009.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
else()
    # That baseline has no fused multiply-add. Others have, and results must have the same bits as on x86-64.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endif()
if(FRAMEWIRE_SANITIZE)
    target_compile_options(framewire_options INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FRAMEWIRE_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
    target_link_options(framewire_options INTERFACE -fsanitize=${FRAMEWIRE_SANITIZE})
endif()

# Excludes sources from CMAKE_UNITY_BUILD that Highway compiles once per instruction set, by including them again.
function(framewire_keep_simd_alone target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
        file(STRINGS ${source} includes_itself REGEX "^#define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
        if(includes_itself)
            set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
    endforeach()
endfunction()

# framewire_library(NAME [TALK] SOURCES ... [CUDA_SOURCES ...] [HEADERS ...] [DEPENDS ...] [PRIVATE ...])
# Defines one layer of the library as target framewire::NAME. CUDA_SOURCES are ignored in a build without CUDA. HEADERS are the
# public headers with everything that they include: only these are installed. BUILD_SHARED_LIBS makes the library shared.
# TALK is for a layer without loops over pixels: -O1 in developer builds, which compiles in three quarters of -O2's time.
function(framewire_library name)
    cmake_parse_arguments(arg "TALK" "" "SOURCES;CUDA_SOURCES;HEADERS;DEPENDS;PRIVATE" ${ARGN})
    set(target framewire_${name})
    add_library(${target} ${arg_SOURCES})
    add_library(framewire::${name} ALIAS ${target})
    if(FRAMEWIRE_HAS_CUDA AND arg_CUDA_SOURCES)
        target_sources(${target} PRIVATE ${arg_CUDA_SOURCES})
        set_target_properties(${target} PROPERTIES
            CUDA_RUNTIME_LIBRARY ${FRAMEWIRE_CUDA_RUNTIME} CUDA_RESOLVE_DEVICE_SYMBOLS OFF)
        target_link_libraries(${target} PRIVATE ${FRAMEWIRE_CUDART})
    endif()
    # Define no symbol that means "being built", so that static and shared libraries use the same objects.
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL ""
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    if(BUILD_SHARED_LIBS AND NOT FRAMEWIRE_SANITIZE)
        target_link_options(${target} PRIVATE LINKER:--no-undefined)
    endif()
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HEADERS})
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:framewire::options>)
    target_compile_features(${target} PUBLIC cxx_std_20)
    if(arg_TALK)
        target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Dev>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-O1>)
    endif()
    framewire_keep_simd_alone(${target})
    set_property(GLOBAL APPEND PROPERTY FRAMEWIRE_LIBRARIES ${target})
endfunction()

# framewire_tests(NAME [FORMULAS] SOURCES ... [CUDA_SOURCES ...] [OPTIONS ...] [DEPENDS ...])
# Defines the tests of one folder as executable NAME_tests, run by ctest; does nothing in a build without tests. FORMULAS is for
# tests that compute references over whole images, which need -O1. CUDA_SOURCES are ignored in a build without CUDA. OPTIONS are
# compiler options for all sources.
function(framewire_tests name)
    if(NOT FRAMEWIRE_TESTS)
        return()
    endif()
    cmake_parse_arguments(arg "FORMULAS" "" "SOURCES;CUDA_SOURCES;OPTIONS;DEPENDS" ${ARGN})
    set(target ${name}_tests)
    add_executable(${target} ${arg_SOURCES})
    if(FRAMEWIRE_HAS_CUDA AND arg_CUDA_SOURCES)
        target_sources(${target} PRIVATE ${arg_CUDA_SOURCES})
        set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY ${FRAMEWIRE_CUDA_RUNTIME} CUDA_RESOLVE_DEVICE_SYMBOLS OFF)
        target_link_libraries(${target} PRIVATE ${FRAMEWIRE_CUDART})
    endif()
    target_link_libraries(${target} PRIVATE ${arg_DEPENDS} framewire::test_kit GTest::gtest GTest::gtest_main framewire::options)
    # The libraries under test keep their -O2. -O0 compiles in 0.6 of -O1's time, and -O1 in 0.7 of -O2's.
    set(optimisation -O$<BOOL:${arg_FORMULAS}>)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:${optimisation}>
        $<$<COMPILE_LANGUAGE:CXX>:${arg_OPTIONS}>)
    # Each test file is compiled separately, so that names need not be unique across files.
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests UNITY_BUILD OFF)
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()

# framewire_runs_program(TARGET): builds the program whenever TARGET is built. With add_dependencies(), TARGET's sources
# would wait for the program; with Ninja, only the linking of TARGET waits.
function(framewire_runs_program target)
    if(CMAKE_GENERATOR MATCHES Ninja)
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:framewire>)
    else()
        add_dependencies(${target} framewire)
    endif()
endfunction()
