# How every target of the project is made: one warning level, one language level, sanitizers in one place.
include(GNUInstallDirs)

# Static libraries each bring CUDA's runtime along, and the linker keeps one; shared libraries need one that they share.
set(FRAMEWIRE_CUDA_RUNTIME Static)
set(FRAMEWIRE_CUDART CUDA::cudart_static)
if(BUILD_SHARED_LIBS)
    set(FRAMEWIRE_CUDA_RUNTIME Shared)
    set(FRAMEWIRE_CUDART CUDA::cudart)
    # What is installed finds its libraries wherever the prefix is moved to.
    file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set(CMAKE_INSTALL_RPATH $ORIGIN $ORIGIN/${from_program} ${CUDAToolkit_LIBRARY_DIR})
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

add_library(framewire_options INTERFACE)
add_library(framewire::options ALIAS framewire_options)
target_compile_features(framewire_options INTERFACE cxx_std_20)
target_compile_options(framewire_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;-Wnon-virtual-dtor>
    # Said as a flag: CMake 3.25 does not know that nvcc 12 and later have C++20.
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall;-Xcudafe;--diag_suppress=177;-lineinfo>)
if(CMAKE_UNITY_BUILD)
    # Joined sources are included, and GCC takes what their unnamed namespaces hold for a header's.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    # Joined sources need up to a gigabyte anyway. What GCC collects of its first 600 MB takes up to a tenth of its time.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=600000>)
