# Common settings of all targets: one warning level, one language level, sanitizers in one place.
include(GNUInstallDirs)

# Static libraries each contain CUDA's runtime, of which the linker keeps one; shared libraries need a shared one.
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
    # Given as a flag: CMake 3.25 does not know that nvcc 12 and later support C++20.
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall;-Xcudafe;--diag_suppress=177;-lineinfo>)
if(CMAKE_UNITY_BUILD)
    # Joined sources are included, and GCC treats the contents of their unnamed namespaces as those of a header.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    # Joined sources need up to a gigabyte anyway. GCC's garbage collection of the first 600 MB takes up to a tenth of
    # its time.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=600000>)
endif()
# With -O3, GCC 12 warns about strings and vectors that are built in the usual ways (its bugs 105329 and 105562).
target_compile_options(framewire_options INTERFACE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-restrict;-Wno-stringop-overflow>)
# ccache identifies sources by their paths in the project (CMakePresets.json). Debug information must then use them,
# too, or a clone in another folder would have no cache hits.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)
endif()
# LLVM's linker takes a quarter of the default one's time. `release` keeps the default.
find_program(FRAMEWIRE_LLD ld.lld)
if(FRAMEWIRE_LLD)
    target_link_options(framewire_options INTERFACE $<$<CONFIG:Dev>:-fuse-ld=lld>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Baseline of the SIMD sources' dispatch at run time (core/simd.hpp): any x86-64 since 2009.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
endif()
if(FRAMEWIRE_SANITIZE)
    target_compile_options(framewire_options INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FRAMEWIRE_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
    target_link_options(framewire_options INTERFACE -fsanitize=${FRAMEWIRE_SANITIZE})
endif()

# If CMAKE_UNITY_BUILD joins other sources, this function joins up to nine CUDA sources, which CMake before 3.31 does
# not join. It joins those with their own namespace, NAME_kernels for NAME.cu, as sources share short names.
function(framewire_join_cuda target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    set(joined)
    foreach(source IN LISTS sources)
        file(STRINGS ${source} own_namespace REGEX "^namespace [a-z_]+_kernels {" LIMIT_COUNT 1)
        if(own_namespace)
            list(APPEND joined ${source})
        endif()
    endforeach()
    framewire_join(${target} cu 9 "${joined}")
endfunction()

# Joins what CMAKE_UNITY_BUILD would join: CMake's own units include sources by absolute paths, so that ccache would
# only find them in one folder. As with CMake's, sources with their own properties, and generated ones, are not joined, nor are
# SIMD sources.
function(framewire_join_cpp target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set(joined)
    foreach(source IN LISTS sources)
        cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" alone)
        # Highway compiles such a source once for each instruction set, by including it.
        set(includes_itself)
        if(NOT alone)
            file(STRINGS ${source} includes_itself REGEX "^#define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
        endif()
        if(includes_itself)
            set(alone ON)
        endif()
        foreach(property IN ITEMS
                SKIP_UNITY_BUILD_INCLUSION COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES)
            get_source_file_property(value ${source} ${property})
            if(value)
                set(alone ON)
            endif()
        endforeach()
        if(NOT alone)
            list(APPEND joined ${source})
        endif()
    endforeach()
    get_target_property(most ${target} UNITY_BUILD_BATCH_SIZE)
    framewire_join(${target} cpp ${most} "${joined}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
endfunction()

# framewire_joined(TARGET): joins the sources of TARGET if CMAKE_UNITY_BUILD is on. The functions below call it.
function(framewire_joined target)
    if(CMAKE_UNITY_BUILD)
        cmake_language(EVAL CODE "cmake_language(DEFER CALL framewire_join_cpp ${target})")  # options of sources are set later
    endif()
endfunction()

# Makes units of up to `most` of `sources`, with about the same number in each, named joined/TARGET_0.ENDING. Sources
# with their own compile options are joined with those that have the same. Units include sources relative to the root of
# their include path.
function(framewire_join target ending most sources)
    set(kinds)
    foreach(source IN LISTS sources)
        get_source_file_property(options ${source} COMPILE_OPTIONS)
        string(MAKE_C_IDENTIFIER "${options}" kind)
        set(${kind}_options "${options}")
        list(APPEND ${kind}_sources ${source})
        list(APPEND kinds ${kind})
    endforeach()
    list(REMOVE_DUPLICATES kinds)
    get_target_property(all ${target} SOURCES)  # another target may compile one of them by itself
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/joined)
    set(number 0)
    foreach(kind IN LISTS kinds)
        list(LENGTH ${kind}_sources left)
        math(EXPR units "(${left} + ${most} - 1) / ${most}")
        while(left GREATER 1)
            math(EXPR count "(${left} + ${units} - 1) / ${units}")
            set(name ${target}_${number}.${ending})
            set(includes)
            foreach(index RANGE 1 ${count})
                list(POP_FRONT ${kind}_sources source)
                cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
                cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
                string(REGEX REPLACE "^(src|tests|bench|lab|apps/framewire)/" "" path "${path}")
                string(APPEND includes "#include \"${path}\"\n")
                list(REMOVE_ITEM all ${source})
            endforeach()
            file(CONFIGURE OUTPUT ${folder}/${name} CONTENT "${includes}")
            set_source_files_properties(${folder}/${name} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
            if(${kind}_options)
                set_source_files_properties(${folder}/${name} PROPERTIES COMPILE_OPTIONS "${${kind}_options}")
            endif()
            list(APPEND all ${folder}/${name})
            math(EXPR number "${number} + 1")
            math(EXPR units "${units} - 1")
            math(EXPR left "${left} - ${count}")
        endwhile()
    endforeach()
    set_property(TARGET ${target} PROPERTY SOURCES ${all})
endfunction()

# framewire_library(NAME [TALK] SOURCES ... [CUDA_SOURCES ...] [HEADERS ...] [DEPENDS ...] [PRIVATE ...])
# Defines one layer of the library as target framewire::NAME. CUDA_SOURCES are ignored in a build without CUDA. HEADERS are the
# public headers with everything that they include: only these are installed. BUILD_SHARED_LIBS makes it shared instead of static.
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
        if(CMAKE_UNITY_BUILD)
            cmake_language(EVAL CODE "cmake_language(DEFER CALL framewire_join_cuda ${target})")  # options of sources are set later
        endif()
    endif()
    # Without a symbol for "being built": static and shared libraries use the same objects.
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
    framewire_joined(${target})
    set_property(GLOBAL APPEND PROPERTY FRAMEWIRE_LIBRARIES ${target})
endfunction()

# framewire_tests(NAME [FORMULAS] SOURCES ... [CUDA_SOURCES ...] [OPTIONS ...] [DEPENDS ...])
# Defines the tests of one folder as executable NAME_tests, run by ctest; does nothing in a build without tests. FORMULAS is for
# tests that compute references over whole images, which need -O1. CUDA_SOURCES are ignored in a build without CUDA. OPTIONS are
# compiler options for all of them: a source with its own options would not be joined with others.
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
    # The libraries under test keep their -O2. -O0 compiles in 0.6 of -O1's time, and that in 0.7 of -O2's.
    set(optimisation -O$<BOOL:${arg_FORMULAS}>)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:${optimisation}>
        $<$<COMPILE_LANGUAGE:CXX>:${FRAMEWIRE_TEST_FLAGS};${arg_OPTIONS}>)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    framewire_joined(${target})
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()

# framewire_runs_program(TARGET): builds the program whenever TARGET is built. With add_dependencies() TARGET's sources
# would wait for it; with Ninja only its linking waits.
function(framewire_runs_program target)
    if(CMAKE_GENERATOR MATCHES Ninja)
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:framewire>)
    else()
        add_dependencies(${target} framewire)
    endif()
endfunction()
