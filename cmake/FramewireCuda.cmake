# Finds the CUDA toolkit according to FRAMEWIRE_CUDA and enables the language; sets FRAMEWIRE_HAS_CUDA if CUDA is enabled.
# Builds for the GPUs in CMAKE_CUDA_ARCHITECTURES or, if that is not set, for the GPUs that FRAMEWIRE_GPUS selects.
set(FRAMEWIRE_GPUS HERE CACHE STRING
    "HERE builds for this machine's GPUs, for all where there is none; ALL for all since Turing; CHECK tries to compile for all")
set_property(CACHE FRAMEWIRE_GPUS PROPERTY STRINGS HERE ALL CHECK)
if(NOT FRAMEWIRE_GPUS MATCHES "^(HERE|ALL|CHECK)$")
    message(FATAL_ERROR "FRAMEWIRE_GPUS is '${FRAMEWIRE_GPUS}'; allowed are HERE, ALL and CHECK")
endif()

function(framewire_choose_architectures)
    set(all 75 80 86 87 89 90)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
        list(APPEND all 100)  # Blackwell
    endif()
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
        list(APPEND all 110)  # Jetson Thor, which CUDA 12 calls 101
    endif()
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
        list(APPEND all 120)
    endif()
    if(FRAMEWIRE_GPUS STREQUAL "HERE" AND CMAKE_CUDA_ARCHITECTURES_NATIVE)
        set(architectures ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
    elseif(FRAMEWIRE_GPUS STREQUAL "CHECK")
        # Every later GPU accepts code for compute_75, within the same limits. The sources are therefore compiled to one
        # intermediate code, which the assemblers of the oldest and the newest GPU check, and that of Jetson Orin (sm_87).
        # Only functions that use features of sm_80 depend on the architecture (tests/cuda_objects_test.sh enforces this);
        # these are compiled here for all GPUs.
        set(architectures OFF)
        list(GET all 0 oldest)
        list(GET all -1 newest)
        list(REMOVE_ITEM all ${oldest})
        list(TRANSFORM all PREPEND sm_)
        list(JOIN all "," from_80)
        execute_process(COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -fatbin -I ${PROJECT_SOURCE_DIR}/src
            -gencode arch=compute_${oldest},code=sm_${oldest} -gencode arch=compute_80,code=[${from_80}]
            ${PROJECT_SOURCE_DIR}/cmake/all_gpus.cu -o ${PROJECT_BINARY_DIR}/all_gpus.fatbin
            COMMAND_ERROR_IS_FATAL ANY)
        string(APPEND CMAKE_CUDA_FLAGS " -gencode arch=compute_${oldest},code=[sm_${oldest},sm_87,sm_${newest}]")
        set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}" PARENT_SCOPE)
        # Leave out the host part, which every other build compiles.
        string(REPLACE "<CUDA_COMPILE_MODE>" "-fatbin" rule "${CMAKE_CUDA_COMPILE_OBJECT}")
        set(CMAKE_CUDA_COMPILE_OBJECT "${rule}" PARENT_SCOPE)
    else()
        # The last architecture has no -real: its PTX serves future GPUs.
        list(POP_BACK all last)
        list(TRANSFORM all APPEND -real)
        set(architectures ${all} ${last})
    endif()
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}" PARENT_SCOPE)
    message(STATUS "framewire: CUDA architectures ${architectures}")
endfunction()

set(FRAMEWIRE_HAS_CUDA OFF)
if(NOT FRAMEWIRE_CUDA STREQUAL "OFF")
    include(CheckLanguage)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(FRAMEWIRE_NVCC nvcc PATHS /usr/local/cuda/bin)
        if(FRAMEWIRE_NVCC)
            set(CMAKE_CUDA_COMPILER ${FRAMEWIRE_NVCC})
        endif()
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(choose_architectures ON)
        set(CMAKE_CUDA_ARCHITECTURES 90)  # for testing the compiler
    endif()
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.0)
            find_package(CUDAToolkit REQUIRED)
            set(FRAMEWIRE_HAS_CUDA ON)
            if(choose_architectures)
                framewire_choose_architectures()
            endif()
        endif()
    endif()
    if(FRAMEWIRE_CUDA STREQUAL "ON" AND NOT FRAMEWIRE_HAS_CUDA)
        message(FATAL_ERROR "FRAMEWIRE_CUDA is ON but no CUDA toolkit 12.0 or newer was found")
    endif()
endif()
message(STATUS "framewire: CUDA ${FRAMEWIRE_HAS_CUDA} ${CMAKE_CUDA_COMPILER_VERSION}")
