#!/usr/bin/env bash
# Makes build/arm64-root, the headers and libraries of Debian 12 for arm64 that cmake/arm64.cmake builds with and QEMU runs
# with. Needs no privileges and changes nothing on the system: the packages are unpacked, not installed, because some of them
# cannot be installed beside those of this machine. Prints nothing if the folder is up to date.
#   scripts/arm64-root.sh [--list]     --list prints the packages
set -euo pipefail
cd "$(dirname "$0")/.."
root=build/arm64-root
# The libraries of the program and its tests, without those of RTSP, WebRTC, the window and OpenCV, which add 500 packages.
packages=(
    libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libboost-dev libssl-dev libexpat1-dev
    libswscale-dev libavutil-dev libpng-dev libtiff-dev libturbojpeg0-dev libyaml-cpp-dev libfreetype-dev libfontconfig-dev
    libmosquitto-dev libavformat-dev libavcodec-dev libavdevice-dev libavfilter-dev libgtest-dev libgmock-dev
)
if [ "${1:-}" = --list ]; then
    printf '%s\n' "${packages[@]}" | sort -u
    exit
fi
version=$(cksum <scripts/arm64-root.sh)
[ "$(cat $root/version 2>/dev/null)" != "$version" ] || exit 0

echo "arm64-root.sh: unpacking ${#packages[@]} packages for arm64, and what they depend on, into $root" >&2
rm -rf $root
mkdir -p $root/usr/{bin,lib,sbin} $root/apt/{state/lists/partial,cache/archives/partial}
: >$root/apt/state/status # no package is installed there
apt=(apt-get -qq -o Dir::State="$PWD/$root/apt/state" -o Dir::State::status="$PWD/$root/apt/state/status"
    -o Dir::Cache="$PWD/$root/apt/cache" -o APT::Architecture=arm64 -o APT::Architectures::=arm64
    -o APT::Sandbox::User= -o Acquire::Languages=none)
"${apt[@]}" update >&2
"${apt[@]}" install -y --download-only --no-install-recommends "${packages[@]}" >&2
for folder in bin lib sbin; do ln -s usr/$folder $root/$folder; done
for package in "$root"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C $root --keep-directory-symlink --no-same-owner \
        --exclude='./usr/share/doc/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/man/*'
done
rm -rf $root/apt
# Links to absolute paths would lead out of the folder.
find $root -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfnr "$root$target" "$link"
done
# FFmpeg's filters need these two, to which the scripts of their packages would make links.
ln -s blas/libblas.so.3 lapack/liblapack.so.3 $root/usr/lib/aarch64-linux-gnu/
echo "$version" >$root/version
