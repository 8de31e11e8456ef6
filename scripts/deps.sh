#!/usr/bin/env bash
# Installs every Debian package framewire builds, tests and benches with, and what web/package.json names: only what is missing,
# saying what.
# Runs as root or through sudo. Says nothing and needs no rights when everything is there.
set -euo pipefail

packages=(
    # building
    build-essential cmake ninja-build ccache lld pkg-config git
    # libraries of the product
    libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libboost-dev libssl-dev
    libavformat-dev libavcodec-dev libavdevice-dev libavfilter-dev libswscale-dev libavutil-dev
    libpng-dev libtiff-dev libturbojpeg0-dev libyaml-cpp-dev libsdl2-dev libimgui-dev libfreetype-dev libfontconfig-dev fontconfig fonts-dejavu-core
    libmosquitto-dev
    # brokers that events are told to, in tests; no service of theirs has to run
    mosquitto mosquitto-clients nats-server
    # tests and benches: oracles, media to make and to read, a display without a screen, a real clip, descriptors to compare with
    libgtest-dev libgmock-dev libopencv-core-dev libopencv-imgproc-dev libopencv-ml-dev libopencv-objdetect-dev libopencv-video-dev ffmpeg jq opencv-doc xvfb xauth xdotool imagemagick python3-skimage
    # plots of benches
    python3-matplotlib
    # who asks a server: by HTTP, and for its metrics
    curl prometheus
    # coders that benches compare with
    libcharls-dev libzstd-dev
    # what reads the manual page and the completions
    groff-base mandoc fish zsh
    # what the page is tried with
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
# A machine may have node from elsewhere, with its npm: Debian's would take their place.
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

# The page's plots, and what its tests need.
web=$(dirname "$0")/../web
if [ ! "$web/node_modules/.package-lock.json" -nt "$web/package-lock.json" ]; then
    echo "deps.sh: npm ci in web/" >&2
    npm ci --prefix "$web" --no-progress --loglevel=error >&2
    touch "$web/node_modules/.package-lock.json"
fi
