#pragma once

#include "stream/film.hpp"

#include <optional>

namespace framewire::bench {

// Each function codes a film as viewers would receive it, decodes it, and compares the result with the camera's frames.
// The project's own coders throw Error{internal} if a viewer does not hold the encoder's reference.

/// Codes as the streaming report does: a position of 4 bytes and a difference per changed byte. The keyframe is
/// uncompressed.
Coded code_as_report(const Film& film, int threshold);
/// Codes the changes as a bitmap and their differences, compressed with zstd -3, and the keyframe as differences from
/// the pixel to the left, also compressed. Returns nothing if this build has no zstd.
std::optional<Coded> code_as_bitmaps(const Film& film, int threshold);
Coded code_exact(const Film& film, int threshold);
Coded code_bounded(const Film& film, int threshold, int effort);
/// Codes every frame as JPEG-LS with NEAR = `threshold`, with CharLS. Returns nothing if this build has no CharLS.
std::optional<Coded> code_jpeg_ls(const Film& film, int threshold);

/// Settings of x264 besides ultrafast, zerolatency and one thread.
struct X264 {
    double rate_factor = 23;
    bool full_chroma = false;  ///< 4:4:4 instead of 4:2:0
};
/// Codes with x264; the times exclude the conversions between BGR and YUV. Returns nothing if this build, or FFmpeg,
/// does not have x264.
std::optional<Coded> code_x264(const Film& film, const X264& settings);
/// Codes with x264 and corrections that bring every byte within `threshold`: multiples of 2 * `threshold` + 1 as a
/// bitmap and numbers, compressed with zstd -3.
std::optional<Coded> code_x264_corrected(const Film& film, const X264& settings, int threshold);

}  // namespace framewire::bench
