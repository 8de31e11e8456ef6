#include "framewire/pipeline/chain/names_elsewhere.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace framewire {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> names_of_ffmpeg{{
    {"avgblur", "mean"},
    {"blur", "gaussian"},
    {"boxblur", "mean"},
    {"bwdif", "deinterlace"},
    {"convolution", "convolve"},
    {"dilation", "dilate"},
    {"drawtext", "text"},
    {"eq", "adjust"},
    {"erosion", "erode"},
    {"framerate", "fps"},
    {"gblur", "gaussian"},
    {"grayscale", "gray"},
    {"hflip", "flip"},
    {"hstack", "compare"},
    {"hue", "adjust"},
    {"pixelize", "mosaic"},
    {"resize", "scale"},
    {"sharpen", "convolve=matrix='0 -1 0 -1 5 -1 0 -1 0'"},
    {"threshold", "binarize"},
    {"transpose", "rotate=90"},
    {"unsharp", "convolve=matrix='0 -1 0 -1 5 -1 0 -1 0'"},
    {"vflip", "flip=vertical"},
    {"vstack", "compare=above"},
    {"yadif", "deinterlace"},
}};

}  // namespace

std::string_view filter_like_ffmpegs(std::string_view name) {
    const auto found = std::ranges::find(names_of_ffmpeg, name, [](const auto& names) { return names.first; });
    return found == names_of_ffmpeg.end() ? std::string_view() : found->second;
}

}  // namespace framewire
