#pragma once

#include "framewire/filters/gray_input/gray_weights.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace framewire {

/// A run of pixels in host memory, for a pointwise filter to take from `in` to `out`.
struct PointwiseSpan {
    const std::uint8_t* in;
    const std::uint8_t* previous;  ///< the frame before, of a filter that needs it
    int channels;                  ///< of these two
    std::int64_t pixels;
    std::uint8_t* out;
    int out_channels;
};

/// What a pointwise filter does to one pixel, as data: a pass over the picture runs a list of them. Its code for the
/// GPU is the class that filter_room(NAME POINTWISE ...) tells of (filters/CMakeLists.txt), made from the op.
struct PointwiseOp {
    std::string_view filter;  ///< its name
    int channels = 0;         ///< of the result; 0: as many as before
    bool needs_previous = false;
    std::array<std::int32_t, 4> values{};  ///< its settings, as its own code reads them
    /// Its code for the CPU.
    void (*run)(const PointwiseOp& op, const PointwiseSpan& span) = nullptr;
    std::string_view figure{};  ///< what values[0] is called among a frame's figures; empty: it is none

    // What lets a pass on the CPU take one channel for three equal ones.
    bool gives_gray = false;  ///< the result's channels are equal, however many they are
    bool keeps_gray = false;  ///< equal channels stay equal, and one becomes what each of three does
    bool takes_gray = false;  ///< one channel gives the same result as three equal ones
    /// Where of each pixel its gray alone counts: by which method. One channel of that gives the same result.
    std::optional<GrayMethod> needs_gray{};
};

}  // namespace framewire
