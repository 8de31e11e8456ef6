#pragma once

#include "framewire/media/y4m/y4m.hpp"

#include <string>
#include <vector>

namespace framewire::bench {

/// The luma of a y4m file's frames, of limited range.
struct Luma {
    Y4mHeader header;
    std::vector<std::string> frames;
};

/// Reads a whole y4m file. Throws Error{internal} where it ends within a frame.
Luma read_luma(const std::string& path);

/// Peak signal-to-noise ratio, in dB, of as many frames of one size as `one` has; 99 of the same.
double luma_psnr(const Luma& one, const Luma& other);

}  // namespace framewire::bench
