#!/usr/bin/env bash
# Tests the Debian packages in build/debian on a fresh Debian 12, booted with systemd in a container: installs them, runs the
# program, the Python package, examples and the systemd unit, upgrades, and purges. tests/packages/inside.sh is what runs there.
# The upgrade is to the same packages with a higher version.
#   scripts/test-packages.sh      needs root or sudo, systemd-container and mmdebstrap; some minutes, and 3 GB of memory
# The packages of the fresh Debian are kept in build/debian/archives. The container's disk is in memory.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ]; then exec sudo "$0"; fi
for tool in mmdebstrap systemd-nspawn; do
    command -v $tool >/dev/null || {
        echo "test-packages.sh: there is no $tool; scripts/deps.sh packages installs it" >&2
        exit 77
    }
done
out=$PWD/build/debian
ls "$out"/framewire_*.deb >/dev/null || {
    echo "test-packages.sh: there are no packages; scripts/debian-packages.sh makes them" >&2
    exit 66
}
root=$(mktemp -d /tmp/framewire-packages-XXXXXX)
trap 'umount --recursive "$root" && rmdir "$root"' EXIT
mount -t tmpfs -o size=4g,mode=755 framewire-packages "$root"
mkdir -p "$out/archives"
rm -rf "$out/next"

# Repacks a package with a version of "~" less "next", which sorts after the present one, also in dependencies.
mkdir -p "$out/next"
version=$(dpkg-deb --field "$(echo "$out"/libframewire0_*.deb)" Version)
packages=()
for package in "$out"/*.deb; do
    case $package in *-dbgsym_*) continue ;; esac
    packages+=("$package")
    dpkg-deb --raw-extract "$package" "$out/next/tree"
    sed -i "s/^Version: .*/&+next/; s/(= $version)/(= $version+next)/g" "$out/next/tree/DEBIAN/control"
    dpkg-deb -Znone --build "$out/next/tree" "$out/next" >/dev/null
    rm -rf "$out/next/tree"
done

# Everything that the packages depend on, and what the tests use. Recommended packages are left out: what the program loads
# must be optional.
depends=$(for package in "${packages[@]}"; do dpkg-deb --field "$package" Depends; done |
    tr ',' '\n' | sed 's/^ *//; /framewire/d; s/ (.*//' | sort -u | tr '\n' ',')
# shellcheck disable=SC2016 # mmdebstrap expands it
mmdebstrap --quiet --variant=minbase --skip=cleanup/apt --include="${depends}systemd-sysv,dbus,curl,gcc,libc6-dev,g++,cmake,make,pkg-config,ffmpeg,gstreamer1.0-tools" \
    --setup-hook='mkdir -p "$1/var/cache/apt/archives"' --setup-hook="sync-in '$out/archives' /var/cache/apt/archives" \
    --customize-hook="sync-out /var/cache/apt/archives '$out/archives'" bookworm "$root"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*

mkdir -p "$root/root/packages/now" "$root/root/packages/next"
cp "${packages[@]}" "$root/root/packages/now/"
cp "$out"/next/*.deb "$root/root/packages/next/"
cp -r tests/packages/inside.sh tests/consumers/project "$root/root/"
cat >"$root/etc/systemd/system/inside.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash /root/inside.sh
StandardOutput=file:/root/log
StandardError=file:/root/log
ExecStopPost=/bin/systemctl --no-block poweroff
UNIT
mkdir -p "$root/etc/systemd/system/default.target.wants"
ln -s ../inside.service "$root/etc/systemd/system/default.target.wants/"

# A network of its own, which has only loopback.
timeout 1200 systemd-nspawn --quiet --boot --directory="$root" --private-network --register=no --keep-unit --console=pipe \
    >"$out/boot.log" 2>&1 </dev/null || true
cp "$root/root/log" "$out/test.log"
grep -E '^\[ +(OK|FAILED) +\]' "$out/test.log" || true
if ! grep -q '^all tests passed$' "$out/test.log"; then
    tail -n 40 "$out/test.log" >&2
    echo "test-packages.sh: failed; $out/test.log and $out/boot.log have everything" >&2
    exit 1
fi
rm -rf "$out/next"
