#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing, and the npm packages of web/package.json. Prints what it installs. If
# nothing is missing, prints nothing and needs no privileges.
#   scripts/deps.sh [--list] [SET...]   default: all
#     demo      what scripts/demo.sh builds: no FFmpeg, no window, no plots on the page
#     program   the whole program; includes demo
#     tests     what the tests, the fuzzers and scripts/format.sh need; includes program and, on x86-64, arm64
#     arm64     what the preset arm64 needs on an x86-64 machine; includes demo. scripts/arm64-root.sh fetches the libraries
#     benches   what the benches compare with, and what plots them; includes program
#     packages  what makes and tests Debian packages and the container image; includes program. Not part of all
#     all       tests and benches
# --list prints the Debian packages of the sets and installs nothing. Run as root or with sudo.
set -euo pipefail

demo=(
    # compiler and build tools
    build-essential cmake ninja-build ccache lld pkg-config
    # libraries
    libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libboost-dev libssl-dev libexpat1-dev
    libswscale-dev libavutil-dev libpng-dev libtiff-dev libturbojpeg0-dev libyaml-cpp-dev libfreetype-dev libfontconfig-dev
    libmosquitto-dev
    # compiler for the page's decoder (WebAssembly)
    clang-14 wasi-libc libc++-14-dev-wasm32 libc++abi-14-dev-wasm32 libclang-rt-14-dev-wasm32
    # used by scripts/demo.sh to print its table
    jq
)
program=(
    git
    # video files, cameras and network sources
    libavformat-dev libavcodec-dev libavdevice-dev libavfilter-dev
    # RTSP: the server, its elements, and TLS
    libgstrtspserver-1.0-dev gstreamer1.0-plugins-base gstreamer1.0-plugins-good glib-networking
    # WebRTC: webrtcbin, and ICE
    libgstreamer-plugins-bad1.0-dev gstreamer1.0-plugins-bad gstreamer1.0-nice
    # the plugins' header of frei0r
    frei0r-plugins-dev
    # the window, and text in images
    libsdl2-dev libimgui-dev fontconfig fonts-dejavu-core
)
# Test oracles, media and a test framework, used by tests and benches.
tests_and_benches=(
    libgtest-dev libgmock-dev ffmpeg opencv-doc curl
    libopencv-core-dev libopencv-imgproc-dev libopencv-ml-dev libopencv-objdetect-dev libopencv-video-dev
)
tests=(
    # MQTT and NATS brokers; their services need not run
    mosquitto mosquitto-clients nats-server
    # a display without a screen, and HOG descriptors to compare with
    xvfb xauth xdotool imagemagick python3-skimage
    # readers of the metrics, the manual page and the completions
    prometheus groff-base mandoc fish zsh
    # players of RTSP
    gstreamer1.0-tools gstreamer1.0-libav python3-opencv
    # browser for the page
    chromium
    # programs that load the plugins
    melt python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
    # the ABI of the C interface; the Python package, its wheel and its types
    abigail-tools python3-cffi python3-numpy python3-setuptools python3-wheel mypy patchelf
    # tools for fuzzing, formatting and the reference of the headers
    clang clang-format libclang-rt-14-dev doxygen
)
arm64=(g++-aarch64-linux-gnu qemu-user)
[ "$(dpkg --print-architecture)" != amd64 ] || tests+=("${arm64[@]}") # not available for arm64 itself
packaging=(
    # scripts/debian-packages.sh and scripts/test-packages.sh, then packaging/Containerfile and scripts/test-image.sh
    debhelper dh-python dpkg-dev lintian lld-14 doxygen python3 python3-cffi python3-setuptools python3-wheel
    mmdebstrap systemd-container
    podman curl ffmpeg
)
benches=(
    # coders to compare with, and NVIDIA's declarations of NVDEC
    libcharls-dev libzstd-dev libffmpeg-nvenc-dev
    # bench/plot.py
    python3-matplotlib
)

list=
if [ "${1:-}" = --list ]; then
    list=1
    shift
fi
[ $# -gt 0 ] || set -- all
packages=("${demo[@]}")
npm=        # npm packages to install: "page" for the page, "tests" for the page and its tests, or none
for set in "$@"; do
    case $set in
        demo) ;;
        arm64) packages+=("${arm64[@]}") npm=${npm:-page} ;;
        program) packages+=("${program[@]}") npm=${npm:-page} ;;
        tests) packages+=("${program[@]}" "${tests_and_benches[@]}" "${tests[@]}") npm=tests ;;
        benches) packages+=("${program[@]}" "${tests_and_benches[@]}" "${benches[@]}") npm=${npm:-page} ;;
        packages) packages+=("${program[@]}" "${packaging[@]}") npm=${npm:-page} ;;
        all) packages+=("${program[@]}" "${tests_and_benches[@]}" "${tests[@]}" "${benches[@]}") npm=tests ;;
        *) echo "deps.sh: no set '$set'; allowed: demo, program, arm64, tests, benches, packages and all" >&2; exit 2 ;;
    esac
done
if [ -n "$list" ]; then
    printf '%s\n' "${packages[@]}" | sort -u
    exit
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
# Installs Debian's node and npm only if there are none, because they would replace versions from elsewhere.
if [ -n "$npm" ]; then
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
fi

if [ ${#missing[@]} -gt 0 ]; then
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "deps.sh: these packages are missing and installing them needs root or sudo: ${missing[*]}" >&2
            exit 77
        }
        as_root=(sudo)
    fi
    echo "deps.sh: installing ${missing[*]}" >&2
    "${as_root[@]}" apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

# Installs the npm packages: the page's plots, and what the page's tests use.
[ -n "$npm" ] || exit 0
web=$(dirname "$0")/../web
installed=$web/node_modules/.package-lock.json
omit=()
needed=$web/node_modules/playwright-core
if [ "$npm" = page ]; then
    omit=(--omit=dev)
    needed=$web/node_modules/uplot
fi
if [ ! "$installed" -nt "$web/package-lock.json" ] || [ ! -d "$needed" ]; then
    echo "deps.sh: npm ci ${omit[*]} in web/" >&2
    npm ci --prefix "$web" "${omit[@]}" --no-progress --loglevel=error >&2
    touch "$installed"
fi
