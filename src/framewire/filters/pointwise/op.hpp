#pragma once

#include "framewire/filters/gray_input/gray_weights.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace framewire {

/// A run of pixels in host memory that a pointwise filter maps from `in` to `out`. The two do not overlap.
struct PointwiseSpan {
    /// First pixel.
    const std::uint8_t* in;
    const std::uint8_t* previous;  ///< the previous frame, for filters that need it; otherwise null
    int channels;                  ///< of `in` and `previous`
    std::int64_t pixels;           ///< length of the run
    /// Target of the run.
    std::uint8_t* out;
    /// Channels of `out`.
    int out_channels;
};

/// A pointwise filter's operation on one pixel, as data. A fused pass runs a list of them over the picture. The GPU
/// code of an operation is the class that filter_room(NAME POINTWISE ...) names in filters/CMakeLists.txt; it is
/// constructed from the PointwiseOp.
struct PointwiseOp {
    std::string_view filter;               ///< name of the filter
    int channels = 0;                      ///< of the result; 0 keeps the number of channels
    bool needs_previous = false;           ///< reads the previous frame
    std::array<std::int32_t, 4> values{};  ///< the filter's settings, in its own encoding

    /// The CPU code of the operation.
    void (*run)(const PointwiseOp& op, const PointwiseSpan& span) = nullptr;
    std::string_view figure{};  ///< name of values[0] in the frame's statistics; empty if it is not reported

    // The following let a pass on the CPU process one channel instead of three equal ones.
    bool gives_gray = false;  ///< the result's channels are equal, however many there are
    bool keeps_gray = false;  ///< equal channels stay equal, and one channel is mapped as each of three equal ones
    bool takes_gray = false;  ///< one channel gives the same result as three equal ones
    /// For operations that read only a pixel's gray value: its method. An image of that one channel gives the same
    /// result.
    std::optional<GrayMethod> needs_gray{};
};

}  // namespace framewire
