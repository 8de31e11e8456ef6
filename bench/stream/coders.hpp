#pragma once

#include "stream/film.hpp"

#include <optional>

namespace framewire::bench {

// Each codes a film as viewers would get it, decodes it, and compares what they see with the camera's frames. Those
// that stand for this project throw Error{internal} where a viewer does not hold what the encoder does.

/// The streaming report's: a position of 4 bytes and a difference per byte that changes. The first picture plain.
Coded code_as_report(const Film& film, int threshold);
/// The same changes as a bitmap and their differences, under zstd -3; the first picture as differences from the pixel
/// to the left, likewise. Nothing where this build is without zstd.
std::optional<Coded> code_as_bitmaps(const Film& film, int threshold);
Coded code_exact(const Film& film, int threshold);
Coded code_bounded(const Film& film, int threshold, int effort);
/// Every frame as JPEG-LS with NEAR = `threshold`, by CharLS. Nothing where this build is without it.
std::optional<Coded> code_jpeg_ls(const Film& film, int threshold);

/// x264, ultrafast and zerolatency, one thread, by its constant rate factor.
struct X264 {
    double rate_factor = 23;
    bool full_chroma = false;  ///< 4:4:4 instead of 4:2:0
};
/// Its times are without the ways from BGR to YUV and back. Nothing where this build, or FFmpeg, is without it.
std::optional<Coded> code_x264(const Film& film, const X264& settings);
/// The same, and what brings every byte within `threshold`: steps of 2 * `threshold` + 1 as a bitmap and numbers, under
/// zstd -3.
std::optional<Coded> code_x264_corrected(const Film& film, const X264& settings, int threshold);

}  // namespace framewire::bench
