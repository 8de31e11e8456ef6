#!/usr/bin/env bash
# Compiles the kernels, not the host code, of the libraries' CUDA sources for the preset `release`. Every source is
# compiled for the oldest and the newest GPU of the preset and for Jetson Orin; sources with architecture-dependent code are
# compiled for all of its GPUs (cmake/FramewireCuda.cmake says why this is enough). The assembler gives a kernel with
# launch bounds no more registers than its largest block can have, refuses static shared memory that a GPU lacks, and, as
# the preset turns its warnings into errors, blocks per multiprocessor with more threads than the oldest GPU runs at once
# (1024).
cd "$(dirname "$0")/.." || exit 1
build=build/cuda-objects
log=$(mktemp)
trap 'rm -f "$log"' EXIT
result=0
report() { # name, status of the compilation: reports one test the way GoogleTest does
    if [ "$2" -eq 0 ]; then
        echo "[       OK ] CudaObjects.$1 (0 ms)"
    else
        tail -n 60 "$log"
        echo "[  FAILED  ] CudaObjects.$1 (0 ms)"
        result=1
    fi
}

# The preset may use one intermediate code because sources depend on the architecture only in functions that
# cmake/all_gpus.cu calls.
guard='__CUDA_ARCH__ >= 800$'
{
    grep -rnE '__CUDA_ARCH__' src --include='*.cu' --include='*.cuh' --include='*.hpp' |
        grep -vE "#ifn?def __CUDA_ARCH__\$|#if !defined\(__CUDA_ARCH__\) \|\| $guard"
    # A .cu file is itself compiled for every architecture, a header only where something calls its functions.
    grep -rlE "$guard" src --include='*.cuh' --include='*.hpp' | while read -r file; do
        # Prints the name before the last opening parenthesis of the __device__ line before each guard.
        awk -v guard="$guard" '/__device__/ { line = $0 } $0 ~ guard { print line }' "$file" |
            grep -oE '[a-z_]+\(' | grep -v '^__' | while read -r called; do
            grep -qF "$called" cmake/all_gpus.cu || grep -qF "${called%(}<" cmake/all_gpus.cu ||
                echo "$file: cmake/all_gpus.cu does not call $called)"
        done
    done
} >"$log"
[ ! -s "$log" ]
report EveryArchitectureDependentFunctionIsCompiled $?

grep -rn '__global__' src --include='*.cu' --include='*.cuh' --exclude='*_testing.cu' | grep -v '__launch_bounds__(' >"$log"
[ ! -s "$log" ]
report EveryKernelHasLaunchBounds $?

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
