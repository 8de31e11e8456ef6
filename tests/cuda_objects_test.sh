#!/usr/bin/env bash
# Compiles the CUDA sources of the libraries for the preset `release`: their kernels, no host code. Its oldest and newest GPU are
# tried with every source, and all of them with what the sources tell apart (cmake/FramewireCuda.cmake says why that tells for all).
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

# What lets the preset take one intermediate code: sources tell GPUs apart in functions that cmake/all_gpus.cu calls, no more.
guard='__CUDA_ARCH__ >= 800$'
{
    grep -rnE '__CUDA_ARCH__' src --include='*.cu' --include='*.cuh' --include='*.hpp' |
        grep -vE "#ifn?def __CUDA_ARCH__\$|#if !defined\(__CUDA_ARCH__\) \|\| $guard"
    grep -rlE "$guard" src | while read -r file; do
        # The name before the last parenthesis that opens in a line with __device__ before each guard.
        awk -v guard="$guard" '/__device__/ { line = $0 } $0 ~ guard { print line }' "$file" |
            grep -oE '[a-z_]+\(' | grep -v '^__' | while read -r called; do
            grep -qF "$called" cmake/all_gpus.cu || grep -qF "${called%(}<" cmake/all_gpus.cu ||
                echo "$file: cmake/all_gpus.cu does not call $called)"
        done
    done
} >"$log"
[ ! -s "$log" ]
report AllGpusAreToldApartWhereTheyAreTried $?

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
