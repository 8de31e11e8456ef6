#!/usr/bin/env bash
# Installs all Debian packages for building, testing and benchmarking framewire, and the packages in web/package.json: only missing
# ones, and lists them.
# Runs as root or through sudo. Prints nothing and needs no privileges if everything is installed.
set -euo pipefail

packages=(
    # building
    build-essential cmake ninja-build ccache lld pkg-config git
    # libraries of the product
    libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libboost-dev libssl-dev
    libavformat-dev libavcodec-dev libavdevice-dev libavfilter-dev libswscale-dev libavutil-dev
    libpng-dev libtiff-dev libturbojpeg0-dev libyaml-cpp-dev libsdl2-dev libimgui-dev libfreetype-dev libfontconfig-dev fontconfig fonts-dejavu-core
    libmosquitto-dev
    # event brokers for tests; their services need not run
    mosquitto mosquitto-clients nats-server
    # tests and benches: reference implementations, tools for media, a display without a screen, a real clip, reference
    # descriptors
    libgtest-dev libgmock-dev libopencv-core-dev libopencv-imgproc-dev libopencv-ml-dev libopencv-objdetect-dev libopencv-video-dev ffmpeg jq opencv-doc xvfb xauth xdotool imagemagick python3-skimage
    # plots of benches
    python3-matplotlib
    # clients of a server: for HTTP, and for its metrics
    curl prometheus
    # coders for comparison in benches
    libcharls-dev libzstd-dev
    # readers of the manual page and the completions
    groff-base mandoc fish zsh
    # browser for the page's tests
    chromium
    # fuzzing and formatting
    clang clang-format libclang-rt-14-dev
    # the stream on the web page
    wasi-libc libc++-14-dev-wasm32 libc++abi-14-dev-wasm32 libclang-rt-14-dev-wasm32
)

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
# A machine may have its own node and npm, which Debian's packages would replace.
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)

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

# Libraries for the page's plots and tests.
web=$(dirname "$0")/../web
if [ ! "$web/node_modules/.package-lock.json" -nt "$web/package-lock.json" ]; then
    echo "deps.sh: npm ci in web/" >&2
    npm ci --prefix "$web" --no-progress --loglevel=error >&2
    touch "$web/node_modules/.package-lock.json"
fi
