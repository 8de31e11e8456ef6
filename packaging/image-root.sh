#!/bin/bash
# Copies what framewire needs at run time, and nothing else, from this Debian to a folder that becomes the image's root.
#   image-root.sh FFMPEG ROOT      FFMPEG: folder with the libraries of scripts/ffmpeg-lean.sh --all, which replace Debian's
# For packaging/Containerfile. Debian's FFmpeg and all that it is linked with would take 240 MB.
set -euo pipefail
ffmpeg=$1 root=$2
libraries=/usr/lib/$(dpkg --print-architecture | sed 's/amd64/x86_64/; s/arm64/aarch64/')-linux-gnu
mkdir -p "$root"/{etc/framewire,proc,sys,dev,run,tmp,usr/bin,"$libraries",var/lib/framewire}
ln -s usr/bin usr/lib "$root/"
chmod 1777 "$root/tmp"

copy() { # PATH...: files, or folders with everything in them, to the same place
    local path
    for path in "$@"; do
        mkdir -p "$root$(dirname "$path")"
        cp --archive --dereference "$path" "$root$(dirname "$path")/"
    done
}
programs=(/usr/bin/framewire /usr/bin/openssl "$libraries"/gio/modules/libgiognutls.so
    "$libraries"/gstreamer1.0/gstreamer-1.0/gst-plugin-scanner)
# The elements of RTSP, then those of WebRTC.
for plugin in app coreelements rtp rtpmanager udp dtls nice sctp srtp webrtc; do
    programs+=("$libraries/gstreamer-1.0/libgst$plugin.so")
done
# Loaded by name: cameras, test sources, and MQTT.
loaded=("$ffmpeg"/libavdevice.so.?? "$ffmpeg"/libavfilter.so.? "$libraries"/libmosquitto.so.1)
copy "${programs[@]}"
LD_LIBRARY_PATH=$ffmpeg ldd "${programs[@]}" "${loaded[@]}" | awk '/not found/ { print; exit 1 } $3 ~ /^\// { print $3 }' |
    cat - <(printf '%s\n' "${loaded[@]}") | sort -u | while read -r library; do
    cp --dereference "$library" "$root$libraries/"
done
mkdir -p "$root/usr/lib64"
ln -s usr/lib64 "$root/"
cp --dereference /lib64/ld-linux-*.so.? "$root/usr/lib64/"
ldconfig -r "$root"
rm -rf "$root/var/cache"

copy /etc/ssl/certs/ca-certificates.crt /etc/fonts/fonts.conf /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf \
    /usr/share/zoneinfo /usr/share/doc/framewire/copyright
mkdir -p "$root/usr/lib/ssl"
ln -s /etc/ssl/certs "$root/usr/lib/ssl/certs"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf '%s\n' 'root:x:0:0::/:/bin/false' 'framewire:x:65532:65532::/var/lib/framewire:/bin/false' >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'framewire:x:65532:' 'video:x:44:framewire' >"$root/etc/group"
chown 65532:65532 "$root/var/lib/framewire"
chmod 700 "$root/var/lib/framewire"
# For health checks, and to look around: podman exec -it NAME sh.
cp /bin/busybox "$root/usr/bin/busybox"
for applet in cat df grep id ls ps sh top wget; do ln -s busybox "$root/usr/bin/$applet"; done
