#!/usr/bin/env bash
# Builds the part of FFmpeg that reads videos, on the CPU and with NVDEC, from Debian's source package: 3 MB packed instead of the
# 54 MB of Debian's libraries with everything that they need. Programs built against Debian's libraries run with it.
#   scripts/ffmpeg-lean.sh [--all] FOLDER   the libraries go to FOLDER/lib
# --all builds everything that FFmpeg itself contains, with OpenSSL, x264 and libvpx, for packaging/Containerfile: with these, 28 MB
# unpacked instead of Debian's 240 MB. With x264, the license of the result is the GPL, version 3.
# Downloads packages with apt and installs none; needs a compiler, make and libdav1d, and for --all libssl-dev, libvpx-dev,
# libx264-dev and zlib1g-dev.
set -euo pipefail
all=
if [ "${1:-}" = --all ]; then
    all=1
    shift
fi
to=$(realpath -m "${1:?the folder for the libraries}")

decoders="av1 ffv1 h264 hevc libdav1d mjpeg mpeg1video mpeg2video mpeg4 msmpeg4v1 msmpeg4v2 msmpeg4v3 png rawvideo vc1 vp8 vp9 wmv3"
hwaccels="av1_nvdec h264_nvdec hevc_nvdec mjpeg_nvdec mpeg1_nvdec mpeg2_nvdec mpeg4_nvdec vc1_nvdec vp8_nvdec vp9_nvdec wmv3_nvdec"
demuxers="asf av1 avi flv h264 hevc image2 ivf m4v matroska mov mpegps mpegts mpegvideo obu rawvideo rtsp"
parsers="av1 h264 hevc mjpeg mpeg4video mpegvideo png vc1 vp8 vp9"
filters="av1_frame_merge av1_frame_split extract_extradata h264_mp4toannexb hevc_mp4toannexb mpeg4_unpack_bframes vp9_superframe vp9_superframe_split"
protocols="file http pipe rtp tcp udp"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The machine's package sources, also for source packages.
mkdir -p sources lists/partial
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ -f "$list" ] || continue
    case $list in
        *.list) sed -n 's/^deb /deb-src /p' "$list" >"sources/$(basename "$list")" ;;
        *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"sources/$(basename "$list")" ;;
    esac
done
apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources" -o Dir::State::Lists="$work/lists")
"${apt[@]}" update
"${apt[@]}" source --download-only ffmpeg
apt-get -qq download libffmpeg-nvenc-dev libdav1d-dev nasm
for package in ./*.deb; do dpkg -x "$package" tools; done
tar -xf ffmpeg_*.orig.tar.xz
cd ffmpeg-*/

for file in ../tools/usr/share/pkgconfig/ffnvcodec.pc ../tools/usr/lib/*/pkgconfig/dav1d.pc; do
    sed -i "s|^prefix=.*|prefix=$work/tools/usr|" "$file"
done
ln -sf "$(ldconfig -p | awk '$1 == "libdav1d.so.6" {print $NF; exit}')" "$(echo ../tools/usr/lib/*-linux-gnu)/libdav1d.so"
export PATH=$work/tools/usr/bin:$PATH
PKG_CONFIG_PATH=$(echo "$work"/tools/usr/share/pkgconfig "$work"/tools/usr/lib/*/pkgconfig | tr ' ' :)
export PKG_CONFIG_PATH

enabled=(--disable-everything)
enable() { # KIND NAMES
    for name in $2; do enabled+=("--enable-$1=$name"); done
}
enable decoder "$decoders"
enable hwaccel "$hwaccels"
enable demuxer "$demuxers"
enable parser "$parsers"
enable bsf "$filters"
enable protocol "$protocols"
if [ -n "$all" ]; then
    enabled=(--enable-gpl --enable-version3 --enable-libx264 --enable-libvpx --enable-openssl --enable-zlib --enable-nvenc
        --enable-cuvid)
fi
./configure --prefix="$to" --disable-autodetect --disable-programs --disable-doc --disable-debug \
    --disable-static --enable-shared --enable-pthreads --enable-ffnvcodec --enable-nvdec --enable-libdav1d --extra-cflags=-w \
    "${enabled[@]}" >/dev/null
make -s -j"$(nproc)" >/dev/null
make -s install >/dev/null
echo "$to/lib: $(du -shL "$to/lib" | cut -f1)"
