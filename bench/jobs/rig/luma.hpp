#pragma once

#include "framewire/media/raw_video.hpp"

#include <string>
#include <vector>

namespace framewire::bench {

/// Luma of a y4m file's frames, limited range.
struct Luma {
    Y4mHeader header;
    std::vector<std::string> frames;
};

/// Reads a whole y4m file. Throws Error{internal} if it ends within a frame.
Luma read_luma(const std::string& path);

/// Returns the peak signal-to-noise ratio in dB over the frames of `one`, which must have the size of those of `other`;
/// 99 if they are equal.
double luma_psnr(const Luma& one, const Luma& other);

}  // namespace framewire::bench