endif()
# With -O3 GCC 12 warns of strings and vectors that are put together in the usual ways (its bugs 105329 and 105562).
target_compile_options(framewire_options INTERFACE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-restrict;-Wno-stringop-overflow>)
# ccache knows sources by their places in the project (CMakePresets.json). So does what it keeps for debuggers then, or a clone
# elsewhere would have nothing of it.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)
endif()
# LLVM's linker takes a quarter of the usual one's time. `release` keeps the usual one.
find_program(FRAMEWIRE_LLD ld.lld)
if(FRAMEWIRE_LLD)
    target_link_options(framewire_options INTERFACE $<$<CONFIG:Dev>:-fuse-ld=lld>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # The floor of the SIMD sources' run-time choice (core/simd/simd.hpp): any x86-64 since 2009.
    target_compile_options(framewire_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
endif()
if(FRAMEWIRE_SANITIZE)
    target_compile_options(framewire_options INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FRAMEWIRE_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>)
    target_link_options(framewire_options INTERFACE -fsanitize=${FRAMEWIRE_SANITIZE})
endif()

# Sources that compile code for each instruction set, by including themselves, need translation units without others. Where
# CMAKE_UNITY_BUILD joins others this joins up to seven of them, for Highway takes most of their time: a unit includes itself
# instead, and its sources each time. Those with SKIP_UNITY_BUILD_INCLUSION stay alone.
function(framewire_join_simd target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set(joined)
    foreach(source IN LISTS sources)
        file(REAL_PATH ${source} path)
        if(NOT EXISTS ${path})
            continue()  # made by the build
        endif()
        file(STRINGS ${path} includes_itself REGEX "^#define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
        get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
        if(includes_itself AND NOT alone)
            set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
            list(APPEND joined ${source})
        endif()
    endforeach()
    if(CMAKE_UNITY_BUILD)
        framewire_join(${target} simd.cpp 7 "${joined}")
    endif()
endfunction()

# Where CMAKE_UNITY_BUILD joins other sources, this joins up to nine CUDA sources, which CMake before 3.31 leaves apart. Joined
# are those with a namespace of their own, NAME_kernels for NAME.cu, for they share short names.
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

# What CMAKE_UNITY_BUILD would join, joined here: CMake's own units name sources by absolute paths, and ccache would know them in
# one folder only. As with CMake's, sources with properties of their own stay alone, and those that the build makes.
function(framewire_join_cpp target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set(joined)
    foreach(source IN LISTS sources)
        cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" alone)
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

# framewire_joined(TARGET): where CMAKE_UNITY_BUILD joins sources, this joins TARGET's. The functions below call it.
function(framewire_joined target)
    if(CMAKE_UNITY_BUILD)
        cmake_language(EVAL CODE "cmake_language(DEFER CALL framewire_join_cpp ${target})")  # options of sources follow
    endif()
endfunction()

# Units of up to `most` of `sources`, much the same number in each, named joined/TARGET_0.ENDING. Those with compile options
# of their own are joined with those that have the same. Units name sources from the root of what they include.
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
                string(REGEX REPLACE "^(src|tests|bench|apps/framewire)/" "" path "${path}")
                string(APPEND includes "#include \"${path}\"\n")
                list(REMOVE_ITEM all ${source})
            endforeach()
            if(ending STREQUAL simd.cpp)
                set(itself "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${name}\"\n")
                string(PREPEND includes "#include \"framewire/core/simd/simd.hpp\"\n${itself}#include <hwy/foreach_target.h>\n")
                string(APPEND includes ${itself})
                set_source_files_properties(${folder}/${name} PROPERTIES INCLUDE_DIRECTORIES ${folder})
            endif()
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
# One layer of the library as a target framewire::NAME. CUDA_SOURCES are left out of a build without CUDA. HEADERS are those
# for users, and all that they include: they alone are installed. BUILD_SHARED_LIBS says whether it is shared or static.
# TALK is for one without loops over pixels: -O1 in builds for developers, which compiles in three quarters of -O2's time.
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
            cmake_language(EVAL CODE "cmake_language(DEFER CALL framewire_join_cuda ${target})")  # options of sources follow
        endif()
    endif()
    # Without a symbol that says "being built": the same objects serve both kinds of library.
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
    cmake_language(EVAL CODE "cmake_language(DEFER CALL framewire_join_simd ${target})")  # options of sources follow
    framewire_joined(${target})
    set_property(GLOBAL APPEND PROPERTY FRAMEWIRE_LIBRARIES ${target})
endfunction()

# framewire_room(NAME [SOURCES ...] [CUDA_SOURCES ...] [HEADERS ...] [TESTS ...])
# A folder of the caller's, of a filter or of a source: adds NAME/NAME.cpp to room_sources, NAME/NAME_test.cpp to room_tests and,
# where it is there, NAME/NAME.hpp to room_headers, and the files given, which lie in it too; NAME/NAME_bench.cpp, where there is
# one, goes to framewire-bench. The one line that a new room takes.
macro(framewire_room name)
    cmake_parse_arguments(room "" "" "SOURCES;CUDA_SOURCES;HEADERS;TESTS" ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}.hpp)
        list(APPEND room_headers ${name}/${name}.hpp)
    endif()
    foreach(file IN ITEMS ${room_HEADERS})
        list(APPEND room_headers ${name}/${file})
    endforeach()
    foreach(file IN ITEMS ${name}.cpp ${room_SOURCES})
        list(APPEND room_sources ${name}/${file})
    endforeach()
    foreach(file IN ITEMS ${room_CUDA_SOURCES})
        list(APPEND room_cuda_sources ${name}/${file})
    endforeach()
    foreach(file IN ITEMS ${name}_test.cpp ${room_TESTS})
        list(APPEND room_tests ${name}/${file})
    endforeach()
    set(room_bench ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${name}_bench.cpp)
    if(EXISTS ${room_bench})
        set_property(GLOBAL APPEND PROPERTY FRAMEWIRE_BENCH_SOURCES ${room_bench})
    endif()
endmacro()

# framewire_tests(NAME [FORMULAS] SOURCES ... [CUDA_SOURCES ...] [OPTIONS ...] [DEPENDS ...])
# The tests of one folder as executable NAME_tests, run by ctest; nothing in a build without tests. FORMULAS are compared with
# over whole pictures there, which wants -O1. CUDA_SOURCES are left out of a build without CUDA. OPTIONS are the compiler's, for all
# of them: a source with options of its own would not be joined with others.
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

# framewire_runs_program(TARGET): the program is there when TARGET is. With add_dependencies() TARGET's sources would wait for it,
# where Ninja can wait with linking.
function(framewire_runs_program target)
    if(CMAKE_GENERATOR MATCHES Ninja)
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS $<TARGET_FILE:framewire>)
    else()
        add_dependencies(${target} framewire)
    endif()
endfunction()
