#!/usr/bin/env bash
# Builds the Debian packages of the working tree, as files that git knows or would add, in build/debian.
#   scripts/debian-packages.sh [--again] [PROFILE...]
# --again keeps the objects of the last build. PROFILE is a build profile: pkg.framewire.cuda for the GPU backend, nodoc.
# The page has plots if web/node_modules contains uPlot (npm ci in web), as in every build. Needs the packages of
# `scripts/deps.sh packages`. Set CMAKE_CXX_COMPILER_LAUNCHER=ccache to use ccache.
set -euo pipefail
cd "$(dirname "$0")/.."
again=()
if [ "${1:-}" = --again ]; then
    again=(-nc)
    shift
fi
version=$(head -n 1 VERSION)
out=build/debian
source=$out/framewire-$version
if [ ${#again[@]} -gt 0 ]; then
    rm -f "$source"/debian/*debhelper* # the steps that are done
else
    rm -rf "$source"
fi
mkdir -p "$source"
rm -f "$out"/*.{deb,ddeb,buildinfo,changes}

# Copies only what differs, so that --again compiles no more than that.
git ls-files -z --cached --others --exclude-standard | while read -r -d '' file; do
    [ -f "$file" ] || continue # removed, but not in the index
    cmp -s "$file" "$source/$file" || install -D -m "$(stat -c %a "$file")" "$file" "$source/$file"
done
plots=web/node_modules/uplot
if [ -d $plots ]; then
    mkdir -p "$source/$plots"
    cp -r $plots/dist $plots/LICENSE "$source/$plots/"
fi

# debhelper sets another HOME, in which ccache would not find its cache.
export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache}
export DEB_BUILD_PROFILES="$*"
(cd "$source" && dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo "${again[@]}") >"$out/log" 2>&1 || {
    tail -n 40 "$out/log" >&2
    echo "debian-packages.sh: dpkg-buildpackage failed; $out/log has everything" >&2
    exit 1
}
ls -1 "$out"/*.deb
