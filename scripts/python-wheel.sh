#!/usr/bin/env bash
# Makes the Python package as a wheel, from a build that has the target framewire_c.
#   scripts/python-wheel.sh [--bundle] [BUILD [OUT]]    default: build/dev, and BUILD/python
# --bundle adds the libraries that the build needs, except those that every Linux has, so that the wheel runs on other
# distributions with this machine's glibc or a later one. Without it, it needs the same packages as the build.
# Their licenses apply, too: that of FFmpeg with x264 is the GPL.
# Downloads nothing. PYTHON names another interpreter, which needs setuptools, wheel and cffi.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=
if [ "${1:-}" = --bundle ]; then
    bundle=1
    shift
fi
build=$(realpath "${1:-build/dev}")
out=${2:-$build/python}
python=${PYTHON:-/usr/bin/python3}
mkdir -p "$out"
out=$(realpath "$out")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component c --prefix "$work/prefix" >/dev/null
cp -r python/framewire python/pyproject.toml python/setup.py LICENSE "$work/"
"$python" python/declarations.py "$work/prefix/include/framewire/framewire.h" "$work/framewire/_cffi.py" >/dev/null
library=$work/framewire/lib/libframewire.so.0
mkdir "$work/framewire/lib"
cp -L "$(find "$work/prefix" -name libframewire.so.0)" "$library"
strip --strip-unneeded "$library"
if [ -n "$bundle" ]; then
    # The libraries of PEP 600's profiles, which must not be bundled.
    everywhere='^(linux-vdso|ld-linux-.*|lib(c|m|dl|rt|pthread|resolv|util|nsl|gcc_s|stdc\+\+|z))\.so'
    ldd "$library" | awk '$3 ~ /^\// { print $1, $3 }' | grep -vE "$everywhere" | while read -r name path; do
        cp -L "$path" "$work/framewire/lib/$name"
    done
    for file in "$work"/framewire/lib/*; do
        chmod u+w "$file"
        patchelf --set-rpath "\$ORIGIN" "$file"
    done
fi
rm -f "$out"/framewire-*.whl
(cd "$work" && FRAMEWIRE_VERSION=$(head -n 1 "$OLDPWD/VERSION") "$python" setup.py -q bdist_wheel -d "$out" 2>"$work/log") ||
    { cat "$work/log" >&2 && exit 1; }
ls "$out"/framewire-*.whl
