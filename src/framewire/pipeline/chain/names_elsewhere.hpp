#pragma once

#include <string_view>

namespace framewire {

/// What does here what a filter of FFmpeg's of this name does, as a chain has it: "flip=vertical" of vflip. Empty where
/// there is nothing like it, and for names that are in use here.
std::string_view filter_like_ffmpegs(std::string_view name);

}  // namespace framewire
