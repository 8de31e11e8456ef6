#!/usr/bin/env bash
# Makes gpu-bundle/: the CUDA tests, the benches and framewire itself with every library that they need, for an x86-64 Linux machine
# with only an NVIDIA driver. Its media are y4m, raw, PNG and the synthetic camera.
#   FRAMEWIRE_BUNDLE_ARCHITECTURES="90"   the GPU architectures to build for
#   FRAMEWIRE_BUNDLE_FFMPEG=ON            adds videos: the part of FFmpeg that scripts/ffmpeg-lean.sh builds
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh
architectures=${FRAMEWIRE_BUNDLE_ARCHITECTURES:-90}
build=${FRAMEWIRE_BUNDLE_BUILD:-build/gpu-bundle}
ffmpeg=${FRAMEWIRE_BUNDLE_FFMPEG:-OFF}
bundle=gpu-bundle

cmake --preset gpu-bundle -B "$build" -DCMAKE_CUDA_ARCHITECTURES="$architectures" -DFRAMEWIRE_FFMPEG="$ffmpeg" >/dev/null
ninja -C "$build" all framewire-bench

rm -rf "$bundle"
mkdir -p "$bundle"/{bin,tests,lib,glibc}
cp "$build"/framewire "$build"/bench/framewire-bench "$bundle/bin/"
for test in core cuda colour filters codec detect hog plan media net service jobs c e2e; do
    [ ! -x "$build/tests/${test}_tests" ] || cp "$build/tests/${test}_tests" "$bundle/tests/"
done
strip --strip-debug "$bundle"/bin/* "$bundle"/tests/*
cp -r tests/golden tests/golden_test.sh src/framewire/media/ffmpeg/clips "$bundle/"
cp scripts/count-tests.sh scripts/run-sanitizer.sh scripts/experiments/hog-experiment.sh bench/profile.sh "$bundle/"
cp "$(fc-match --format='%{file}' 'DejaVu Sans:style=Book')" "$bundle/test-font.ttf"

# The Python package with its libraries, and its tests.
scripts/python-wheel.sh --bundle "$build" >/dev/null
python3 -m zipfile -e "$build"/python/framewire-*.whl "$bundle/python-site"
cp -r tests/python tests/python_test.py tests/gtest_result.py "$bundle/"

if [ "$ffmpeg" = ON ]; then
    [ -d "$build/ffmpeg/lib" ] || scripts/ffmpeg-lean.sh "$build/ffmpeg"
    first_libraries=$(realpath "$build/ffmpeg/lib")
fi

# Libraries go beside the programs. Those of glibc go into a separate folder, for machines with an older glibc.
LD_LIBRARY_PATH=${first_libraries:-} ldd "$bundle"/bin/* "$bundle"/tests/* | awk '$2 == "=>" && $3 ~ /^\// {print $3} $1 ~ /^\/.*ld-linux/ {print $1}' | sort -u |
    while read -r library; do
        case $(basename "$library") in
            libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | ld-linux*) cp -L "$library" "$bundle/glibc/" ;;
            *) cp -L "$library" "$bundle/lib/" ;;
        esac
    done

cat >"$bundle/under.sh" <<'UNDER'
#!/usr/bin/env bash
# under.sh PROGRAM ARGS...: runs a program of this folder with the libraries beside it. Also uses the C library beside it
# if the machine's C library is older than the one with which the program was built.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case $1 in *.sh) exec "$@" ;; esac # scripts run the programs under this script themselves
built_with=$(cat "$here/glibc/VERSION")
of_machine=$(ldd --version 2>/dev/null | sed -n '1s/.* //p')
oldest=$(printf '%s\n%s\n' "$built_with" "${of_machine:-0}" | sort -V | head -n 1)
if [ "$oldest" = "$built_with" ]; then
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    exec "$@"
fi
exec "$here/glibc/ld-linux-x86-64.so.2" --library-path "$here/lib:$here/glibc${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
UNDER
ldd --version | sed -n '1s/.* //p' >"$bundle/glibc/VERSION"

cat >"$bundle/run-tests.sh" <<'TESTS'
#!/usr/bin/env bash
# Runs all tests, including CUDA's: a missing GPU is a failure here, not a skip. Ends with 'N passed, N failed, N
# skipped'.
cd "$(dirname "$0")" || exit 1
export FRAMEWIRE_REQUIRE_GPU=1 TEST_UNDER=$PWD/under.sh FRAMEWIRE_TEST_FONT=$PWD/test-font.ttf FRAMEWIRE_TEST_CLIPS=$PWD/clips
export FRAMEWIRE_PROGRAM=$PWD/bin/framewire FRAMEWIRE_BACKEND="cpu cuda"
exec ./count-tests.sh "${FRAMEWIRE_LOGS:-logs}" ./tests/* ./golden_test.sh
TESTS

cat >"$bundle/run-python.sh" <<'PYTHON'
#!/usr/bin/env bash
# Runs the tests of the Python package that need a GPU, or those whose name contains the argument. Needs a glibc that is no older
# than that of the build, and python3 with NumPy and cffi; CuPy and PyTorch are tested if they are installed.
cd "$(dirname "$0")" || exit 1
export FRAMEWIRE_SITE=$PWD/python-site FRAMEWIRE_PROGRAM=$PWD/bin/framewire
exec python3 ./python_test.py . "${1:-Gpu}"
PYTHON

cat >"$bundle/run-benches.sh" <<'BENCHES'
#!/usr/bin/env bash
# Runs all benches, or the named groups and suites, with the options of framewire bench.
cd "$(dirname "$0")" || exit 1
export FRAMEWIRE_TEST_FONT=$PWD/test-font.ttf
exec ./under.sh ./bin/framewire-bench "$@"
BENCHES

chmod +x "$bundle"/*.sh

# Use the largest dictionary, because the test programs share most of their code.
XZ_OPT=-9 tar -C "$bundle" -cJf "$build/gpu-bundle.tar.xz" .
echo "gpu-bundle/: $(du -sm "$bundle" | cut -f1) MB, $(du -m "$build/gpu-bundle.tar.xz" | cut -f1) MB packed"
