#!/usr/bin/env bash
# Compiles the CUDA sources of the libraries for the preset `release`: their kernels, no host code. Its architectures are all tried with
# one kernel, and its oldest and newest with every source (cmake/FramewireCuda.cmake says why these tell for all).
cd "$(dirname "$0")/.." || exit 1
build=build/cuda-objects
log=$(mktemp)
trap 'rm -f "$log"' EXIT
result=0
report() { # name, status of what was tried: reports one test the way GoogleTest does
    if [ "$2" -eq 0 ]; then
        echo "[       OK ] CudaObjects.$1 (0 ms)"
    else
        tail -n 60 "$log"
        echo "[  FAILED  ] CudaObjects.$1 (0 ms)"
        result=1
    fi
}

# What lets the preset take one intermediate code for all from sm_80 on.
! grep -rnE '__CUDA_ARCH__' src --include='*.cu' --include='*.cuh' --include='*.hpp' |
    grep -vE '#ifn?def __CUDA_ARCH__$|#if !defined\(__CUDA_ARCH__\) \|\| __CUDA_ARCH__ >= 800$' >"$log"
report SourcesTellApartOnlyWhatIsBeforeSm80 $?

cmake --preset cuda-objects >"$log" 2>&1 || {
    report CompileForEveryArchitecture 1
    exit 1
}
objects=$(ninja -C "$build" -t targets all | sed -n 's/: CUDA_COMPILER__framewire_.*//p')
if [ -z "$objects" ]; then
    printf '%s: Skipped\nno CUDA toolkit here\n' "$0"
    echo "[  SKIPPED ] CudaObjects.CompileForEveryArchitecture (0 ms)"
    exit $result
fi
# shellcheck disable=SC2086  # a list of files
ninja -C "$build" -k 0 $objects >"$log" 2>&1
report CompileForEveryArchitecture $?
exit $result
